"""From the entries to everything Dynamo traces: a walk over calls that keeps one witness path each."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import MODULE_KEY, CallSite, Expr
from dynamo_lint.regions.entries import CONVENTION, Root, matches, targets_of
from dynamo_lint.regions.evaluate import evaluate
from dynamo_lint.regions.model import ClassRef, FunctionRef, HotFunction, RegionOptions, Step, Tier
from dynamo_lint.regions.project import External, Project, Symbol
from dynamo_lint.regions.results import DISABLERS
from dynamo_lint.regions.values import ClassValue, FunctionValue, Instance, Scope

# Dynamo does not look into these (torch/_dynamo/decorators.py, torch/_library/custom_ops.py).
_OPAQUE = frozenset(
    {
        "torch.compiler.allow_in_graph",
        "torch._dynamo.allow_in_graph",
        "torch.compiler.assume_constant_result",
        "torch._dynamo.assume_constant_result",
        "torch.library.custom_op",
        "torch.library.triton_op",
        "torch.library.register_fake",
        "triton.jit",
        "triton.autotune",
        "triton.heuristics",
    }
)


@dataclass(frozen=True, slots=True)
class Node:
    """A function on one class of `self`."""

    function: FunctionRef
    receiver: ClassRef | None


@dataclass(frozen=True, slots=True)
class Edge:
    """One call out of a node."""

    target: Node
    tier: Tier
    line: int
    note: str


@dataclass(slots=True)
class _Visit:
    tier: Tier
    chain: tuple[Step, ...]
    entries: int
    """Bit set of entry indices."""
    first: int
    compiled: bool


def trace(project: Project, roots: list[Root], options: RegionOptions) -> tuple[HotFunction, ...]:
    """All hot functions, strongest evidence first, each with the shortest chain of that strength."""
    walk = _Walk(project, options)
    walk.run(roots)
    return walk.hot()


class _Walk:
    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._options = options
        self._visits: dict[Node, _Visit] = {}
        self._edges: dict[Node, list[Edge]] = {}
        self._boundaries: dict[FunctionRef, str] = {}
        self._properties = {
            project.function(ref).qualname.rpartition(".")[2]
            for ref in project.functions()
            if project.function(ref).decorators and project.method_kind(ref) == "property"
        }

    def run(self, roots: list[Root]) -> None:
        # The best evidence is walked first, so the first visit of a node is its best: tier, then code
        # that a user runs before probes and tests, then the shortest chain.
        queue: list[tuple[Tier, bool, int, int, Node, _Visit]] = []
        count = itertools.count()

        def push(node: Node, visit: _Visit, rehearsal: bool) -> None:
            heapq.heappush(queue, (visit.tier, rehearsal, len(visit.chain), next(count), node, visit))

        for index, root in enumerate(roots):
            for target in root.targets:
                step = Step(root.entry.path, root.entry.line, root.symbol, "compiled here")
                visit = _Visit(target.tier, (step,), 1 << index, index, compiled=True)
                push(Node(target.function, target.receiver), visit, root.rehearsal)
        while queue:
            _, rehearsal, _, _, node, visit = heapq.heappop(queue)
            known = self._visits.get(node)
            if known is not None:
                if visit.compiled:
                    known.compiled = True
                    known.entries |= visit.entries
                continue
            if self._boundary(node.function) == "stop":
                continue
            self._visits[node] = visit
            self._edges[node] = list(self._outgoing(node))
            for edge in self._edges[node]:
                step = Step(node.function.path, edge.line, node.function.id, edge.note)
                tier, chain = max(visit.tier, edge.tier), (*visit.chain, step)
                push(edge.target, _Visit(tier, chain, visit.entries, visit.first, compiled=False), rehearsal)
        self._spread_entries()

    def hot(self) -> tuple[HotFunction, ...]:
        found = []
        for node, visit in self._visits.items():
            if self._boundary(node.function) == "skip":
                continue
            others = [
                i for i in range(visit.entries.bit_length()) if visit.entries >> i & 1 and i != visit.first
            ]
            entries = (visit.first, *others)
            found.append(
                HotFunction(node.function, node.receiver, visit.tier, entries, visit.chain, visit.compiled)
            )
        return tuple(found)

    def _spread_entries(self) -> None:
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

    # --- where tracing stops ----------------------------------------------------------------------------

    def _boundary(self, ref: FunctionRef) -> str:
        """`stop` at disabled and opaque code, `skip` for a function whose callees alone are traced."""
        if ref not in self._boundaries:
            self._boundaries[ref] = self._judge(ref)
        return self._boundaries[ref]

    def _judge(self, ref: FunctionRef) -> str:
        project = self._project
        function = project.function(ref)
        owner = ClassRef(ref.path, function.owner) if function.owner is not None else None
        marked = {marker.key for marker in project.files[ref.path].markers if marker.kind == "eager"}
        if ref.key in marked or (owner is not None and owner.key in marked):
            return "stop"
        cut = self._options.cut
        if cut and (matches(project, ref, cut) or (owner is not None and matches(project, owner, cut))):
            return "stop"
        decorators = list(function.decorators)
        if owner is not None:
            decorators += [d for d in project.class_(owner).decorators if self._disables(d, ref)]
        for decorator in decorators:
            if self._disables(decorator, ref):
                keywords = decorator.keywords if isinstance(decorator, facts.Call) else ()
                return "skip" if ("recursive", facts.Constant(False)) in keywords else "stop"
            callee = decorator.function if isinstance(decorator, facts.Call) else decorator
            if any(isinstance(s, External) and s.dotted in _OPAQUE for s in self._symbols(callee, ref)):
                return "stop"
        return ""

    def _disables(self, decorator: Expr, ref: FunctionRef) -> bool:
        callee = decorator.function if isinstance(decorator, facts.Call) else decorator
        return any(
            (isinstance(s, External) and s.dotted in DISABLERS)
            or matches(self._project, s, self._options.disable_decorators)
            for s in self._symbols(callee, ref)
        )

    def _symbols(self, expr: Expr, ref: FunctionRef) -> tuple[Symbol, ...]:
        outer = self._project.function(ref).outer or MODULE_KEY
        return self._project.symbols(expr, ref.path, outer)

    # --- what a function calls --------------------------------------------------------------------------

    def _outgoing(self, node: Node) -> Iterator[Edge]:
        function = self._project.function(node.function)
        scope = Scope(node.function, node.receiver)
        for site in function.calls:
            if not site.eager:
                yield from self._call(site, scope)
        for load in function.loads:
            if load.name in self._properties:
                yield from self._property(load.value, load.name, scope, function.line, "")
        for store in function.stores:
            if store.name in self._properties and not function.runs_eagerly(store.line):
                yield from self._property(store.owner, store.name, scope, store.line, "@setter")

    def _call(self, site: CallSite, scope: Scope) -> Iterator[Edge]:
        call = site.call
        for value, tier in evaluate(self._project, call.function, scope).items():
            match value:
                case External(dotted):
                    if not dotted.startswith("builtins.") or dotted == "builtins.map":
                        yield from self._arguments(call, scope)
                case ClassValue(ref):
                    init = None if self._project.is_module(ref) else self._project.method(ref, "__init__")
                    if init is not None:
                        yield Edge(Node(init, ref), tier, call.line, f"constructs {ref.name}")
                case _:
                    for target in targets_of(self._project, {value: tier}):
                        node = Node(target.function, target.receiver)
                        name = self._project.function(target.function).qualname
                        yield Edge(node, target.tier, call.line, f"calls {name}")

    def _arguments(self, call: facts.Call, scope: Scope) -> Iterator[Edge]:
        """Functions handed to library code run inside the region: `checkpoint(self._body, x)`."""
        if terminal_name(call.function) == CONVENTION:
            return
        for argument in (*call.arguments, *(value for _, value in call.keywords)):
            if isinstance(argument, facts.Constant | facts.Unknown):
                continue
            for value, tier in evaluate(self._project, argument, scope).items():
                if isinstance(value, FunctionValue) or (
                    isinstance(value, Instance) and self._project.is_module(value.ref)
                ):
                    for target in targets_of(self._project, {value: max(tier, Tier.LIKELY)}):
                        name = self._project.function(target.function).qualname
                        node = Node(target.function, target.receiver)
                        yield Edge(node, target.tier, call.line, f"passes {name} on")

    def _property(self, owner: Expr, name: str, scope: Scope, line: int, role: str) -> Iterator[Edge]:
        """The getter or setter that a load or store of `owner.name` runs."""
        verb = "sets" if role else "reads"
        for value, tier in evaluate(self._project, owner, scope).items():
            if not isinstance(value, Instance):
                continue
            getter = self._project.method(value.ref, name)
            if getter is None or self._project.method_kind(getter) != "property":
                continue
            function = FunctionRef(getter.path, getter.key + role)
            if function.key in self._project.files[function.path].functions:
                qualname = self._project.function(function).qualname
                yield Edge(Node(function, value.ref), tier, line, f"{verb} the property {qualname}")
