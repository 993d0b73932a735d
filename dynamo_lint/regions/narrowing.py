"""Which values an `isinstance` test leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Constant, Display, Expr
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.model import Tier
from dynamo_lint.regions.values import Foreign, Instance, Scope, Value, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})


def narrow(ev: Evaluation, values: Values, types: Expr, holds: bool, scope: Scope) -> Values:
    """The values that are instances of the types, or those that are not; types may be given by name."""
    names = _class_names(types)
    if names:
        return _by_name(ev, values, names, holds)
    wanted = typed(ev.project, types, scope)
    if not wanted:
        return values
    if not holds:
        return {value: tier for value, tier in values.items() if not is_one_of(ev, value, wanted)}
    inside = {value: tier for value, tier in values.items() if _may_be(ev, value, wanted)}
    known = [value.ref for value in inside if isinstance(value, Instance)]
    # The test itself proves an instance of the type, unless flow has only ever shown heirs of it.
    proven: Values = {
        value: tier
        for value, tier in wanted.items()
        if isinstance(value, Instance)
        and (value.ref in known or not any(value.ref in ev.project.mro(ref) for ref in known))
    }
    return union([proven, inside]) or wanted


def _class_names(types: Expr) -> frozenset[str]:
    items = types.items if isinstance(types, Display) else ()
    return frozenset(str(item.value) for item in items if isinstance(item, Constant))


def _by_name(ev: Evaluation, values: Values, names: frozenset[str], holds: bool) -> Values:
    """`type(x).__name__ == "Block"`: of a module that nothing is known of, the modules of that name."""
    kept: Values = {
        value: tier
        for value, tier in values.items()
        if not isinstance(value, Instance) or (value.ref.name in names) is holds
    }
    if not holds or any(isinstance(value, Instance) for value in kept):
        return kept
    named = (ref for ref in ev.project.classes() if ref.name in names and ev.project.is_module(ref))
    return ev.capped({Instance(ref): Tier.LIKELY for ref in named})


def is_one_of(ev: Evaluation, value: Value, types: Values) -> bool:
    """Whether a value is an instance of one of the types, given as instances of them."""
    if value in types:
        return True
    if not isinstance(value, Instance):
        return False
    order = ev.project.mro(value.ref)
    bases = ev.project.external_bases(value.ref)
    for one in types:
        match one:
            case Instance(ref) if ref in order:
                return True
            case Foreign(dotted) if dotted in bases or (
                dotted in _MODULES and ev.project.is_module(value.ref)
            ):
                return True
    return False


def _may_be(ev: Evaluation, value: Value, types: Values) -> bool:
    """Whether a value passes the test; of a value from outside the project nothing is known."""
    return is_one_of(ev, value, types) if isinstance(value, Instance) else True
