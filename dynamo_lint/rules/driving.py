"""The eager code around regions: which functions compile, what holds the result, and where it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.walking import children
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ClassRef, ExternalSymbol, FunctionRef, Position
from dynamo_lint.state.provenance import Tables

Loop = ast.For | ast.AsyncFor | ast.While
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """A node of a function's body and what is around it, which all that it holds have in common."""

    node: ast.AST
    around: Visit | None
    loops: tuple[Loop, ...]
    """The loops around the node, outermost first."""

    @property
    def above(self) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        visit = self.around
        while visit is not None:
            yield visit.node
            visit = visit.around


@dataclass(slots=True)
class Driver:
    """A function that runs compiled code."""

    ref: FunctionRef
    visits: list[Visit]
    results: set[str] = field(default_factory=set)
    """Source of what holds something compiled: `run`, `self.model`."""
    models: set[str] = field(default_factory=set)
    """Names of what was compiled: `model` in `run = torch.compile(model)`."""
    regional: bool = False
    """It compiles blocks, each for itself."""
    compiles: bool = False
    """It compiles, rather than only runs."""

    def calls(self) -> list[Visit]:
        """The calls of compiled things."""
        return [
            visit
            for visit in self.visits
            if isinstance(visit.node, ast.Call)
            and (text_of(visit.node.func) in self.results or self._compiled_and_called(visit.node))
        ]

    def _compiled_and_called(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Call) and text_of(node.func.func).endswith("compile")


def position(node: ast.expr | ast.stmt) -> Position:
    """Where a node stands."""
    end_line, end_column = node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    return Position(node.lineno, node.col_offset + 1, end_line, end_column)


def line_of(tables: Tables, ref: FunctionRef, line: int) -> Position:
    """A line of a function, without its indentation."""
    text = tables.bodies.line(ref, line)
    return Position(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)


def root_name(node: ast.expr) -> str:
    """`model` for `model.layers[0].norm`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.expr) -> str:
    """The text of a target bound to something compiled: `self.models[0].run`; nothing for other code."""
    below = node
    while isinstance(below, ast.Attribute | ast.Subscript):
        below = below.value
    return ast.unparse(node) if isinstance(below, ast.Name) and not isinstance(node, ast.Subscript) else ""


def targets(loop: ast.For) -> set[str]:
    """The names that a loop binds."""
    return {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}


def loops_over(loop: ast.For) -> str:
    """The name of what a loop runs over: `blocks` for `enumerate(blocks)`."""
    iterable = loop.iter
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.args:
        iterable = iterable.args[0]
    return root_name(iterable)


def walk(body: list[ast.stmt]) -> Iterator[Visit]:
    """All nodes of a function's own body, in the order of the text; not those of functions inside it."""
    waiting = [Visit(statement, None, ()) for statement in reversed(body)]
    while waiting:
        visit = waiting.pop()
        yield visit
        if isinstance(visit.node, _INNER):
            continue
        loops = visit.loops
        if isinstance(visit.node, ast.For | ast.AsyncFor | ast.While):
            loops = (*loops, visit.node)
        waiting += [Visit(child, visit, loops) for child in reversed(children(visit.node))]


def compile_calls(project: Project) -> Iterator[tuple[FunctionRef, ir.CallSite]]:
    """Every call of `torch.compile`, by symbol."""
    names = {"compile", *project.aliases_of("compile")}
    for name in sorted(names):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            if ExternalSymbol(COMPILE) in symbols:
                yield where, site


def drivers(tables: Tables) -> list[Driver]:
    """The functions that run what they, the code around them or their object compiled; looked for once."""
    memo = tables.project.memo
    if "drivers" not in memo:
        memo["drivers"] = _find_drivers(tables)
    return memo["drivers"]  # type: ignore[return-value]


def _find_drivers(tables: Tables) -> list[Driver]:
    project, bodies = tables.project, tables.bodies
    lines: dict[str, set[int]] = {}
    for entry in tables.regions.entries:
        if entry.idiom in {"call", "method"}:
            lines.setdefault(entry.path, set()).add(entry.line)
    regional = {(entry.path, entry.line) for entry in tables.regions.entries if entry.regional}
    found: list[Driver] = []
    for path, wanted in lines.items():
        makers = [
            _maker(FunctionRef(path, key), bodies, wanted, regional, path)
            for key, function in project.files[path].functions.items()
            if any(site.call.line in wanted for site in function.calls)
        ]
        made = [maker for maker in makers if maker is not None]
        found += made
        by_key = {maker.ref.key: maker for maker in made}
        held: dict[ClassRef | None, set[str]] = {}
        for maker in made:
            if (owner := project.owner(maker.ref)) is not None:
                held.setdefault(owner, set()).update(name for name in maker.results if "." in name)
        for key in project.files[path].functions:
            if key not in by_key:
                ref = FunctionRef(path, key)
                owner = project.owner(ref)
                around = [by_key[k] for k in {MODULE_KEY, project.function(ref).outer} if k in by_key]
                found += _user(ref, tables, around, held.get(owner, set()))
    return found


def _maker(
    ref: FunctionRef, bodies: Bodies, lines: set[int], regional: set[tuple[str, int]], path: str
) -> Driver | None:
    body = bodies.of(ref)
    if body is None:
        return None
    driver = Driver(ref, list(walk(body)), compiles=True)
    for visit in driver.visits:
        node = visit.node
        if not isinstance(node, ast.Call) or node.lineno not in lines:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else text_of(node.func)
        if "compile" not in name:
            continue
        driver.regional |= (path, node.lineno) in regional
        method = isinstance(node.func, ast.Attribute) and root_name(node.func) not in {"torch", ""}
        if isinstance(node.func, ast.Attribute) and method and not node.args:
            driver.models.add(root_name(node.func.value))
            driver.models |= {
                loops_over(loop)
                for loop in visit.loops
                if isinstance(loop, ast.For) and root_name(node.func.value) in targets(loop)
            }
            driver.results.add(text_of(node.func.value))
        elif node.args:
            driver.models.add(root_name(node.args[0]))
        match visit.around:
            case Visit(node=ast.Assign(targets=held)):
                driver.results |= {text_of(target) for target in held}
                driver.models |= {text_of(target) for target in held}
    driver.models -= {"", "self", "torch"}
    driver.results -= {""}
    return driver


def _user(ref: FunctionRef, tables: Tables, around: list[Driver], held: set[str]) -> Iterator[Driver]:
    """A function that runs what the file, an enclosing function or another method compiled."""
    called = {_called(site.call.function) for site in tables.project.function(ref).calls} - {""}
    results = [one for one in (*(maker.results for maker in around), held) if one]
    if any(not called.isdisjoint(one) for one in results):
        body = tables.bodies.of(ref)
        if body is not None:
            models = [maker.models for maker in around]
            yield Driver(ref, list(walk(body)), _joined(results), _joined(models))


def _joined(sets: list[set[str]]) -> set[str]:
    """All that is in some sets: the set itself if it is one, which thousands of functions may share."""
    return sets[0] if len(sets) == 1 else set().union(*sets)


def captured(compiled: ast.expr, loop: Loop) -> ast.Name | None:
    """The use of the loop's variable in a function that is defined and compiled in the loop."""
    if not isinstance(loop, ast.For):
        return None
    names = targets(loop)
    functions: list[ast.AST] = [compiled] if isinstance(compiled, ast.Lambda) else []
    functions += [
        node
        for node in ast.walk(loop)
        if isinstance(node, ast.FunctionDef) and isinstance(compiled, ast.Name) and node.name == compiled.id
    ]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                return node
    return None


def _called(expr: ir.Expr) -> str:
    match expr:
        case ir.Name(name):
            return name
        case ir.Attribute(ir.Name(owner), name):
            return f"{owner}.{name}"
    return ""
