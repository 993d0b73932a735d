"""Attributes that a constructor sets by names that callers choose: `for k, v in rest.items(): setattr(…)`."""

from __future__ import annotations

from dynamo_lint.index.facts import Attribute, Call, Constant, Expr, Name
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.regions import keywords
from dynamo_lint.regions.values import EMPTY, Scope, Values
from dynamo_lint.values.points_to import Evaluation


def named_by_keyword(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What constructions pass by the keyword `name`, for a class that keeps each keyword under its name."""
    init = ev.project.method(ref, "__init__")
    if init is None:
        return EMPTY
    function = ev.project.function(init)
    itself = Name(ev.project.self_name(init) or "")
    if not function.lookups or not any(_keeps_all(site.call, itself) for site in function.calls):
        return EMPTY
    rest = next((parameter.name for parameter in function.parameters if parameter.kind == "kwarg"), None)
    if rest is None:
        return EMPTY
    return keywords.under(ev, Name(rest), name, Scope(init, ref)) or EMPTY


def _keeps_all(call: Call, itself: Expr) -> bool:
    match call:
        case Call(Name("setattr"), (owner, name, _)):
            return owner == itself and not isinstance(name, Constant)
        case Call(Attribute(Attribute(owner, "__dict__") | Call(Name("vars"), (owner,)), "update")):
            return owner == itself
    return False
