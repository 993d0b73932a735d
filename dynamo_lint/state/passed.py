"""What code around the regions passes to compiled callables, and which of it changes from call to call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Function
from dynamo_lint.regions.evaluate import evaluate
from dynamo_lint.regions.model import ClassRef, FunctionRef, HotFunction, Regions
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import FunctionValue, Instance, Scope
from dynamo_lint.state.drivers import Drivers
from dynamo_lint.state.model import Position
from dynamo_lint.state.varying import Varying, in_loop


@dataclass(frozen=True, slots=True)
class Passed:
    """One parameter of a compiled function, as the calls that can be seen fill it."""

    hot: HotFunction
    name: str
    value: Varying
    where: FunctionRef
    """The function with the call to change."""
    position: Position
    starred: bool = False
    """The parameter is `*args`."""
    inside: tuple[str, ...] = ()
    """The items of the tuple, list or dict that change, as `['length']`, where not the whole does."""


Compiled = dict[tuple[FunctionRef | None, ClassRef | None], HotFunction]


@dataclass(slots=True)
class _Sites:
    values: list[Varying] = field(default_factory=list)
    inside: tuple[str, ...] = ()
    where: FunctionRef | None = None
    position: Position | None = None


def passed(
    project: Project, regions: Regions, drivers: Drivers, read_source: Callable[[str], str]
) -> tuple[Passed, ...]:
    """The parameters of compiled functions whose value changes between calls."""
    compiled: Compiled = {(hot.function, hot.receiver): hot for hot in regions.hot if hot.compiled}
    found: dict[tuple[HotFunction, str], _Sites] = {}
    if not any(len(project.function(hot.function).parameters) > 1 for hot in compiled.values()):
        return ()
    for ref in project.functions():
        if ref in drivers.hot or not _plausible(project, ref, regions) or not drivers.calls(ref):
            continue
        for call, target in _calls(project, ref, compiled):
            often = drivers.often(ref, call.line)
            if often != "rarely":
                _note(project, ref, call, target, read_source(ref.path), found)
    return tuple(
        Passed(
            hot,
            name,
            value,
            sites.where,
            sites.position,
            _starred(project.function(hot.function), name),
            sites.inside,
        )
        for (hot, name), sites in found.items()
        if sites.where is not None and sites.position is not None
        if (value := Varying.of_all(sites.values)).changes
    )


def _plausible(project: Project, ref: FunctionRef, regions: Regions) -> bool:
    """A driver loops, or calls something that is compiled in the same file or by a name it imports."""
    function = project.function(ref)
    return bool(function.calls) and (bool(function.loops) or ref.key != MODULE_KEY)


def _calls(
    project: Project, ref: FunctionRef, compiled: Compiled
) -> Iterator[tuple[facts.Call, HotFunction]]:
    scope = Scope(ref, project.owner(ref))
    for site in project.function(ref).calls:
        callee = site.call.function
        if isinstance(callee, facts.Attribute) and not project.is_known(callee.name):
            continue
        for value in evaluate(project, callee, scope):
            match value:
                case Instance(owner):
                    method = project.method(owner, "forward") if project.is_module(owner) else None
                    target = compiled.get((method, owner))
                case FunctionValue(function, receiver):
                    target = compiled.get((function, receiver))
                case _:
                    target = None
            if target is not None:
                yield site.call, target


def _note(
    project: Project,
    ref: FunctionRef,
    call: facts.Call,
    hot: HotFunction,
    source: str,
    found: dict[tuple[HotFunction, str], _Sites],
) -> None:
    """What one call passes for each parameter, judged by the text of the function around it."""
    node, around = parse(project.function(ref), call, source)
    if node is None or around is None:
        return
    env = in_loop(around, node)
    parameters = project.function(hot.function).parameters
    positional = [p.name for p in parameters if p.kind == "positional"]
    if hot.receiver is not None and project.function(hot.function).owner is not None:
        positional = positional[1:]
    star = next((p.name for p in parameters if p.kind == "vararg"), None)
    given: dict[str, ast.expr] = {}
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if star is not None and not positional:
                given[star] = argument.value
            break
        if positional:
            given[positional.pop(0)] = argument
    given.update({keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None})
    shift = call.line - node.lineno
    for parameter in parameters:
        sites = found.setdefault((hot, parameter.name), _Sites())
        if parameter.name in given:
            items = env.changing_items(given[parameter.name])
            value = Varying.of_all(items.values()) if items else env.value(given[parameter.name])
            if sites.where is None or value.changes:
                sites.where = ref
                sites.inside = tuple(items)
                end = (node.end_lineno or node.lineno) + shift
                sites.position = Position(call.line, node.col_offset + 1, end, (node.end_col_offset or 0) + 1)
            sites.values.append(value)
        elif isinstance(parameter.default, facts.Constant):
            sites.values.append(Varying.constant(parameter.default.value))


def parse(function: Function, call: facts.Call, source: str) -> tuple[ast.Call | None, ast.AST | None]:
    """A call in the syntax tree of its own function, at columns that are true for the file."""
    try:
        if function.key == MODULE_KEY:
            tree = _tree(source)
            shift = 0
        else:
            lines = source.splitlines()[function.first_line - 1 : function.end_line]
            text = "\n".join(lines)
            indented = text[:1] in {" ", "\t"}
            tree = _tree(f"if 1:\n{text}" if indented else text)
            shift = function.first_line - 1 - int(indented)
    except (SyntaxError, ValueError, RecursionError):
        return None, None
    wanted = call.line - shift
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno == wanted and _same(node, call):
            return node, tree
    return None, None


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.AST:
    """The calls of one function are asked for one after the other."""
    return ast.parse(text)


def _same(node: ast.Call, call: facts.Call) -> bool:
    """The call of the tree is the one of the index: it passes as much, to a callee of the same name."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
    known = getattr(call.function, "id", getattr(call.function, "name", None))
    return (
        name == known
        and len(node.args) == len(call.arguments)
        and [keyword.arg for keyword in node.keywords] == [keyword for keyword, _ in call.keywords]
    )


def _starred(function: Function, name: str) -> bool:
    return any(p.name == name and p.kind == "vararg" for p in function.parameters)
