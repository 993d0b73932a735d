"""Modules and functions that a call of a module hands over: its forward calls them by a parameter's name.

No call names a `forward`, so nobody can be asked who passes what to one; whoever follows a hot call knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Call, CallSite, Expr, Function
from dynamo_lint.index.walking import parts
from dynamo_lint.program.refs import FunctionRef, Tier
from dynamo_lint.regions.contexts import depends_on
from dynamo_lint.regions.values import FunctionValue, Given, Scope, Value, Values, freeze, union
from dynamo_lint.values.arguments import argument_for, is_bound, is_settled
from dynamo_lint.values.points_to import Evaluation


def handed(ev: Evaluation, callee: FunctionRef, call: Call, scope: Scope) -> Given:
    """What one call passes for those parameters of a method that the method calls, or passes on by name."""
    nothing: frozenset[str] = frozenset()
    names = ev.ask(("called parameters", callee), lambda: _called(ev, callee), nothing)
    if not names:
        return ()
    function = ev.project.function(callee)
    found = []
    for parameter in function.parameters:
        argument = argument_for(parameter, function, call) if parameter.name in names else None
        if argument is None or isinstance(argument, facts.Constant | facts.Unknown):
            continue
        values: Values = {v: t for v, t in ev.value(argument, scope).items() if _runs(ev, v)}
        if values := ev.capped(values):
            found.append((parameter.name, freeze(union([values], Tier.LIKELY))))
    return tuple(found)


def using(function: Function, given: Given) -> list[CallSite]:
    """The calls in a function that run what it was handed, or hand it on."""
    names = [name for name, _ in given]
    return [
        site for site in function.calls if not site.eager and depends_on(parts(site.call), function, names)
    ]


def _called(ev: Evaluation, callee: FunctionRef) -> frozenset[str]:
    function = ev.project.function(callee)
    calls = [site.call for site in function.calls if not site.eager]
    handed_on = set(_handed_on(ev, calls))
    open_ones = (
        p for p in function.parameters[is_bound(function) :] if not is_settled(ev.project, p, callee)
    )
    return frozenset(
        parameter.name
        for parameter in open_ones
        if parameter.name in handed_on
        or any(depends_on((_root(call.function),), function, (parameter.name,)) for call in calls)
    )


def _root(callee: Expr) -> Expr:
    """The name that is called, or whose method is: nothing of an expression that computes a tensor first."""
    match callee:
        case facts.Attribute(facts.Name() as owner):
            return owner
        case facts.Name() | facts.Subscript() | facts.Narrowed() | facts.Element():
            return callee
    return facts.UNKNOWN


def _handed_on(ev: Evaluation, calls: list[Call]) -> Iterator[str]:
    """The names that calls hand on to be called: as they were, or by a name that some forward calls."""
    called = {name for _, _, name in ev.project.named("calling given").get("forward", ())}
    for call in calls:
        for name, value in call.keywords:
            if name is not None and isinstance(value, facts.Name) and (name == value.id or name in called):
                yield value.id
        for value in call.arguments:
            if isinstance(value, facts.Name) and value.id in called:
                yield value.id


def _runs(ev: Evaluation, value: Value) -> bool:
    return isinstance(value, FunctionValue) or ev.holds_module(value)
