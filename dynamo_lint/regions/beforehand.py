"""What an argument holds when its call runs: what the call gives comes after it, other branches never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Call, Expr, Name
from dynamo_lint.regions import flow
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import EMPTY, Scope, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation


def before(ev: Evaluation, expr: Expr, scope: Scope, call: Call) -> Values:
    """What a call is given: not what it gives itself, in `f = wrap(f)`, nor what another branch binds."""
    local = ev.project.locals_of(scope.function).get(expr.id) if isinstance(expr, Name) else None
    if local is None or not isinstance(expr, Name):
        return ev.value(expr, scope)
    name, parameter = expr.id, local.parameter
    apart = _apart(ev.project, name, scope.function, call.line)
    if not apart and (parameter is not None or call not in local.bound):
        return ev.value(expr, scope)
    others = [value for value in local.bound if value != call and value not in apart]

    def compute() -> Values:
        found = ev.assigned(name, others, scope)
        if parameter is None:
            return found
        given = next((values for known, values in scope.given if known == name), None)
        passed = flow.of_parameter(ev, parameter, scope, True) if given is None else dict(given)
        return union([found, passed])

    return ev.ask(("before", scope, expr, call.line), compute, EMPTY)


def _apart(project: Project, name: str, where: FunctionRef, line: int) -> list[Expr]:
    """What a name is bound to in branches that do not run together with a line."""
    function = project.function(where)
    if not function.arms:
        return []
    bound = [binding for binding in function.bindings if binding.name == name]
    return [binding.value for binding in bound if function.apart(binding.line, line)]
