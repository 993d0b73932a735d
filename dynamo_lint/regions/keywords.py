"""What a call hands on by `*rest` and `**rest`, and what these hold in the function that takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr, Function, Parameter
from dynamo_lint.regions import flow
from dynamo_lint.regions.model import Tier
from dynamo_lint.regions.values import EMPTY, Group, Scope, Values, at_best, freeze, stored, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation


def unpacked(ev: Evaluation, name: str, caller: Scope, call: facts.Call) -> Values:
    """What a call passes under a name by `**mapping`."""
    found = []
    for keyword, value in call.keywords:
        if keyword is not None:
            continue
        if _is_own_rest(ev, value, caller):
            found.append(ev.ask(("under", caller, name), lambda: _under(ev, name, caller), EMPTY))
            continue
        for held, tier in ev.value(value, caller).items():
            if isinstance(held, Group):
                rows = zip(held.keys, held.items, strict=False)
                found.append(union([dict(item) for key, item in rows if key == name], tier))
    return union(found)


def _is_own_rest(ev: Evaluation, value: Expr, caller: Scope) -> bool:
    """Whether an expression is the `**rest` of the calling function as its own callers filled it."""
    if not isinstance(value, facts.Name) or any(known == value.id for known, _ in caller.given):
        return False
    local = ev.project.locals_of(caller.function).get(value.id)
    if local is None or local.parameter is None or local.bound:
        return False
    return local.parameter.kind == "kwarg" and not ev.project.items_of(caller.function).get(value.id)


def _under(ev: Evaluation, name: str, scope: Scope) -> Values:
    """What the callers of a function pass under one name that its `**rest` takes."""
    if any(parameter.name == name for parameter in ev.project.function(scope.function).parameters):
        return EMPTY
    found: Values = EMPTY
    for caller, site in flow.call_sites(ev, scope.function):
        given = next((value for keyword, value in site.call.keywords if keyword == name), None)
        more = unpacked(ev, name, caller, site.call) if given is None else ev.value(given, caller)
        found = union([found, more])
        if len(found) > flow.ENOUGH:
            break
    return ev.capped(at_best(found, Tier.LIKELY))


def rest(ev: Evaluation, parameter: Parameter, function: Function, caller: Scope, call: facts.Call) -> Values:
    """What `*rest` or `**rest` holds in one call: what no other parameter takes."""
    if parameter.kind == "vararg":
        first = sum(p.kind == "positional" for p in function.parameters) - flow.is_bound(function)
        items = [ev.value(argument, caller) for argument in call.arguments[max(first, 0) :]]
        return {Group("each", (freeze(union(items)),)): Tier.CERTAIN} if any(items) else EMPTY
    named = {p.name for p in function.parameters}
    given = [(key, ev.value(value, caller)) for key, value in call.keywords if key and key not in named]
    found = [stored(given)]
    for key, value in call.keywords:
        if key is None:
            mapping = ev.value(value, caller)
            found.append({v: tier for v, tier in mapping.items() if isinstance(v, Group) and any(v.keys)})
    return union(found)
