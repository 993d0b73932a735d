"""Objects that decorators put in the place of a function: what is called by its name is their `__call__`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.regions.evaluate import Evaluation
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import ClassValue, FunctionValue, Instance, Scope, Value


def objects(ev: Evaluation, ref: FunctionRef) -> Iterator[tuple[FunctionRef, ClassRef]]:
    """The `__call__`s, with their classes, that run around a function because classes decorate it."""
    function = ev.project.function(ref)
    if not function.decorators or "__call__" not in ev.project.named("methods"):
        return
    scope = Scope(FunctionRef(ref.path, function.outer or MODULE_KEY))
    for decorator in function.decorators:
        for value in ev.value(decorator, scope):
            for made in _made(ev, value):
                method = None if ev.project.is_module(made) else ev.project.method(made, "__call__")
                if method is not None:
                    yield method, made


def _made(ev: Evaluation, decorator: Value) -> Iterator[ClassRef]:
    """The classes whose instance a decorator gives back: it is one, or a function that makes one."""
    match decorator:
        case ClassValue(ref):
            yield ref
        case FunctionValue(ref):
            yield from (made.ref for made in ev.returns(ref, None) if isinstance(made, Instance))


def keeps(project: Project, callee: Expr, scope: Scope) -> bool:
    """Whether a method of such an object calls what the object was put around: its constructor's first."""
    own = facts.Name(project.self_name(scope.function) or "")
    if scope.receiver is None or not isinstance(callee, facts.Attribute) or callee.value != own:
        return False
    for part in project.mro(scope.receiver):
        for where, store in project.own_stores(part).get(callee.name, ()):
            given = project.function(where).parameters[1:2]
            if where.key.endswith(".__init__") and any(store.value == facts.Name(p.name) for p in given):
                return True
    return False
