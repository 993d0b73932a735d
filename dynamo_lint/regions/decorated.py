"""What a function decorates: it is called with each of these functions and classes."""

from __future__ import annotations

from dynamo_lint.index.facts import MODULE_KEY, Definition, Function
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.naming import LAMBDA, names_for
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import ClassValue, FunctionValue, Instance, Scope, Value, Values
from dynamo_lint.values.points_to import Evaluation

_MOST = 200
"""Decorators of one name that are evaluated to see what they call."""


def by(ev: Evaluation, function: Function, scope: Scope) -> Values:
    """The functions and classes that the function decorates: it is called with each of them."""
    names = {function.qualname.rpartition(".")[2]}
    if LAMBDA in names:  # `fuse = lambda f: torch.compile(f)`
        around = ev.project.function(FunctionRef(scope.function.path, function.outer or MODULE_KEY))
        names = set(names_for(Definition(scope.function.key), around))
    if function.outer not in (None, MODULE_KEY):  # `@factory(…)` calls the function that it returns
        outer = ev.project.files[scope.function.path].functions[function.outer or MODULE_KEY]
        names.add(outer.qualname.rpartition(".")[2])
    runs: set[object] = {scope.function}
    if function.owner is not None:  # a class that decorates is given it, or an instance of the class is
        owner = ClassRef(scope.function.path, function.owner)
        called = (
            ClassValue(owner) if "__init__" in names else Instance(owner) if "__call__" in names else None
        )
        if called is not None:
            names.add(owner.name)
            runs.add(called)
    found: dict[Value, Tier] = {}
    for name in _decorating(ev.project, frozenset(names)):
        for ref, decorator in ev.project.decorated_with(name)[:_MOST]:
            project = ev.project
            definition = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
            where = Scope(FunctionRef(ref.path, definition.outer or MODULE_KEY))
            decorators = ev.value(decorator, where)
            if any(v in runs or getattr(v, "ref", None) in runs for v in decorators):
                # `fuse = plain` and, on a condition, `fuse = compiled`: only a run can say which it is.
                tier = Tier.CERTAIN if len(decorators) == 1 else Tier.LIKELY
                found[FunctionValue(ref) if isinstance(ref, FunctionRef) else ClassValue(ref)] = tier
    return found


def _decorating(project: Project, names: frozenset[str]) -> list[str]:
    """The names that something so called decorates by."""
    key = ("decorating", names)
    if key not in project.memo:
        project.memo[key] = sorted(filter(project.decorated_with, project.other_names(names)))
    return project.memo[key]  # type: ignore[return-value]
