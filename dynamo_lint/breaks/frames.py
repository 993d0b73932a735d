"""Frames that Dynamo compiles apart, since the graph certainly breaks in them or around the call of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from dynamo_lint.breaks.constants import Values, captures, moves_messages, tensor_parameters
from dynamo_lint.breaks.names import TELLING
from dynamo_lint.breaks.reading import Place, Reading
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Node
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.regions.model import Call, CompiledFunction, Regions


@dataclass(frozen=True, slots=True)
class Break:
    """A line that certainly ends the graph."""

    function: FunctionRef
    line: int
    text: str
    """The expression, as it is written."""


@dataclass(frozen=True, slots=True)
class SeparateFrame:
    """A class whose instances are compiled by themselves, though only what calls them is to be compiled.

    Dynamo compiles a call by itself if the graph breaks in it, and every call that a function makes in which
    the graph breaks where Dynamo cannot go on: in a loop, a comprehension or a `try`
    (torch/_dynamo/symbolic_convert.py, `should_compile_partial_graph`; checked with torch 2.13).
    """

    unit: ClassRef
    cause: Break
    stuck: FunctionRef | None
    """The caller that runs eagerly for the break; None if the break is in the unit itself, which is split."""
    inside: tuple[CompiledFunction, ...]
    """The compiled functions in the code that the instances share."""


@dataclass(slots=True)
class _Frames:
    """Goes from the breaks up to their callers."""

    project: Project
    bodies: Bodies
    calls: Mapping[Node, tuple[Call, ...]]
    callers: dict[Node, list[Node]]
    captures_nothing: bool
    writing_breaks: bool
    readings: dict[Node, Reading | None] = field(default_factory=dict)
    broken: dict[Node, Break] = field(default_factory=dict)
    """Functions whose graph certainly breaks, and where."""
    stuck: set[Node] = field(default_factory=set)
    """Those of them in which Dynamo cannot go on: nothing in them is compiled but what they call."""

    def climb(self, nodes: list[Node]) -> None:
        """Find every function in which the graph certainly breaks."""
        pending = [node for node in nodes if self._breaks_itself(node)]
        calling = [node for node in nodes if any(call.disabled for call in self.calls.get(node, ()))]
        pending += [node for node in calling if node not in self.stuck and self._breaks_in_a_call(node)]
        while pending:
            for caller in self.callers.get(pending.pop(), ()):
                if caller not in self.stuck and self._breaks_in_a_call(caller):
                    pending.append(caller)

    def _breaks_itself(self, node: Node) -> bool:
        function = self.project.function(node[0])
        named = (terminal_name(site.call.function) for site in function.calls if not site.eager)
        if TELLING.isdisjoint(name for name in named if name is not None):
            return False
        reading = self._read(node)
        if reading is None or not reading.spots:
            return False
        spot = next((spot for spot in reading.spots if spot.held), reading.spots[0])
        self.broken[node] = Break(node[0], spot.line, spot.text)
        if spot.held:
            self.stuck.add(node)
        return True

    def _breaks_in_a_call(self, node: Node) -> bool:
        """Whether a call that breaks is found in a function; true if that says more of it than was known."""
        reading = self._read(node)
        for place, broken in self._breaking(node) if reading is not None else ():
            held = reading.calls.get(place) if reading is not None else None
            if held or (held is not None and node not in self.broken):
                self.broken.setdefault(node, broken)
                if held:
                    self.broken[node] = broken
                    self.stuck.add(node)
                return True
        return False

    def _breaking(self, node: Node) -> Iterator[tuple[Place, Break]]:
        """The calls in which the graph breaks, whatever it is that they call."""
        places: dict[Place, list[Node]] = defaultdict(list)
        for call in self.calls.get(node, ()):
            if call.disabled:
                name = call.target[0].key.rpartition(".")[2]
                yield (call.line, call.callee or ""), Break(node[0], call.line, f"{name}(…)")
            elif call.callee is not None:
                places[call.line, call.callee].append(call.target)
        for place, targets in places.items():
            broken = [self.broken.get(target) for target in targets]
            if broken[0] is not None and None not in broken:
                yield place, broken[0]

    def _read(self, node: Node) -> Reading | None:
        if node not in self.readings:
            self.readings[node] = self._reading(*node)
        return self.readings[node]

    def _reading(self, ref: FunctionRef, receiver: ClassRef | None) -> Reading | None:
        body = None if self._replaced(ref, receiver) else self.bodies.of(ref)
        if body is None:
            return None
        own = self.project.self_name(ref)
        values = Values(self.project, ref, receiver, own, self.captures_nothing, self.writing_breaks)
        reading = Reading(values, tensor_parameters(self.project, ref, self.project.function(ref)))
        try:
            reading.block(body, False)
        except RecursionError:
            return None  # nested too deeply to be sure of anything
        return reading

    def _replaced(self, ref: FunctionRef, receiver: ClassRef | None) -> bool:
        """A decorator of its class may put something else in its place."""
        owner = self.project.owner(ref)
        return any(self.project.class_(one).decorators for one in (owner, receiver) if one is not None)


def frames(
    project: Project, regions: Regions, bodies: Bodies
) -> tuple[tuple[SeparateFrame, ...], frozenset[FunctionRef]]:
    """The classes whose instances are compiled by themselves for a break, and the functions that run eagerly
    for one: Dynamo compiles nothing of them but what they call.
    """
    whole = [hot for hot in regions.hot if _breakable(project, regions, hot)]
    nodes = {Node(hot.function, hot.receiver): hot for hot in whole}
    callers = regions.callers(Confidence.LIKELY)
    found = _Frames(
        project, bodies, regions.calls, callers, not captures(project), not moves_messages(project)
    )
    found.climb(list(nodes))
    apart = tuple(
        one
        for unit, reached in _calls_from_outside(project, found, nodes).items()
        if (one := _separate_frame(unit, reached, found, nodes))
    )
    elsewhere = {Node(hot.function, hot.receiver) for hot in regions.hot} - found.stuck
    return apart, frozenset({node[0] for node in found.stuck} - {node[0] for node in elsewhere})


def _calls_from_outside(
    project: Project, frames: _Frames, nodes: Mapping[Node, CompiledFunction]
) -> dict[ClassRef, list[tuple[Node, Node]]]:
    """The calls by which modules of each class are reached from outside: the caller, and what it calls."""
    found: dict[ClassRef, list[tuple[Node, Node]]] = defaultdict(list)
    for node in nodes:
        receiver = node[1]
        if receiver is not None and project.is_module(receiver):
            outside = [
                one for one in frames.callers.get(node, ()) if one[1] != receiver or one in frames.stuck
            ]
            found[receiver] += [(caller, node) for caller in outside]
    return found


def _separate_frame(
    unit: ClassRef, calls: list[tuple[Node, Node]], frames: _Frames, nodes: Mapping[Node, CompiledFunction]
) -> SeparateFrame | None:
    # Where some caller is traced to its end, the call is part of its graph.
    if not all(caller in frames.stuck or node in frames.broken for caller, node in calls):
        return None
    compiled = [(caller, node) for caller, node in calls if node not in frames.stuck]
    if not compiled:
        return None
    caller, node = compiled[0]
    inside = dict.fromkeys(one for _, reached in compiled for one in _inlined(reached, frames))
    return SeparateFrame(
        unit,
        frames.broken[node] if node in frames.broken else frames.broken[caller],
        None if node in frames.broken else caller[0],
        tuple(nodes[one] for one in inside if one in nodes),
    )


def _inlined(node: Node, frames: _Frames) -> Iterator[Node]:
    """The functions that become part of one compiled function."""
    seen = {node}
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        for call in frames.calls.get(one, ()):
            if call.target not in seen and call.target not in frames.broken:
                seen.add(call.target)
                pending.append(call.target)


def _breakable(project: Project, regions: Regions, hot: CompiledFunction) -> bool:
    """With `fullgraph` a break is an error."""
    entries = (regions.entries[index] for index in hot.entries)
    return hot.confidence < Confidence.POSSIBLE and not any(
        entry_keywords(project, entry).get("fullgraph") is True for entry in entries
    )


def certain_together(regions: Regions, found: Sequence[SeparateFrame]) -> list[SeparateFrame]:
    """All but those in whose place one of the others may run: a call that reaches both runs one of them."""
    ways: dict[ClassRef | FunctionRef, set[int]] = defaultdict(set)
    for number, one in enumerate(found):
        ways[one.unit].add(number)
        if one.stuck is not None:
            ways[one.stuck].add(number)
    rivals: set[tuple[int, int]] = set()
    for calls in regions.calls.values():
        places: dict[tuple[int, str], list[set[int]]] = defaultdict(list)
        for call in calls:
            function, receiver = call.target
            led = ways.get(function) or (ways.get(receiver) if receiver is not None else None)
            if call.callee is not None and led:
                places[call.line, call.callee].append(led)
        for reached in places.values():
            for mine, others in permutations(reached, 2):
                rivals.update(product(mine - others, others - mine))
    kept: list[int] = []
    for number in range(len(found)):
        if all((number, other) not in rivals for other in kept):
            kept.append(number)
    return [found[number] for number in kept]
