"""What a function gives only where a parameter is some text: `if norm == "layer": return LayerNorm(size)`.

Where all calls write the text out, also through parameters of their own functions, and none writes that one,
nothing of the project makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Call, CallSite, Constant, Element, Expr, Name, Narrowed
from dynamo_lint.regions.flow import argument_for, call_sites, is_bound_beforehand
from dynamo_lint.regions.values import Values

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation
    from dynamo_lint.regions.model import FunctionRef
    from dynamo_lint.regions.values import Scope

_Texts = frozenset[object]


def returned(ev: Evaluation, scope: Scope) -> Iterator[Values]:
    """What each `return` of a function gives; no more than a guess where no call asks for it."""
    function = ev.project.function(scope.function)
    for value in function.returns:
        found = ev.value(value, scope)
        # Of what is no module it would cost questions for nothing.
        told = bool(function.picked) and any(map(ev.holds_module, found))
        yield found if not told or _is_asked_for(ev, scope.function, value) else ev.guessed(found)


def _is_asked_for(ev: Evaluation, ref: FunctionRef, value: Expr) -> bool:
    line = value.line if isinstance(value, Call) else 0
    for first, last, name, wanted in ev.project.function(ref).picked:
        if first <= line <= last:
            texts = _texts(ev, ref, name)
            if texts is not None and texts.isdisjoint(wanted):
                return False
    return True


def _texts(ev: Evaluation, ref: FunctionRef, name: str) -> _Texts | None:
    """All that a parameter may be, if calls write it out; None if they do not, or nobody knows."""
    nothing: _Texts | None = None
    return ev.ask(("texts given", ref, name), lambda: _given(ev, ref, name), nothing)


def _given(ev: Evaluation, ref: FunctionRef, name: str) -> _Texts | None:
    local = ev.project.locals_of(ref).get(name)
    if local is None or local.parameter is None or local.bound:
        return None
    found: set[object] = set()
    default = local.parameter.default
    function = ev.project.function(ref)
    sites = call_sites(ev, ref)
    for caller, site in sites:
        value = argument_for(local.parameter, function, site.call)
        if value is None and not _may_pass_more(ev, caller, site):
            value = default
        while isinstance(value, Narrowed):
            value = value.value
        match value:
            case Constant(text):
                found.add(text)
            case Name(other):
                texts = _texts(ev, caller.function, other)
                if texts is None:
                    return None
                found |= texts
            case _:
                return None
    if not sites and isinstance(default, Constant):
        found.add(default.value)  # nobody runs it
    return frozenset(found) if found else None


def _may_pass_more(ev: Evaluation, caller: Scope, site: CallSite) -> bool:
    """Whether a call may give more than it says: it unpacks something, is a `partial`, or stands in YAML."""
    unpacks = any(keyword is None for keyword, _ in site.call.keywords)
    unpacks = unpacks or any(isinstance(argument, Element) for argument in site.call.arguments)
    is_code = ev.project.files[caller.function.path].is_code
    return unpacks or not is_code or is_bound_beforehand(ev.project, caller, site)
