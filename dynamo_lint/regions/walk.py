"""The call graph walk: every function that is reached from a compile entry, with the best evidence for it."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from dynamo_lint.calls import contexts, decorators, protocols
from dynamo_lint.calls.callbacks import callback_arguments, using
from dynamo_lint.calls.construct import constructors
from dynamo_lint.calls.contexts import by_caller, origins
from dynamo_lint.calls.decorators import is_within, is_wrapped, wrappers
from dynamo_lint.calls.hooks import hooks_of
from dynamo_lint.calls.model import MANY, Edge, Step, Visit, met
from dynamo_lint.calls.runs import may_be_run_by
from dynamo_lint.conditions.arguments import NO_SWITCHES, switches_left_off
from dynamo_lint.conditions.constructor import reach_confidence
from dynamo_lint.index import ir
from dynamo_lint.index.ir import CallSite, Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.models.callbacks import calls_back, masks_for
from dynamo_lint.models.passing import innermost
from dynamo_lint.program.files import in_tests, may_meet, may_not_run
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Node
from dynamo_lint.regions import delegation
from dynamo_lint.regions.boundaries import Boundaries
from dynamo_lint.regions.compile_names import CONVENTION
from dynamo_lint.regions.edge_conditions import Switches, if_given, never_runs, without_gradients
from dynamo_lint.regions.model import CallEdge, CompiledFunction, Root, Unresolved
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.targets import alternatives, is_kept_eager, of_few, of_receiver, shown, targets_of
from dynamo_lint.regions.unresolved import call_of_one, describe
from dynamo_lint.values.arguments import ENOUGH, as_given
from dynamo_lint.values.model import (
    Arguments,
    ClassValue,
    Compiled,
    Context,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
)
from dynamo_lint.values.patches import patched_callee
from dynamo_lint.values.points_to import FAN_OUT, Slot, evaluate, points_to_of

Calls = dict[Node, tuple[CallEdge, ...]]


def trace(
    project: Project, roots: list[Root], options: RegionOptions
) -> tuple[tuple[CompiledFunction, ...], Calls, tuple[Unresolved, ...]]:
    """All hot functions, strongest evidence first, with the shortest chain of that strength, their calls, and
    the calls of which not all candidates were followed."""
    walk = _RegionWalk(project, options)
    walk.run(roots)
    if left_out := walk.without_gradients():
        walk = _RegionWalk(project, options)
        walk.run(roots, left_out)
    return walk.hot(), walk.calls(), (*walk.choices(roots), *walk.cuts())


def _choices(edges: list[Edge]) -> list[int]:
    """For each of some edges, among how many it is: what its call may run, or what is passed on."""
    called = {(edge.line, edge.callee, edge.target.function) for edge in edges if edge.callee is not None}
    functions: Counter[tuple[int, str | None]] = Counter((line, callee) for line, callee, _ in called)
    return [max(edge.among, functions[edge.line, edge.callee]) for edge in edges]


def _told_apart(passed: list[tuple[Value | Node, Edge]]) -> Iterator[Edge]:
    """The edges to what one argument may be, with among how many each is: a caller passes one of its own.

    What a container holds is passed on together, as one thing.
    """
    runs: dict[Value | Node, set[FunctionRef]] = defaultdict(set)
    for value, edge in passed:
        runs[value].add(edge.target.function)
    ways: dict[FunctionRef | None, set[frozenset[FunctionRef]]] = defaultdict(set)
    for value, edge in passed:
        ways[edge.needs].add(frozenset(runs[value]))
    return (replace(edge, among=max(edge.among, len(ways[edge.needs]))) for _, edge in passed)


class _RegionWalk:
    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._visits: dict[Node, Visit] = {}
        self._edges: dict[Node, list[Edge]] = {}
        self._waiting: dict[FunctionRef, list[tuple[Node, Edge]]] = {}
        """Edges by the function that has to be hot for them."""
        self._kept_out: dict[Node, list[Edge]] = {}
        """Edges that a test around the site that compiles a module leaves out."""
        self._switches = Switches(project)
        self._handed: dict[Node, set[Arguments]] = {}
        """The arguments that calls pass to a function that calls them."""
        self._entered: frozenset[FunctionRef] = frozenset()
        """Functions that are compiled as such: eager code calls them, with anything."""
        self._wrapping: set[FunctionRef] = set()
        """Closures that decorators put around hot functions."""
        self._around: set[ClassRef | None] = set()
        """Classes of the objects that decorators put around hot functions."""
        self._boundaries = Boundaries(project, options)
        self._guesses = options.guesses
        self._protocols = protocols.defined(project)
        self._cuts: dict[tuple[FunctionRef, int, str], tuple[Value, ...]] = {}
        """The candidates of a call that are not followed, as they are too many, by place and callee."""
        self._offered: dict[FunctionRef, dict[str, frozenset[Value]]] = {}
        """The modules of which a run picks one, by the function that calls it and its name there."""
        self._delegates = "__getattr__" in project.named("methods")
        self._properties = project.named("properties")

    def run(self, roots: list[Root], left_out: frozenset[Node] = frozenset()) -> None:
        # The best evidence is walked first, so the first visit of a node is its best: tier, then code
        # that a user runs before probes and tests, then the shortest chain.
        tested = {n for n, root in enumerate(roots) if root.rehearsal or in_tests(root.entry.path)}
        queue: list[tuple[Confidence, bool, bool, int, int, Node, Visit]] = []
        count = itertools.count()

        def push(node: Node, visit: Visit, rehearsal: bool) -> None:
            order = (visit.confidence, rehearsal, visit.is_guess, len(visit.chain), next(count))
            heapq.heappush(queue, (*order, node, visit))

        def follow(node: Node, visit: Visit, edge: Edge, rehearsal: bool, choices: int) -> None:
            known = self._handed.setdefault(edge.target, set()) if edge.given else ()
            more = edge.given and edge.given not in known and len(known) < ENOUGH
            again = edge.target in self._kept_out or self._switches.opens(edge)
            if edge.target in self._visits and not (more or again):
                return  # by better evidence
            if edge.target in left_out:
                return
            root = roots[visit.first]
            if self._is_eager(edge.target, root):
                return
            if not (self._has_run(edge, root) and self._meets(root, edge.target.function)):
                return
            if root.site is not None and is_within(root.site, edge.target.function):
                return  # a wrapper that compiles what it is put around: it adds nothing but itself
            confidence = max(visit.confidence, edge.confidence)
            if visit.first in tested and may_not_run(self._project, node.function, edge.line):
                if not self._guesses:
                    return
                confidence = Confidence.POSSIBLE
            step = Step(node.function.path, edge.line, node.function.id, edge.note)
            reached = visit.on(edge, confidence, step, choices)
            if edge.target not in self._visits or again:
                push(edge.target, reached, rehearsal)
            if more:
                self._handed[edge.target].add(edge.given)
                push(edge.target, replace(reached, given=edge.given), rehearsal)

        def expand(node: Node, visit: Visit, edges: Iterable[Edge], rehearsal: bool) -> None:
            known = []
            for edge in edges:
                if self._switches.holds_back(node, edge):
                    continue
                if never_runs(self._project, roots[visit.first], node, edge.line):
                    self._kept_out.setdefault(node, []).append(edge)
                elif edge.needs is None or edge.needs in hot:
                    known.append(met(edge, hot))
                else:
                    self._waiting.setdefault(edge.needs, []).append((node, edge))
            self._edges.setdefault(node, []).extend(known)
            for edge, choices in zip(known, _choices(known), strict=True):
                follow(node, visit, edge, rehearsal, choices)

        self._entered = frozenset(target.function for root in roots for target in root.targets)
        hot: dict[FunctionRef, Confidence] = {}
        for index, root in enumerate(roots):
            for node, visit in self._entered_by(index, root):
                push(node, visit, root.rehearsal)
        while queue:
            _, rehearsal, _, _, _, node, visit = heapq.heappop(queue)
            known = self._visits.get(node)
            if known is not None:
                # What a test around one site keeps out may run for another.
                expand(node, visit, self._switches.enter(node, visit.off), rehearsal)
                expand(node, visit, self._kept_out.pop(node, ()), rehearsal)
                if visit.given:
                    expand(node, visit, self._more(node, visit.given), rehearsal)
                if visit.compiled:
                    known.compiled = True
                    known.entries |= visit.entries
                continue
            if self._boundaries.of(node.function) == "stop":
                continue
            if visit.confidence < Confidence.LIKELY and self._boundaries.doubts(node.function):
                push(node, replace(visit, confidence=Confidence.LIKELY), rehearsal)
                continue
            self._visits[node] = visit
            self._switches.enter(node, visit.off)
            hot.setdefault(node.function, visit.confidence)  # the best evidence comes first
            expand(node, visit, self._outgoing(node), rehearsal)
            for caller, edge in self._waiting.pop(node.function, ()):
                expand(caller, self._visits[caller], [edge], rehearsal)
        self._propagate_entries()

    def _entered_by(self, index: int, root: Root) -> Iterator[tuple[Node, Visit]]:
        """The functions that an entry compiles itself, and the hooks of the module that they belong to."""
        here = "compiled here, by a test" if in_tests(root.entry.path) else "compiled here"
        for target in root.targets:
            node = Node(target.function, target.receiver)
            if self._meets(root, target.function) and not self._is_eager(node, root):
                step = Step(root.entry.path, root.entry.line, root.symbol, here)
                visit = Visit(target.confidence, (step,), 1 << index, index, compiled=True, off=root.off)
                # Of the classes that a site picks one from, it is not known that it ever picks this one.
                yield node, replace(visit, choices=MANY + 1) if root.entry.choices > 1 else visit
        if root.module is not None:
            step = Step(root.entry.path, root.entry.line, root.symbol, f"{here}, with its hooks")
            hooks = self._hooks(root.module, root.entry.confidence, root.entry.line)
            for edge in (one for one in hooks if self._has_run(one, root)):
                yield edge.target, Visit(edge.confidence, (step,), 1 << index, index, compiled=False)

    def _meets(self, root: Root, target: FunctionRef) -> bool:
        """Whether one program may run a function and what an entry compiles."""
        return may_meet(self._project, root.entry.path, root.site, target)

    def _has_run(self, edge: Edge, root: Root) -> bool:
        """Whether the program of an entry may run what an edge comes after."""
        pts = points_to_of(self._project)
        return not edge.after or any(may_be_run_by(pts, root.entry.path, one) for one in edge.after)

    def _is_eager(self, node: Node, root: Root) -> bool:
        """Whether a node is a forward that tests disable, and the root is one of a test."""
        if node.receiver is None or not in_tests(root.entry.path):
            return False
        forward = node.function.key.rpartition(".")[2] == "forward"
        return forward and is_kept_eager(self._project, node.receiver, tested=True)

    def hot(self) -> tuple[CompiledFunction, ...]:
        found = []
        # Thousands of entries reach the same helpers: what many functions have alike is one object.
        known: dict[tuple[int, int], tuple[int, ...]] = {}
        for node, visit in self._visits.items():
            if self._boundaries.of(node.function) == "skip":
                continue
            asked = visit.first, visit.entries
            if asked not in known:
                least = (visit.entries & -visit.entries).bit_length() - 1  # most functions have one entry
                bits = enumerate(reversed(f"{visit.entries >> least:b}"), least)
                known[asked] = visit.first, *(i for i, bit in bits if bit == "1" and i != visit.first)
            found.append(
                CompiledFunction(
                    node.function,
                    node.receiver,
                    visit.confidence,
                    known[asked],
                    visit.chain,
                    visit.compiled,
                    visit.is_guess,
                )
            )
        return tuple(found)

    def without_gradients(self) -> frozenset[Node]:
        """Nodes that never run because gradients are off wherever they are applied."""
        starts = (node for node, visit in self._visits.items() if visit.compiled or len(visit.chain) == 1)
        return without_gradients(self._project, starts, self._edges)

    def calls(self) -> Calls:
        """The calls of each hot function, by function."""
        return {node: tuple(map(self._called, edges, _choices(edges))) for node, edges in self._edges.items()}

    def _called(self, edge: Edge, choices: int) -> CallEdge:
        disabled = edge.target not in self._visits and self._boundaries.disables(edge.target.function)
        return CallEdge(edge.target, edge.confidence, edge.line, edge.callee, disabled, choices)

    def _propagate_entries(self) -> None:
        """Let every entry that reaches a node know it, not just the first."""
        pending = deque(self._visits)
        while pending:
            node = pending.popleft()
            entries = self._visits[node].entries
            for edge in self._edges[node]:
                target = self._visits.get(edge.target)
                if target is not None and entries & ~target.entries:
                    target.entries |= entries
                    pending.append(edge.target)

    # --- what a function calls --------------------------------------------------------------------------

    def _outgoing(self, node: Node) -> Iterator[Edge]:
        function = self._project.function(node.function)
        context = Context(node.function, node.receiver)
        for site in function.calls:
            sure = reach_confidence(points_to_of(self._project), *node, site)
            if sure is not None:
                edges = self._call(site, context)
                if sure is not Confidence.CERTAIN:
                    edges = (
                        replace(edge, confidence=max(edge.confidence, Confidence.LIKELY)) for edge in edges
                    )
                if site.given:
                    edges = if_given(self._project, edges, site.given, node.function, self._entered)
                yield from edges
        for run in protocols.runs(points_to_of(self._project), function, context, self._protocols):
            name = self._project.function(run.method).qualname
            yield Edge(Node(run.method, run.receiver), run.confidence, run.line, f"runs {name}")
        for load in function.loads:
            if load.name in self._properties:
                yield from self._property(load.value, load.name, context, function.line, "")
        if self._delegates:
            yield from delegation.read(points_to_of(self._project), function, context)
        for store in function.stores:
            if store.name in self._properties and not function.runs_eagerly(store.line):
                yield from self._property(store.owner, store.name, context, store.line, "@setter")

    def _more(self, node: Node, given: Arguments) -> list[Edge]:
        """The call edges of a function to the callables that it was passed."""
        context = Context(node.function, node.receiver, given)
        calls = using(self._project, node.function, given)
        return [
            replace(e, confidence=max(e.confidence, Confidence.LIKELY))
            for site in calls
            for e in self._call(site, context)
        ]

    def _call(self, site: CallSite, context: Context) -> Iterator[Edge]:
        call = site.call
        if context.function in self._wrapping and is_wrapped(self._project, call.function, context.function):
            return  # whatever the decorator was put around on this path is followed for itself
        if context.receiver in self._around and decorators.keeps_function(
            self._project, call.function, context
        ):
            return
        if isinstance(call.function, ir.Attribute) and not self._project.is_known(call.function.name):
            # No code of this project has that name, but it may be handed to the code that has.
            if self._takes_functions(call.function, context):
                yield from self._arguments(call, context)
            return
        if self._delegates and isinstance(call.function, ir.Attribute):
            yield from delegation.called(points_to_of(self._project), call.function, call.line, context)
        pts = points_to_of(self._project)
        values = patched_callee(pts, call.function, context)
        if is_wrapped(self._project, call.function, context.function):
            values = of_receiver(pts, values, context)
            kept = shown(pts, of_few(pts, values), FAN_OUT)
        else:
            kept = shown(pts, values, FAN_OUT)
        self._note_cut(
            call, context, tuple(v for v in values if v not in kept) or self._left_out(call, context)
        )
        values, picked = kept, self._picked(call.function, context, kept)
        yield from self._by_caller(call.function, context, values, call.line)
        for value, confidence in values.items():
            match value:
                case ExternalSymbol(dotted) | Compiled(dotted):
                    if calls_back(dotted):
                        yield from self._arguments(call, context)
                    for mask in masks_for(pts, dotted, call, context):
                        yield from self._runs(
                            mask, max(confidence, Confidence.LIKELY), call.line, "runs the mask function"
                        )
                case ClassValue(ref):
                    for part in constructors(self._project, ref, call, context.function):
                        yield Edge(Node(part, ref), confidence, call.line, f"constructs {ref.name}")
                case _:
                    callee = terminal_name(call.function) or ""
                    for bound in contexts.bind_receiver(points_to_of(self._project), value, call, context):
                        edges = self._leaving(self._runs(bound, confidence, call.line, callee=callee), call)
                        if isinstance(bound, Instance):
                            edges = self._callbacks(edges, call, context)
                        if value in picked:
                            edges = (replace(edge, among=MANY + 1) for edge in edges)
                        yield from self._passed(call.function, context, bound, edges)

    def _note_cut(self, call: ir.Call, context: Context, left_out: tuple[Value, ...]) -> None:
        if left_out:
            self._cuts.setdefault((context.function, call.line, describe(call.function)), left_out)

    def _left_out(self, call: ir.Call, context: Context) -> tuple[Value, ...]:
        """The candidates that were too many for the attribute or parameter that is called."""
        generic, callee = points_to_of(self._project).generic, call.function
        match callee:
            case ir.Attribute(owner, name) if generic:
                owners = [v.ref for v in evaluate(self._project, owner, context) if isinstance(v, Instance)]
                slots: list[Slot] = [(ref, name) for ref in owners]
                for part in (part for ref in owners for part in self._project.mro(ref)):
                    for where, store in self._project.own_stores(part).get(name, ()):
                        slots += [(where, store.value.id)] if isinstance(store.value, ir.Name) else []
                return tuple(dict.fromkeys(v for slot in slots for v in generic.get(slot, ())))
            case ir.Name(name) if generic:
                return generic.get((self._project.home_of(name, context.function), name), ())
        return ()

    def cuts(self) -> Iterator[Unresolved]:
        """The calls that may run what is not compiled otherwise, by one of too many candidates."""
        hot = {node.function for node in self._visits}
        for (where, line, text), values in self._cuts.items():
            targets = targets_of(self._project, dict.fromkeys(values, Confidence.POSSIBLE))
            missing = {one.function for one in targets} - hot
            if where in hot and missing:
                why = f"it may run any of {len(values)} candidates, too many to follow"
                yield Unresolved(where.path, line, text, why, kind="call")
        for node, edges in self._edges.items() if not self._guesses else ():
            if self._visits[node].confidence < Confidence.POSSIBLE:
                yield from self._guessed(node.function, edges)

    def choices(self, roots: list[Root]) -> Iterator[Unresolved]:
        """The sites that compile what calls one of several modules, which of them a run says."""
        offered: dict[int, dict[str, frozenset[Value]]] = defaultdict(dict)
        for node, visit in self._visits.items():
            if visit.confidence < Confidence.POSSIBLE and not visit.is_guess:
                offered[visit.first] |= self._offered.get(node.function, {})
        for number, callees in sorted(offered.items()):
            meant = frozenset[Value]().union(*callees.values())
            if meant:
                yield call_of_one(self._project, roots[number].entry, list(callees), meant)

    def _guessed(self, where: FunctionRef, edges: list[Edge]) -> Iterator[Unresolved]:
        """The calls of a function that may run what is compiled by a guess alone, as they are spelled."""
        found: dict[tuple[int, str], set[str]] = {}
        for edge in edges:
            visit = self._visits.get(edge.target)
            if edge.callee is not None and visit is not None and visit.confidence == Confidence.POSSIBLE:
                name = self._project.function(edge.target.function).qualname
                found.setdefault((edge.line, edge.callee), set()).add(name)
        for (line, callee), names in found.items():
            why = (
                f"it may also run {' and '.join(sorted(names))}, which `--min-confidence possible` reports on"
            )
            yield Unresolved(where.path, line, callee, why, kind="call")

    def _leaving(self, edges: Iterator[Edge], call: ir.Call) -> Iterator[Edge]:
        for edge in edges:
            off = (
                switches_left_off(self._project, edge.target.function, call)
                if edge.callee is not None
                else NO_SWITCHES
            )
            yield replace(edge, off=off) if off else edge

    def _callbacks(self, edges: Iterator[Edge], call: ir.Call, context: Context) -> Iterator[Edge]:
        pts = points_to_of(self._project)
        for edge in edges:
            yield replace(edge, given=callback_arguments(pts, edge.target.function, call, context))

    def _runs(
        self, value: Value, confidence: Confidence, line: int, verb: str = "calls", callee: str | None = None
    ) -> Iterator[Edge]:
        """Everything that runs when a value is called: itself, its decorators, the hooks of a module."""
        for target in targets_of(self._project, {value: confidence}):
            name = self._project.function(target.function).qualname
            node = Node(target.function, target.receiver)
            yield Edge(node, target.confidence, line, f"{verb} {name}", callee)
            for wrapper in wrappers(self._project, target.function):
                self._wrapping.add(wrapper)
                name = self._project.function(wrapper).qualname
                yield Edge(
                    Node(wrapper, None),
                    max(confidence, Confidence.LIKELY),
                    line,
                    f"{verb} {name}, its decorator",
                )
            for method, owner in decorators.decorator_objects(points_to_of(self._project), target.function):
                self._around.add(owner)
                name = self._project.function(method).qualname
                yield Edge(
                    Node(method, owner),
                    max(confidence, Confidence.LIKELY),
                    line,
                    f"{verb} {name}, its decorator",
                )
        if isinstance(value, Instance):
            yield from self._hooks(value.ref, confidence, line)

    def _hooks(self, module: ClassRef, confidence: Confidence, line: int) -> Iterator[Edge]:
        for hook, hook_tier, by in hooks_of(points_to_of(self._project), module):
            for target in targets_of(self._project, {hook: max(confidence, hook_tier)}):
                name = self._project.function(target.function).qualname
                note = f"runs the forward hook {name}"
                yield Edge(Node(target.function, target.receiver), target.confidence, line, note, after=by)

    def _takes_functions(self, callee: Expr, context: Context) -> bool:
        symbols = self._project.symbols(callee, context.function.path, context.function.key)
        return any(isinstance(s, ExternalSymbol) and calls_back(s.dotted) for s in symbols)

    def _arguments(self, call: ir.Call, context: Context) -> Iterator[Edge]:
        """Functions handed to library code run inside the region: `checkpoint(self._body, x)`."""
        if terminal_name(call.function) == CONVENTION:
            return
        for argument in arguments_of(call):
            if isinstance(argument, ir.Constant | ir.UnknownExpression):
                continue
            pts, values = points_to_of(self._project), evaluate(self._project, argument, context)
            by_caller = self._by_caller(argument, context, values, call.line, "passes on")
            passed: list[tuple[Value | Node, Edge]] = [(edge.target, edge) for edge in by_caller]
            kept = shown(pts, values, FAN_OUT)
            picked = self._picked(argument, context, kept)
            for value, confidence in kept.items():
                if isinstance(value, FunctionValue) or pts.holds_module(value):
                    edges = self._runs(value, max(confidence, Confidence.LIKELY), call.line, "passes on")
                    among = MANY + 1 if value in picked else 1
                    edges = (replace(edge, among=among) for edge in edges)
                    passed += [(value, edge) for edge in self._passed(argument, context, value, edges)]
            yield from _told_apart(passed)

    def _picked(self, called: Expr, context: Context, values: ValueSet) -> frozenset[Value]:
        """Those modules among the values of a callee of which a run picks one, as a registry offers them.

        So it is where the model of a step or of a worker is called, as at a site that compiles the model
        alone. What a module calls are its parts: they may vary within one model.
        """
        where, receiver = context.function, context.receiver
        of_module = receiver is not None and self._project.is_module(receiver)
        beside = not of_module and (receiver is not None or where in self._entered)
        modules = {v: v.ref for v in values if isinstance(v, Instance) and self._project.is_module(v.ref)}
        if len(modules) < 2 or not beside:
            return frozenset()
        picked = alternatives(points_to_of(self._project), where, called, values) & modules.keys()
        if picked:
            known = self._offered.setdefault(where, {})
            known[describe(called)] = known.get(describe(called), frozenset()) | picked
        return picked

    def _by_caller(
        self, expr: Expr, context: Context, known: ValueSet, line: int, verb: str = "calls"
    ) -> Iterator[Edge]:
        """The edges to modules that hot callers hand to a helper which is handed too many others."""
        if isinstance(expr, ir.Name) and context.function not in self._entered:
            callee = expr.id if verb == "calls" else None
            for one in by_caller(points_to_of(self._project), context.function, expr, known):
                for edge in self._runs(one.value, one.confidence, line, verb, callee):
                    yield replace(edge, needs=one.caller)

    def _passed(self, expr: Expr, context: Context, value: Value, edges: Iterator[Edge]) -> Iterator[Edge]:
        """The edges to what a parameter holds: only what hot callers pass runs compiled."""
        expr = innermost(self._project, expr, context.function)
        home = self._project.home_of(expr.id, context.function) if isinstance(expr, ir.Name) else None
        parameter = as_given(self._project.function(home), expr) if home is not None else None
        if (
            home is None
            or parameter is None
            or not self._entered.isdisjoint((context.function, home))
            or not isinstance(value, FunctionValue | Instance)
            or context.passed(parameter.name) is not None  # by a hot caller, just now
        ):
            yield from edges
            return
        kept = home != context.function
        found = origins(points_to_of(self._project), home, parameter, self._entered, kept=kept)
        for edge in edges:
            if value not in found:
                yield edge
            yield from (replace(edge, needs=caller) for caller in found.get(value, ()))

    def _property(self, owner: Expr, name: str, context: Context, line: int, role: str) -> Iterator[Edge]:
        """The getter or setter that a load or store of `owner.name` runs."""
        verb = "sets" if role else "reads"
        for value, confidence in evaluate(self._project, owner, context).items():
            if not isinstance(value, Instance):
                continue
            getter = self._project.method(value.ref, name)
            if getter is None or self._project.method_kind(getter) != "property":
                continue
            function = FunctionRef(getter.path, getter.key + role)
            if function.key in self._project.files[function.path].functions:
                qualname = self._project.function(function).qualname
                yield Edge(Node(function, value.ref), confidence, line, f"{verb} the property {qualname}")
