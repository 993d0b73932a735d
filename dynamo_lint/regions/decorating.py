"""Objects that decorators put in the place of a function: what is called by its name is their `__call__`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.program.refs import ClassRef, External, FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import Scope
from dynamo_lint.values.points_to import Evaluation

_DEEPEST = 2
"""Functions that give back what another makes: further than this nobody nests them."""


def objects(ev: Evaluation, ref: FunctionRef) -> Iterator[tuple[FunctionRef, ClassRef]]:
    """The `__call__`s, with their classes, that run around a function because classes decorate it."""
    function = ev.project.function(ref)
    if not function.decorators or "__call__" not in ev.project.named("methods"):
        return
    for decorator in function.decorators:
        for made in _made(ev.project, decorator, ref.path, function.outer or MODULE_KEY):
            method = None if ev.project.is_module(made) else ev.project.method(made, "__call__")
            if method is not None:
                yield method, made


def _made(project: Project, decorator: Expr, path: str, where: str, depth: int = 0) -> Iterator[ClassRef]:
    """The classes that a decorator makes an instance of, read off as it is written."""
    match decorator:
        case facts.Call(callee, arguments):
            for symbol in project.symbols(callee, path, where):
                if symbol == External("functools.partial") and arguments:
                    yield from _made(project, arguments[0], path, where, depth)
                elif isinstance(symbol, FunctionRef) and depth < _DEEPEST:
                    for value in project.function(symbol).returns:
                        yield from _made(project, value, symbol.path, symbol.key, depth + 1)
        case _:
            for symbol in project.symbols(decorator, path, where):
                if isinstance(symbol, ClassRef):
                    yield symbol
                elif isinstance(symbol, FunctionRef):
                    for value in project.function(symbol).returns:
                        made = value.function if isinstance(value, facts.Call) else facts.UNKNOWN
                        classes = project.symbols(made, symbol.path, symbol.key)
                        yield from (one for one in classes if isinstance(one, ClassRef))


def keeps(project: Project, callee: Expr, scope: Scope) -> bool:
    """Whether a method of such an object calls what the object was put around: its constructor's first."""
    if scope.receiver is None or not isinstance(callee, facts.Attribute):
        return False
    if not project.is_self(callee.value, scope.function):
        return False
    for part in project.mro(scope.receiver):
        for where, store in project.own_stores(part).get(callee.name, ()):
            given = project.function(where).parameters[1:2]
            if where.key.endswith(".__init__") and any(store.value == facts.Name(p.name) for p in given):
                return True
    return False
