"""Modules that other code puts in the place of existing ones: `setattr(parent, name, Int8Linear(…))`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite, Expr
from dynamo_lint.regions import results
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.narrowing import is_one_of
from dynamo_lint.regions.values import EMPTY, Foreign, Instance, Scope, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_SWAPPERS = (("setattr", 0, 2), ("set_submodule", None, 1), ("register_module", None, 1))
"""Calls that put a module somewhere: position of the parent (None for the receiver) and of the module."""
_MANY = 8
"""A helper that is given more classes of models than this may be applied to anything: it says nothing."""

Swaps = tuple[tuple[frozenset[ClassRef], Values, Values], ...]
"""Classes whose submodules are swapped, the types that are (empty if that is unknown), and for what."""


def swapped(ev: Evaluation, ref: ClassRef, held: Values) -> Values:
    """What may stand in an attribute of `ref` in the place of the modules it is known to hold."""
    if not any(_may_be_swapped(ev, value) for value in held):
        return EMPTY
    parts = []
    for owners, types, values in swaps_of(ev):
        if owners.isdisjoint(ev.project.mro(ref)):
            continue
        if not types:
            parts.append(ev.guessed(values))
        elif any(is_one_of(ev, value, types) for value in held):
            parts.append(union([values], Tier.LIKELY))
    return union(parts)


def swaps_of(ev: Evaluation) -> Swaps:
    """Every swap in the project, as far as it is easy to see."""
    nothing: Swaps = ()
    return ev.ask_nearby(("swaps",), lambda: _all(ev), nothing)


def _may_be_swapped(ev: Evaluation, value: object) -> bool:
    if isinstance(value, Instance):
        return ev.project.is_module(value.ref)
    return isinstance(value, Foreign) and value.dotted.startswith("torch.nn.")


def _all(ev: Evaluation) -> Swaps:
    """Every swap in the project; what is swapped is asked without regard to swaps, so that asking ends."""
    plain = ev.without_swaps()
    found: list[tuple[frozenset[ClassRef], Values, Values]] = []
    for name, owner_at, value_at in _SWAPPERS:
        for where, site in ev.project.calls_of(name):
            arguments = site.call.arguments
            if len(arguments) <= value_at or isinstance(arguments[value_at - 1], facts.Constant):
                continue
            value = arguments[value_at]
            if isinstance(value, facts.Constant | facts.Unknown):
                continue
            scope = Scope(where, ev.project.owner(where))
            modules: Values = {
                v: tier
                for v, tier in plain.value(value, scope).items()
                if isinstance(v, Instance) and ev.project.is_module(v.ref)
            }
            owner = _owner(site, owner_at)
            if not modules or owner is None:
                continue
            owners = {v.ref for v in plain.value(owner, scope) if isinstance(v, Instance)}
            types = _types(ev, site, scope)
            if not owners or len(owners) > _MANY:
                continue
            if types and (name == "set_submodule" or _calls_itself(ev, where)):
                below = [results.descendants(plain, one) for one in owners]
                owners |= {v.ref for part in below for v in part if isinstance(v, Instance)}
            found.append((frozenset(owners), types, modules))
    return tuple(found)


def _calls_itself(ev: Evaluation, where: FunctionRef) -> bool:
    """A helper that walks down the module tree."""
    name = where.key.rpartition(".")[2]
    calls = ev.project.function(where).calls
    return any(getattr(s.call.function, "id", getattr(s.call.function, "name", "")) == name for s in calls)


def _owner(site: CallSite, position: int | None) -> Expr | None:
    if position is not None:
        return site.call.arguments[position]
    function = site.call.function
    return function.value if isinstance(function, facts.Attribute) else None


def _types(ev: Evaluation, site: CallSite, scope: Scope) -> Values:
    """What the swapped submodule is tested to be."""
    return union(typed(ev.project, fact.types, scope) for fact in site.narrowed if fact.holds)
