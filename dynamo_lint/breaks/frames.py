"""Frames that Dynamo compiles apart, since the graph certainly breaks in them or around the call of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

from dynamo_lint.breaks import walk
from dynamo_lint.breaks.interpreter import RARELY, Arguments, Interpreter, Place, Spot, is_constructor
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.models.graph_breaks import FULLGRAPH, Row, break_table
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Node, Position
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.regions.model import CallEdge, CompiledFunction, Regions
from dynamo_lint.regions.policy import Policies


@dataclass(frozen=True, slots=True)
class Break:
    """A line that ends the graph."""

    hot: CompiledFunction
    """The function that it stands in."""
    position: Position
    text: str
    """The expression, as it is written."""
    row: Row
    effect: str
    """`break`, or `eager` if the frame is lost, or what the row says instead."""
    usual: bool
    """It runs in every call, as far as nothing unknown decides about it."""
    raises: bool
    """The region is compiled with `fullgraph=True`."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The line for which a frame is split or left to run eagerly."""

    function: FunctionRef
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SeparateFrame:
    """A class whose instances are compiled by themselves, though only what calls them is to be compiled.

    Dynamo compiles a call by itself if the graph breaks in it, and every call that a function makes in which
    the graph breaks where Dynamo cannot go on: in a loop, a comprehension or a `try`
    (torch/_dynamo/symbolic_convert.py, `should_compile_partial_graph`; checked with torch 2.13).
    """

    unit: ClassRef
    cause: Cause
    stuck: FunctionRef | None
    """The caller that runs eagerly for the break; None if the break is in the unit itself, which is split."""
    inside: tuple[CompiledFunction, ...]
    """The compiled functions in the code that the instances share."""


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames that breaks of a project's compiled code make or lose."""

    apart: tuple[SeparateFrame, ...]
    """The classes whose instances are compiled by themselves for a break."""
    eager: frozenset[FunctionRef]
    """The functions that run eagerly for one: Dynamo compiles nothing of them but what they call."""


NOT_AT_FIRST = frozenset({"DYN306", "DYN409", "DYN416", "DYN418"})
"""Rules about lines that need not end the graph in the first call."""


@dataclass(slots=True)
class _Frames:
    """Goes from the breaks up to their callers."""

    interpreter: Interpreter
    calls: Mapping[Node, tuple[CallEdge, ...]]
    callers: dict[Node, list[Node]]
    broken: dict[Node, Cause] = field(default_factory=dict)
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
        readings = self.interpreter.of(node)
        certain = [
            [one for one in reading.spots if one.path.certain and one.row.code not in NOT_AT_FIRST]
            for reading in readings
        ]
        if not certain or not all(certain):
            return False
        held = [next((one for one in spots if one.held), None) for spots in certain]
        spot = held[0] if held[0] is not None and None not in held else certain[0][0]
        self.broken[node] = Cause(node.function, spot.position.line, spot.text)
        if None not in held:
            self.stuck.add(node)
        return True

    def _breaks_in_a_call(self, node: Node) -> bool:
        """Whether a call that breaks is found in a function; true if that says more of it than was known."""
        made = self._certain_calls(node)
        for place, broken in self._breaking(node):
            held = made.get(place)
            if held or (held is not None and node not in self.broken):
                self.broken.setdefault(node, broken)
                if held:
                    self.broken[node] = broken
                    self.stuck.add(node)
                return True
        return False

    def _certain_calls(self, node: Node) -> dict[Place, bool]:
        """The calls that each way of calling a function makes, and whether Dynamo cannot go on there."""
        readings = self.interpreter.of(node)
        if not readings:
            return {}
        first, *others = readings
        return {
            place: held and all(other.calls[place] for other in others)
            for place, held in first.calls.items()
            if all(place in other.calls for other in others)
        }

    def _breaking(self, node: Node) -> Iterator[tuple[Place, Cause]]:
        """The calls in which the graph breaks, whatever it is that they call."""
        places: dict[Place, list[Node]] = defaultdict(list)
        for call in self.calls.get(node, ()):
            if call.disabled:
                name = call.target[0].key.rpartition(".")[2]
                yield (call.line, call.callee or ""), Cause(node[0], call.line, f"{name}(…)")
            elif call.callee is not None:
                places[call.line, call.callee].append(call.target)
        for place, targets in places.items():
            broken = [self.broken.get(target) for target in targets]
            if broken[0] is not None and None not in broken:
                yield place, broken[0]


def interpreted(
    policies: Policies, bodies: Bodies, torch_version: tuple[int, int], given: Arguments
) -> Interpreter:
    """The compiled code, read from where it is entered; `given` says what eager code hands it."""
    regions = policies.regions
    hot = frozenset(one.function for one in regions.hot)
    off = {
        Node(one.function, one.receiver): policies.of(one).switches
        | ({FULLGRAPH} if is_fullgraph(policies.project, regions, one) else frozenset())
        for one in regions.hot
    }
    table = break_table(torch_version)
    interpreter = Interpreter(policies.project, bodies, regions.calls, table, off, hot, walk.run)
    for one in regions.hot:
        if one.compiled and one.confidence < Confidence.POSSIBLE:
            interpreter.enter(Node(one.function, one.receiver), given)
    # What nothing was seen to call is called by torch: a hook, a callback.
    for one in regions.hot:
        node = Node(one.function, one.receiver)
        if one.confidence < Confidence.POSSIBLE and node not in interpreter.readings:
            interpreter.read(node, ())
    return interpreter


def breaks(interpreter: Interpreter, regions: Regions) -> tuple[Break, ...]:
    """The lines that end a graph, one for each line and rule."""
    project = interpreter.project
    paths = interpreter.paths([Node(one.function, one.receiver) for one in regions.hot if one.compiled])
    found: dict[tuple[str, int, str], Break] = {}
    for hot in regions.hot:
        if hot.confidence == Confidence.POSSIBLE:
            continue
        fullgraph = is_fullgraph(project, regions, hot)
        for reading in interpreter.of(Node(hot.function, hot.receiver)):
            reached = paths.get(id(reading), RARELY)
            for spot in reading.spots:
                if fullgraph and not spot.row.fullgraph:
                    continue
                usual = spot.path.after(reached).usual
                effect = _effect(interpreter, hot, spot)
                one = Break(hot, spot.position, spot.text, spot.row, effect, usual, fullgraph)
                key = hot.function.path, spot.position.line, spot.row.code
                known = found.get(key)
                if known is None or _rank(one) > _rank(known):
                    found[key] = one
    return tuple(found.values())


def _rank(one: Break) -> tuple[bool, bool, bool]:
    return one.usual, one.effect in {"eager", "storm", "stale"}, one.hot.compiled


def _effect(interpreter: Interpreter, hot: CompiledFunction, spot: Spot) -> str:
    """The cost of a break: the frame that is compiled itself runs eagerly if Dynamo cannot go on in it.

    The functions that it calls are compiled by themselves then, so that a graph still runs.
    """
    if spot.row.effect in {"stale", "storm"}:
        return spot.row.effect
    owner = interpreter.project.owner(hot.function)
    if owner is not None and "torch.autograd.Function" in interpreter.project.external_bases(owner):
        return spot.row.effect  # Dynamo takes the whole of it, or nothing
    lost = hot.compiled and spot.whole and (spot.held or spot.row.effect == "eager")
    return "eager" if lost and not _calls_others(interpreter, hot) else "break"


def _calls_others(interpreter: Interpreter, hot: CompiledFunction) -> bool:
    """Whether it hands others what may be tensors: they are compiled by themselves where it is not."""
    calls = interpreter.calls.get(Node(hot.function, hot.receiver), ())
    return any(
        value.kind in {"tensor", ""}
        for call in calls
        if not call.disabled and call.callee is not None and not is_constructor(call.target.function)
        for reading in interpreter.of(call.target)
        for _, value in reading.given
    )


def frames(policies: Policies, interpreter: Interpreter) -> Frames:
    """The frames that Dynamo compiles apart or leaves, for the breaks that are certain."""
    project, regions = policies.project, policies.regions
    whole = [
        hot
        for hot in regions.hot
        if hot.confidence < Confidence.POSSIBLE
        and not is_fullgraph(project, regions, hot)
        and not policies.of(hot).nested
    ]
    nodes = {Node(hot.function, hot.receiver): hot for hot in whole}
    found = _Frames(interpreter, regions.calls, regions.callers(Confidence.LIKELY))
    found.climb(list(nodes))
    apart = tuple(
        one
        for unit, reached in _calls_from_outside(project, found, nodes).items()
        if (one := _separate_frame(unit, reached, found, nodes))
    )
    elsewhere = {Node(hot.function, hot.receiver) for hot in regions.hot} - found.stuck
    return Frames(apart, frozenset({node[0] for node in found.stuck} - {node[0] for node in elsewhere}))


def is_fullgraph(project: Project, regions: Regions, hot: CompiledFunction) -> bool:
    """Whether a break in a function is an error, in every region that it is part of."""
    entries = [regions.entries[index] for index in hot.entries]
    return bool(entries) and all(entry_keywords(project, entry).get("fullgraph") is True for entry in entries)


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
