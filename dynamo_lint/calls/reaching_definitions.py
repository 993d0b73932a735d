"""Reaching definitions: the values of a name that are there when one call runs with it.

What the call itself gives comes after it, as all that is assigned below it outside of loops; what another
branch assigns never comes, nor what was there before the name is bound anew.
"""

from __future__ import annotations

from dynamo_lint.index.ir import Attribute, Binding, Call, Expr, Function, Name, Parameter
from dynamo_lint.index.walking import itself, walk
from dynamo_lint.program.classes import SELF_RETURNING
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.values.model import EMPTY, Context, ValueSet, union
from dynamo_lint.values.points_to import PointsTo


def reaching_definitions(pts: PointsTo, expr: Expr, context: Context, call: Call) -> ValueSet:
    """The values that a call is given: not what it gives itself, in `f = wrap(f)`, nor what another branch
    binds."""
    if isinstance(expr, Attribute):
        return _of_attribute(pts, expr, context, call)
    local = pts.project.locals_of(context.function).get(expr.id) if isinstance(expr, Name) else None
    if local is None or not isinstance(expr, Name):
        return pts.value(expr, context)
    name, parameter = expr.id, local.parameter
    apart = _apart(pts.project, name, context.function, call)
    if not apart and (parameter is not None or call not in local.bound):
        return pts.value(expr, context)
    others = [value for value in local.bound if value != call and value not in apart]
    if apart:  # `model = model.to(device)` would bring back what was told apart
        others = [value for value in others if value == expr or itself(value, SELF_RETURNING) != expr]

    def compute() -> ValueSet:
        return with_passed(pts, pts.assigned(name, others, context), name, parameter, context, direct=True)

    return pts.ask(("before", context, expr, call.line), compute, EMPTY)


def _of_attribute(pts: PointsTo, expr: Attribute, context: Context, call: Call) -> ValueSet:
    """The values of an attribute of `self` that a call is given: not what `self.net = f(self.net)` makes."""
    project, where = pts.project, context.function
    own, owner = project.self_name(where), project.owner(where)
    here = project.function(where)
    again = any(one.name == expr.name and one.value == call for one in here.stores)
    if not again or owner is None or expr.value != Name(own or "") or _in_loop(here, call.line):
        return pts.value(expr, context)
    family = {owner, *project.mro(owner), *project.mro(context.receiver or owner)}
    others = [
        (maker, store.value)
        for maker, store in project.stores_of(expr.name)
        if project.owner(maker) in family and not (maker == where and store.line >= call.line)
        if store.owner == Name(project.self_name(maker) or "")
    ]
    if not others:
        return pts.value(expr, context)

    def compute() -> ValueSet:
        return union(pts.value(value, Context(maker, context.receiver or owner)) for maker, value in others)

    return pts.ask(("before", context, expr, call.line), compute, EMPTY)


def _in_loop(function: Function, line: int) -> bool:
    return any(first <= line <= last for first, last in function.loops)


def with_passed(
    pts: PointsTo, assigned: ValueSet, name: str, parameter: Parameter | None, context: Context, direct: bool
) -> ValueSet:
    """The values assigned to a name and, if it is a parameter, what the call in question or all calls
    pass."""
    if parameter is None:
        return assigned
    given = context.passed(name)
    passed = pts.parameter(parameter, context, direct) if given is None else dict(given)
    return union([assigned, passed])


def _apart(project: Project, name: str, where: FunctionRef, call: Call) -> list[Expr]:
    """The expressions that a name is bound to in branches that do not run together with a call, or only
    after it, or before
    it is bound anew."""
    function, line = project.function(where), call.line
    bound = project.bindings_of(where).get(name, [])
    anew = [b.line for b in bound if _comes_first(function, b, call)]
    reaching = (b for b in bound if not anew or anew[-1] <= b.line <= line)
    seen = [
        b.value for b in reaching if not (function.apart(b.line, line) or _is_below(function, b.line, line))
    ]
    return [binding.value for binding in bound if binding.value not in seen]


def _comes_first(function: Function, binding: Binding, call: Call) -> bool:
    """Whether a name is bound to something else each time before a call runs: no branch or loop is around the
    binding alone, nor a loop around the call alone."""
    line, other = binding.line, call.line
    if line >= other or Name(binding.name) in walk(binding.value):
        return False
    inside = all(b >= other for a, b in (*function.branches, *function.loops) if a <= line <= b)
    return inside and all(a <= line for a, b in function.loops if a <= other <= b)


def _is_below(function: Function, line: int, other: int) -> bool:
    """Whether a line comes after another, and is in no loop with it."""
    return line > other and not any(a <= other and line <= b for a, b in function.loops)
