"""What a function calls of what it is handed, told apart by who hands it over.

A helper such as `run(module, *args)` is handed so many different modules that its parameter says nothing; but
of each caller it is known, and where that caller is compiled, so is what it hands over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr, Function, Parameter
from dynamo_lint.regions.flow import call_sites, is_settled, passed_by
from dynamo_lint.regions.model import FunctionRef, Tier
from dynamo_lint.regions.values import Instance, Value, Values

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation


class ByCaller(NamedTuple):
    """One module that one caller hands over."""

    caller: FunctionRef
    value: Value
    tier: Tier


def as_given(function: Function, expr: Expr) -> Parameter | None:
    """The parameter that an expression is, if the function never binds the name to anything else."""
    parameter = next((p for p in function.parameters if facts.Name(p.name) == expr), None)
    if parameter is None or any(binding.name == parameter.name for binding in function.bindings):
        return None
    return parameter


def by_caller(ev: Evaluation, where: FunctionRef, called: Expr, known: Values) -> tuple[ByCaller, ...]:
    """The modules that callers of a function hand it as what it calls there, beside those that are known."""
    function = ev.project.function(where)
    parameter = as_given(function, called)
    if parameter is None or is_settled(ev, parameter, where):
        return ()
    nothing: tuple[ByCaller, ...] = ()
    found = ev.ask(
        ("by caller", where, parameter.name),
        lambda: tuple(
            ByCaller(caller.function, value, max(tier, Tier.LIKELY))
            for caller, site in call_sites(ev, where)
            if not site.eager
            for value, tier in ev.capped(passed_by(ev, parameter, where, caller, site)).items()
            if isinstance(value, Instance) and tier < Tier.ASSUMED and ev.project.is_module(value.ref)
        ),
        nothing,
    )
    return tuple(one for one in found if known.get(one.value, Tier.ASSUMED) > Tier.LIKELY)
