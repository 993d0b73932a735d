"""What a call hands on by `*rest` and `**rest`, and what these hold in the function that takes them."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr, Function, Parameter
from dynamo_lint.program.refs import FunctionRef, Tier
from dynamo_lint.regions.values import EMPTY, Group, Scope, Values, at_best, freeze, stored, union
from dynamo_lint.values.arguments import ENOUGH, is_bound
from dynamo_lint.values.points_to import Evaluation

TAKING = frozenset({"get", "pop", "__getitem__"})
"""Methods of containers that give one item of them."""


def unpacked(ev: Evaluation, name: str, caller: Scope, call: facts.Call) -> Values:
    """What a call passes under a name by `**mapping`."""
    found = []
    for keyword, value in call.keywords:
        if keyword is not None:
            continue
        own = under(ev, value, name, caller)
        if own is not None:
            found.append(own)
            continue
        for held, tier in ev.value(value, caller).items():
            if isinstance(held, Group):
                rows = zip(held.keys, held.items, strict=False)
                found.append(union([dict(item) for key, item in rows if key == name], tier))
    return union(found)


def under(ev: Evaluation, mapping: Expr, name: str, scope: Scope) -> Values | None:
    """What the `**rest` of a function holds under one name, if that is what a mapping is.

    Only this name is followed: what all callers pass under all names is a thousand times as much.
    """
    if not _is_own_rest(ev, mapping, scope):
        return None
    where = scope.function
    return ev.ask(("under", where, name), lambda: _under(ev, name, where), EMPTY)


def taken(ev: Evaluation, call: facts.Call, scope: Scope) -> Values | None:
    """What `rest.pop("name")` takes out of the `**rest` of a function, if a call is of that sort."""
    match call:
        case facts.Call(facts.Attribute(mapping, method), (facts.Constant(str() as name), *default)):
            found = under(ev, mapping, name, scope) if method in TAKING else None
            if found is None or found:
                return found
            # Nobody passes it. What is made for that case is followed where it is a class or a function.
            where = scope.function
            named = (ev.project.symbols(one, where.path, where.key) for one in default)
            return union([ev.of_symbols(one) for one in named], Tier.LIKELY)
    return None


def _is_own_rest(ev: Evaluation, value: Expr, caller: Scope) -> bool:
    """Whether an expression is the `**rest` of the calling function as its own callers filled it."""
    if not isinstance(value, facts.Name) or caller.passed(value.id) is not None:
        return False
    local = ev.project.locals_of(caller.function).get(value.id)
    if local is None or local.parameter is None or local.bound:
        return False
    return local.parameter.kind == "kwarg" and not ev.project.items_of(caller.function).get(value.id)


def _under(ev: Evaluation, name: str, where: FunctionRef) -> Values:
    """What the callers of a function pass under one name that its `**rest` takes."""
    if any(parameter.name == name for parameter in ev.project.function(where).parameters):
        return EMPTY
    found: Values = EMPTY
    for caller, site in ev.call_sites(where):
        given = next((value for keyword, value in site.call.keywords if keyword == name), None)
        more = unpacked(ev, name, caller, site.call) if given is None else ev.value(given, caller)
        found = union([found, more])
        if len(found) > ENOUGH:
            break
    return ev.capped(at_best(found, Tier.LIKELY))


def rest(ev: Evaluation, parameter: Parameter, function: Function, caller: Scope, call: facts.Call) -> Values:
    """What `*rest` or `**rest` holds in one call: what no other parameter takes."""
    if parameter.kind == "vararg":
        first = sum(p.kind == "positional" for p in function.parameters) - is_bound(function)
        items = [ev.before(argument, caller, call) for argument in call.arguments[max(first, 0) :]]
        return {Group("each", (freeze(union(items)),)): Tier.CERTAIN} if any(items) else EMPTY
    named = {p.name for p in function.parameters}
    given = [(key, ev.value(value, caller)) for key, value in call.keywords if key and key not in named]
    found = [stored(given)]
    for key, value in call.keywords:
        if key is None:
            mapping = ev.value(value, caller)
            found.append({v: tier for v, tier in mapping.items() if isinstance(v, Group) and any(v.keys)})
    return union(found)
