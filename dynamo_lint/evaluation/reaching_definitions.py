"""Reaching definitions: the values of a name that are there when one call runs with it.

What the call itself gives comes after it, as all that is assigned below it outside of loops; what another
branch assigns never comes, nor what was there before the name is bound anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dynamo_lint.conditions.arguments import chosen_for_line, run_together
from dynamo_lint.index.ir import (
    Attribute,
    Binding,
    Call,
    Choice,
    Element,
    Expr,
    Function,
    Name,
    Parameter,
    Subscript,
)
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
    bound = pts.project.bindings_of(context.function)[name] if local.bound else []
    seen = _reaching(pts.project, bound, context.function, call)
    if any(one.within for one in seen):  # the variable of a comprehension is no parameter
        parameter = None
    runs = [one for one in seen if run_together(pts, context.function, one.line, call.line)]
    values = [_as_of(pts.project, one, context.function) for one in runs]
    apart = len({*values}) < len({*local.bound}) or not {*values} <= {*local.bound}
    others = [value for value in values if call not in walk(value)]
    if not apart and (parameter is not None or len(others) == len(values)):
        return pts.value(expr, context)
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
    if owner is None or expr.value != Name(own or ""):
        return pts.value(expr, context)
    again = any(one.name == expr.name and one.value == call for one in here.stores)
    again = again and not _in_loop(here, call.line)
    line = call.line
    family = {owner, *project.mro(owner), *project.mro(context.receiver or owner)}
    stores = [
        (maker, store, chosen_for_line(pts, where, store.value, line) if maker == where else store.value)
        for maker, store in project.stores_of(expr.name)
        if project.owner(maker) in family and store.owner == Name(project.self_name(maker) or "")
    ]
    others = [
        (maker, value)
        for maker, store, value in stores
        if maker != where
        or not ((again and store.line >= line) or not run_together(pts, where, store.line, line))
    ]
    narrowed = again or others != [(maker, store.value) for maker, store, _ in stores]
    if not others or not narrowed:
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


def _reaching(project: Project, bound: Sequence[Binding], where: FunctionRef, call: Call) -> list[Binding]:
    """The bindings of a name that a call may see: not one in a branch that does not run together with it, nor
    one only after it, nor what was there before the name is bound anew; in a comprehension its variables."""
    function, line = project.function(where), call.line
    own = [b for b in bound if b.within and b.within[0] <= line <= b.within[1] and call not in walk(b.value)]
    if own:
        return own
    bound = [b for b in bound if b.within is None]
    anew = [b.line for b in bound if _comes_first(function, b, line)]
    reaching = (b for b in bound if not anew or anew[-1] <= b.line <= line)
    return [b for b in reaching if not (function.apart(b.line, line) or _is_below(function, b.line, line))]


def _as_of(project: Project, binding: Binding, where: FunctionRef) -> Expr:
    """The value of a binding; that of a loop's variable is made of what the names are before the loop."""
    known = project.locals_of(where)

    def there(part: Expr) -> Expr:
        match part:
            case Name(name) if name in known and known[name].parameter is None and len(known[name].bound) > 1:
                bound = project.bindings_of(where)[name]
                seen = _reaching(project, bound, where, Call(part, line=binding.line))
                if len(seen) < len(bound):
                    return Choice(tuple(one.value for one in seen))
            case Call(Name() as function, arguments):
                return replace(part, function=function, arguments=tuple(map(there, arguments)))
        return part

    match binding.value:
        case Element(iterable):
            return Element(there(iterable))
        case Subscript(Element(iterable), index):
            return Subscript(Element(there(iterable)), index)
    return binding.value


def _comes_first(function: Function, binding: Binding, other: int) -> bool:
    """Whether a name is bound to something else each time before a line runs: no branch or loop is around the
    binding alone, nor a loop around the call alone."""
    line = binding.line
    if line >= other or Name(binding.name) in walk(binding.value):
        return False
    inside = all(b >= other for a, b in (*function.branches, *function.loops) if a <= line <= b)
    return inside and all(a <= line for a, b in function.loops if a <= other <= b)


def _is_below(function: Function, line: int, other: int) -> bool:
    """Whether a line comes after another, and is in no loop with it."""
    return line > other and not any(a <= other and line <= b for a, b in function.loops)
