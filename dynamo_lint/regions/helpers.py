"""What a function calls of what it is handed, told apart by who hands it over.

A helper such as `run(module, *args)` is handed so many different modules that its parameter says nothing; but
of each caller it is known, and where that caller is compiled, so is what it hands over.
"""

from __future__ import annotations

from typing import NamedTuple

from dynamo_lint.index.facts import Expr
from dynamo_lint.program.refs import FunctionRef, Tier
from dynamo_lint.regions.values import Instance, Value, Values
from dynamo_lint.values.arguments import as_given, is_settled
from dynamo_lint.values.points_to import Evaluation


class ByCaller(NamedTuple):
    """One module that one caller hands over."""

    caller: FunctionRef
    value: Value
    tier: Tier


def by_caller(ev: Evaluation, where: FunctionRef, called: Expr, known: Values) -> tuple[ByCaller, ...]:
    """The modules that callers of a function hand it as what it calls there, beside those that are known."""
    function = ev.project.function(where)
    parameter = as_given(function, called)
    if parameter is None or is_settled(ev.project, parameter, where):
        return ()
    nothing: tuple[ByCaller, ...] = ()
    found = ev.ask(
        ("by caller", where, parameter.name),
        lambda: tuple(
            ByCaller(caller.function, value, max(tier, Tier.LIKELY))
            for caller, site in ev.call_sites(where)
            if not site.eager
            for value, tier in ev.capped(ev.passed_by(parameter, where, caller, site)).items()
            if isinstance(value, Instance) and tier < Tier.ASSUMED and ev.project.is_module(value.ref)
        ),
        nothing,
    )
    return tuple(one for one in found if known.get(one.value, Tier.ASSUMED) > Tier.LIKELY)
