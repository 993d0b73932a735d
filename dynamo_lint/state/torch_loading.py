"""When a program loads torch and its compiler: what an environment variable comes too late for."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.index.ir import MODULE_KEY, Call, Class, Expr, Function, Import
from dynamo_lint.models.environment import COMPILER, IMPORT, environment
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, File, FunctionRef

_CHILDREN = knowledge.in_order("starts_program")
"""Beginnings of the names of what starts another program, or workers, with the environment of this one."""
_OWN_CHILDREN = knowledge.in_order("starts_again")
"""The same of those that start this program again."""
_Branches = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Loading:
    """A line after which something has been read."""

    time: str
    """`IMPORT` or `COMPILER`."""
    path: str
    line: int
    what: str
    """The statement, as a reader knows it: `import torch`, `torch.compile`."""
    branches: _Branches = ()
    """The branches that it stands in."""


def loaded_before(
    project: Project, where: FunctionRef, line: int, time: str, in_place: Collection[int] = ()
) -> Loading | None:
    """The first line that has surely loaded what reads at some time, when another line runs.

    `in_place` are the lines of the file that compile a module in place: they load the compiler.
    """
    asked = {IMPORT, COMPILER} if time == IMPORT else {time}
    top = FunctionRef(where.path, MODULE_KEY)
    until = line if where == top else _runs_from(project, where)
    found = [
        one
        for one in (*loadings(project, where.path), *_compiled(project, top, in_place))
        if one.line < until
    ]
    if where != top:
        own = (*_in_function(project, where), *_compiled(project, where, in_place))
        found += [one for one in own if one.line < line]
    return next((one for one in found if one.time in asked and _surrounds(one, line)), None)


def _compiled(project: Project, where: FunctionRef, lines: Collection[int]) -> Iterator[Loading]:
    """The loadings of the calls of one function that stand on some lines."""
    function = project.function(where)
    for line in sorted({site.call.line for site in function.calls}.intersection(lines)):
        yield _loading(COMPILER, where, line, ".compile()", function)


def starts_children(project: Project, where: FunctionRef) -> bool:
    """Whether a function starts programs that inherit what it sets, or its file starts itself again."""
    for ref in _functions_of(project, where.path):
        kinds = (*_CHILDREN, *_OWN_CHILDREN) if ref == where else _OWN_CHILDREN
        for site in project.function(ref).calls:
            if any(dotted.startswith(kinds) for dotted in _external(project, site.call.function, ref)):
                return True
    return False


def loadings(project: Project, path: str) -> tuple[Loading, ...]:
    """The loadings of a file's top level, in the order of its lines, through the files that it imports."""
    memo, key = project.memo, ("loadings", path)
    if key not in memo:
        memo[key] = ()  # a file that imports itself around a corner adds nothing
        top = FunctionRef(path, MODULE_KEY)
        found = [*_in_function(project, top), *_decorations(project, path)]
        memo[key] = tuple(sorted(found, key=lambda one: one.line))
    return memo[key]  # type: ignore[return-value]


def _in_function(project: Project, where: FunctionRef) -> Iterator[Loading]:
    """The loadings of the statements of one function, or of a file's top level."""
    function = project.function(where)
    for binding in function.bindings:
        if isinstance(binding.value, Import):
            yield from _of_import(project, binding.value, where, binding.line)
    for module, line in function.submodules:
        yield from _of_module(module, where, line, function)
    for store in function.stores:
        if any(environment().loads_by_import(one) for one in _external(project, store.owner, where)):
            yield _loading(COMPILER, where, store.line, "torch._dynamo", function)
    for site in function.calls:
        for dotted in _external(project, site.call.function, where):
            if environment().loads_by_call(dotted):
                yield _loading(COMPILER, where, site.call.line, dotted, function)


def _of_import(project: Project, target: Import, where: FunctionRef, line: int) -> Iterator[Loading]:
    """The loadings of one imported name: those of a module of torch, or of a file of the project."""
    function = project.function(where)
    for symbol in project.imported_modules(target, where.path):
        if isinstance(symbol, File):
            seen = {one.time: one for one in reversed(loadings(project, symbol.path)) if not one.branches}
            for one in seen.values():
                around = _around(function, line)
                yield replace(
                    one, path=where.path, line=line, what=f"import of {symbol.path}", branches=around
                )
        elif isinstance(symbol, ExternalSymbol):
            whole = f"{symbol.dotted}.{target.name}" if target.name else symbol.dotted
            yield from _of_module(whole, where, line, function)


def _of_module(dotted: str, where: FunctionRef, line: int, function: Function) -> Iterator[Loading]:
    if dotted.split(".")[0] == "torch":
        yield _loading(IMPORT, where, line, "import torch", function)
        if environment().loads_by_import(dotted):
            yield _loading(COMPILER, where, line, f"import of {dotted}", function)


def _decorations(project: Project, path: str) -> Iterator[Loading]:
    """The decorators of functions and classes at the top level, which are called when they are defined."""
    file, top = project.files[path], FunctionRef(path, MODULE_KEY)
    defined: list[Function | Class] = [*file.functions.values(), *file.classes.values()]
    for one in defined:
        if one.outer != MODULE_KEY:
            continue
        for decorator in one.decorators:
            callee = decorator.function if isinstance(decorator, Call) else decorator
            for dotted in _external(project, callee, top):
                if environment().loads_by_call(dotted):
                    yield _loading(COMPILER, top, one.first_line, f"@{dotted}", project.function(top))


def _loading(time: str, where: FunctionRef, line: int, what: str, function: Function) -> Loading:
    return Loading(time, where.path, line, what, _around(function, line))


def _around(function: Function, line: int) -> _Branches:
    return tuple((first, last) for first, last in function.branches if first <= line <= last)


def _surrounds(one: Loading, line: int) -> bool:
    """Whether a line stands in all the branches that a loading stands in."""
    return all(first <= line <= last for first, last in one.branches)


def _external(project: Project, expr: Expr, where: FunctionRef) -> Iterator[str]:
    """The names outside the project that an expression means."""
    for symbol in project.symbols(expr, where.path, where.key):
        if isinstance(symbol, ExternalSymbol):
            yield symbol.dotted


def _runs_from(project: Project, where: FunctionRef) -> int:
    """The first line of the file's top level that may run a function; after all of it, if none does."""
    lines, waiting, seen = [sys.maxsize], [where], {where}
    while waiting:
        name = _called_as(waiting.pop())
        for caller, site in project.calls_of(name):
            if caller.path != where.path:
                continue
            if caller.key == MODULE_KEY:
                lines.append(site.call.line)
            elif caller not in seen:
                seen.add(caller)
                waiting.append(caller)
    return min(lines)


def _called_as(ref: FunctionRef) -> str:
    """The name by which a function is called: that of its class for a constructor."""
    parts = ref.key.split("@")[0].split("#")[0].split(".")
    return parts[-2] if parts[-1] in {"__init__", "__new__"} and len(parts) > 1 else parts[-1]


def _functions_of(project: Project, path: str) -> Iterator[FunctionRef]:
    return (FunctionRef(path, key) for key in project.files[path].functions)
