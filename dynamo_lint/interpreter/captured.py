"""Code that torch runs to record it: what a CUDA graph captures, and the steps of a lazy XLA loop.

Dynamo has no part in it, but most of the lines that end its graphs are those at which the host waits for a
value of the device. So the functions with such code are run as compiled code is, all of it as one graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.index.ir import Call, Display
from dynamo_lint.index.lower import as_fact
from dynamo_lint.index.spelling import spelled
from dynamo_lint.interpreter.ended import text_of
from dynamo_lint.interpreter.find import recorded
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Node
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions, Root
from dynamo_lint.regions.targets import Target, alternatives, class_of, targets_of
from dynamo_lint.regions.walk import trace
from dynamo_lint.state.captured import CAPTURES, GRAPHED, STEPS, means
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.model import Context
from dynamo_lint.values.points_to import evaluate, points_to_of

CUDA, XLA = "cuda", "xla"
_WAITS = frozenset({"torch.cuda.synchronize"})
_LATER = frozenset({"torch_xla.core.xla_model.add_step_closure"})
"""What is handed to these runs behind the step."""
_CODES = frozenset({"DYN402", "DYN403", "DYN404"})
"""The rules whose lines need a value of a tensor."""
_MOVES = frozenset({"cpu", "numpy"})
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a function that are recorded."""

    node: Node
    lines: Lines
    undecided: frozenset[ClassRef]
    """Classes of which one is called there, and a run says which."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A line at which the host waits for the device inside of recorded code."""

    kind: str
    """`CUDA` or `XLA`."""
    where: FunctionRef
    line: int
    text: str
    does: str
    usual: bool
    """It runs each time that this is recorded, as far as nothing unknown decides about it."""
    recorded: tuple[str, int]
    """The file and line at which the recording begins."""


def waits(tables: Tables) -> tuple[Wait, ...]:
    """All such lines of a project, one for each."""
    project, bodies = tables.project, tables.bodies
    found: list[Wait] = []
    for kind, where, lines in _recorded(project, bodies):
        place = where.path, lines[0]
        root = _root((Target(where, project.owner(where), Confidence.CERTAIN),), where, lines[0])
        block = _Block(Node(where, project.owner(where)), lines, _undecided(project, where, lines))
        reading = _Reading(tables, [root])
        found += reading.waits(kind, place, block)
    for where, site in project.calls_of("make_graphed_callables"):
        if means(project, site.call, where, frozenset({GRAPHED})):
            roots = [*_handed(project, where, site.call)]
            reading = _Reading(tables, roots)
            found += reading.waits(CUDA, (where.path, site.call.line), None)
    best: dict[tuple[FunctionRef, int], Wait] = {}
    for one in sorted(found, key=lambda wait: not wait.usual):  # which keeps the order of equals
        best.setdefault((one.where, one.line), one)
    return tuple(one for one in found if best[one.where, one.line] is one)


def _root(targets: tuple[Target, ...], where: FunctionRef, line: int, choices: int = 1) -> Root:
    first = targets[0].function
    entry = Entry(where.path, line, "captured", first.id, Confidence.CERTAIN, choices=choices)
    return Root(entry, targets, where.id, site=where)


def _undecided(project: Project, where: FunctionRef, lines: Lines) -> frozenset[ClassRef]:
    """The classes of which calls in some lines run one, as a table or a factory offers them."""
    pts, context = points_to_of(project), Context(where, project.owner(where))
    callees = [
        site.call.function for site in project.function(where).calls if lines[0] <= site.call.line <= lines[1]
    ]
    offered = [alternatives(pts, where, one, evaluate(project, one, context)) for one in callees]
    classes = (class_of(pts, value, methods=True) for values in offered for value in values)
    return frozenset(ref for ref in classes if ref is not None)


def _handed(project: Project, where: FunctionRef, call: Call) -> Iterator[Root]:
    """The callables that `make_graphed_callables` records: a module or a function, or several of them."""
    given = call.arguments[:1] or tuple(value for name, value in call.keywords if name == "callables")
    parts = given[0].items if given and isinstance(given[0], Display) else given
    for part in parts:
        values = evaluate(project, part, Context(where, project.owner(where)))
        choices = len(alternatives(points_to_of(project), where, part, values)) or 1
        if targets := targets_of(project, values):
            yield _root(targets, where, call.line, choices)


def _recorded(project: Project, bodies: Bodies) -> Iterator[tuple[str, FunctionRef, Lines]]:
    """The blocks that a CUDA graph captures, and the loops with a step of XLA, each with its function."""
    functions = {where for where, _ in project.calls_of("graph")}
    for where in project.in_order(functions):
        for node in _nodes(project, bodies, where):
            if isinstance(node, ast.With):
                callees = [
                    one.context_expr.func for one in node.items if isinstance(one.context_expr, ast.Call)
                ]
                if any(_is_named(project, callee, where, CAPTURES) for callee in callees):
                    yield CUDA, where, (node.body[0].lineno, _last(node.body))
    steps = {where for name in STEPS for where, _ in project.calls_of(name.rpartition(".")[2])}
    for where in project.in_order(steps):
        loops = [one for one in _nodes(project, bodies, where) if isinstance(one, ast.For | ast.While)]
        inner = [
            loop
            for loop in loops
            if any(
                isinstance(one, ast.Call) and _is_named(project, one.func, where, STEPS)
                for one in ast.walk(loop)
            )
        ]
        # Of loops around each other the innermost is the one of which each round is a step.
        for loop in inner:
            if not any(other is not loop and other in ast.walk(loop) for other in inner):
                yield XLA, where, (loop.body[0].lineno, _last(loop.body))


def _is_in(lines: Lines, line: int) -> bool:
    return lines[0] <= line <= lines[1]


def _last(body: Sequence[ast.stmt]) -> int:
    return body[-1].end_lineno or body[-1].lineno


def _nodes(project: Project, bodies: Bodies, where: FunctionRef) -> Iterator[ast.AST]:
    """The syntax of a function without that of functions in it."""
    pending: list[ast.AST] = [*(bodies.of(where) or ())]
    while pending:
        node = pending.pop(0)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield node
            pending += ast.iter_child_nodes(node)


def _is_named(project: Project, callee: ast.expr, where: FunctionRef, names: frozenset[str]) -> bool:
    symbols = project.symbols(as_fact(callee), where.path, where.key)
    return any(isinstance(one, ExternalSymbol) and one.dotted in names for one in symbols)


class _Reading:
    """The functions that some roots reach, read as compiled code is."""

    def __init__(self, tables: Tables, roots: list[Root]) -> None:
        options = tables.regions.options
        hot, calls, _ = trace(tables.project, roots, options)
        entries = tuple(root.entry for root in roots)
        self.project, self.bodies = tables.project, tables.bodies
        self.regions = Regions(entries, hot, (), calls, options=options)
        self.ended = recorded(replace(tables, regions=self.regions))

    def waits(self, kind: str, place: tuple[str, int], block: _Block | None) -> Iterator[Wait]:
        """The lines that wait: of one function in some lines alone, of others where these lead to them."""
        reached = self._reached(block) if block is not None else None
        decided = self._reached(block, block.undecided) if block is not None else None

        def concerns(node: Node, line: int) -> bool:
            if block is not None and node == block.node:
                return _is_in(block.lines, line)
            return reached is None or node in reached

        def is_known(hot: CompiledFunction) -> bool:
            """Whether it is known that this is recorded, not just one of several."""
            node = Node(hot.function, hot.receiver)
            here = block is not None and node == block.node
            return here or (not hot.guessed and (decided is None or node in decided))

        for ended in self.ended:
            where, line = ended.site.where, ended.site.node.lineno
            own = block is not None and where == block.node.function
            hot = next((hot for hot in self.regions.hot if hot.function == where), None)
            if hot is None or ended.row.code not in _CODES:
                continue
            node = Node(where, hot.receiver)
            leads = block is None or own or ended.compile.site.where != block.node.function
            leads = leads or (block is not None and _is_in(block.lines, ended.line))
            if leads and concerns(node, line):
                usual = not (self._is_aside(node, line, block) if own else ended.doubt)
                yield Wait(kind, where, line, text_of(ended), ended.row.does, usual and is_known(hot), place)
        for hot in self.regions.hot:
            node = Node(hot.function, hot.receiver)
            for call, does in self._plain(hot.function, kind) if hot.confidence < Confidence.POSSIBLE else ():
                if concerns(node, call.lineno):
                    usual = not self._is_aside(node, call.lineno, block) and is_known(hot)
                    yield Wait(kind, hot.function, call.lineno, spelled(call), does, usual, place)

    def _is_aside(self, node: Node, line: int, block: _Block | None) -> bool:
        """Whether a line runs under a condition that stands in the recorded code."""
        first = block.lines[0] if block is not None and node == block.node else 0
        branches = self.project.function(node.function).branches
        return any(start <= line <= end and start >= first for start, end in branches)

    def _reached(self, block: _Block, without: frozenset[ClassRef] = frozenset()) -> set[Node]:
        """All that the calls of a block lead to, but for those that may run some classes."""
        node, (first, last) = block.node, block.lines
        later = {
            site.call.line
            for site in self.project.function(node.function).calls
            if means(self.project, site.call, node.function, _LATER)
        }
        pending = [
            call.target
            for call in self.regions.calls.get(node, ())
            if first <= call.line <= last and call.line not in later and call.target.receiver not in without
        ]
        found: set[Node] = set()
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += (call.target for call in self.regions.calls.get(one, ()))
        return found

    def _plain(self, where: FunctionRef, kind: str) -> Iterator[tuple[ast.Call, str]]:
        """The calls that wait by their names alone."""
        for node in _nodes(self.project, self.bodies, where):
            match node:
                case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in _MOVES:
                    yield node, "copies a tensor to the host"
                case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant("cpu"), *_]):
                    yield node, "copies a tensor to the host"
                case ast.Call(func=callee) if kind == CUDA and _is_named(self.project, callee, where, _WAITS):
                    yield node, "waits for the device"
