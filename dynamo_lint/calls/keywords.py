"""Arguments passed by `*rest` and `**rest`, and what these hold in the function that takes them."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Expr, Function, Parameter
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.values.arguments import ENOUGH, is_bound
from dynamo_lint.values.model import EMPTY, Container, Context, ValueSet, at_best, freeze, stored, union
from dynamo_lint.values.points_to import PointsTo

TAKING = frozenset({"get", "pop", "__getitem__"})
"""Methods of containers that give one item of them."""


def unpacked(pts: PointsTo, name: str, caller: Context, call: ir.Call) -> ValueSet:
    """The values that a call passes under a name by `**mapping`."""
    found = []
    for keyword, value in call.keywords:
        if keyword is not None:
            continue
        own = under(pts, value, name, caller)
        if own is not None:
            found.append(own)
            continue
        for held, confidence in pts.value(value, caller).items():
            if isinstance(held, Container):
                rows = zip(held.keys, held.items, strict=False)
                found.append(union([dict(item) for key, item in rows if key == name], confidence))
    return union(found)


def under(pts: PointsTo, mapping: Expr, name: str, context: Context) -> ValueSet | None:
    """The values that the `**rest` of a function holds under one name, if that is what a mapping is.

    Only this name is followed: what all callers pass under all names is a thousand times as much.
    """
    if not _is_own_rest(pts, mapping, context):
        return None
    where = context.function
    return pts.ask(("under", where, name), lambda: _under(pts, name, where), EMPTY)


def taken(pts: PointsTo, call: ir.Call, context: Context) -> ValueSet | None:
    """The values that `rest.pop("name")` takes out of the `**rest` of a function, if a call does that."""
    match call:
        case ir.Call(ir.Attribute(mapping, method), (ir.Constant(str() as name), *default)):
            found = under(pts, mapping, name, context) if method in TAKING else None
            if found is None or found:
                return found
            # Nobody passes it. What is made for that case is followed where it is a class or a function.
            where = context.function
            named = (pts.project.symbols(one, where.path, where.key) for one in default)
            return union([pts.of_symbols(one) for one in named], Confidence.LIKELY)
    return None


def _is_own_rest(pts: PointsTo, value: Expr, caller: Context) -> bool:
    """Whether an expression is the `**rest` of the calling function as its own callers filled it."""
    if not isinstance(value, ir.Name) or caller.passed(value.id) is not None:
        return False
    local = pts.project.locals_of(caller.function).get(value.id)
    if local is None or local.parameter is None or local.bound:
        return False
    return local.parameter.kind == "kwarg" and not pts.project.items_of(caller.function).get(value.id)


def _under(pts: PointsTo, name: str, where: FunctionRef) -> ValueSet:
    """The values that the callers of a function pass under one name that its `**rest` takes."""
    if any(parameter.name == name for parameter in pts.project.function(where).parameters):
        return EMPTY
    found: ValueSet = EMPTY
    for caller, site in pts.call_sites(where):
        given = next((value for keyword, value in site.call.keywords if keyword == name), None)
        more = unpacked(pts, name, caller, site.call) if given is None else pts.value(given, caller)
        found = union([found, more])
        if len(found) > ENOUGH:
            break
    return pts.capped(at_best(found, Confidence.LIKELY))


def rest(pts: PointsTo, parameter: Parameter, function: Function, caller: Context, call: ir.Call) -> ValueSet:
    """The values that `*rest` or `**rest` holds in one call: what no other parameter takes."""
    if parameter.kind == "vararg":
        first = sum(p.kind == "positional" for p in function.parameters) - is_bound(function)
        items = [pts.before(argument, caller, call) for argument in call.arguments[max(first, 0) :]]
        return {Container("each", (freeze(union(items)),)): Confidence.CERTAIN} if any(items) else EMPTY
    named = {p.name for p in function.parameters}
    given = [(key, pts.value(value, caller)) for key, value in call.keywords if key and key not in named]
    found = [stored(given)]
    for key, value in call.keywords:
        if key is None:
            mapping = pts.value(value, caller)
            found.append(
                {
                    v: confidence
                    for v, confidence in mapping.items()
                    if isinstance(v, Container) and any(v.keys)
                }
            )
    return union(found)
