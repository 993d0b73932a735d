"""Who puts a value into a parameter: the functions that it is not merely passed through."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dynamo_lint.index.facts import Call, CallSite, Constant, Element, Function, Parameter
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.applied import handing_over
from dynamo_lint.regions.values import FunctionValue, Instance, Value
from dynamo_lint.values.arguments import argument_for, as_given, is_bound_beforehand
from dynamo_lint.values.points_to import Evaluation

Origins = Mapping[Value, tuple[FunctionRef, ...]]
_NONE = Constant(None)
_DEEPEST = 6
"""A value that is passed on further than this counts as put in there."""


def origins(
    ev: Evaluation,
    where: FunctionRef,
    parameter: Parameter,
    entered: Collection[FunctionRef],
    *,
    kept: bool = False,
) -> Origins:
    """The functions whose calls bring each value, none of them where nothing but eager code does.

    A caller that only passes on what it is given itself is asked in turn, but for those that eager code
    enters with anything. What comes from elsewhere, as from a default, has no entry; nor has what is bound
    beforehand (`partial(step, loss=f)`), which is there whoever makes the call; and so it is with what a
    closure keeps, unless it is called where it is made: `checkpointed(self.block)(x)`.
    """
    return _origins(ev, where, parameter, entered, (), kept=kept)


def _origins(
    ev: Evaluation,
    where: FunctionRef,
    parameter: Parameter,
    entered: Collection[FunctionRef],
    above: tuple[FunctionRef, ...],
    *,
    kept: bool = False,
) -> Origins:
    found: dict[Value, dict[FunctionRef, None]] = {}
    anything: dict[FunctionRef, None] = {}
    bound: set[Value] = set()
    for caller, site in handing_over(ev, parameter, where):
        values = ev.passed_by(parameter, where, caller, site)
        later = kept and not _is_called_at_once(ev.project.function(caller.function), site)
        if later or is_bound_beforehand(ev.project, caller, site):
            bound.update(values)
            continue
        given = argument_for(parameter, ev.project.function(where), site.call)
        passed_on = as_given(ev.project.function(caller.function), given) if given is not None else None
        followed = caller.function not in (*entered, where, *above) and not _is_run_unnamed(caller.function)
        before: Origins = {}
        if passed_on is not None and followed and len(above) < _DEEPEST:
            before = _origins(ev, caller.function, passed_on, entered, (*above, where))
        for value in values:
            sources = found.setdefault(value, {})
            if not site.eager:
                sources.update(dict.fromkeys(before.get(value, (caller.function,))))
        if given not in (None, _NONE) and not site.eager and not any(map(_is_ours, values)):
            anything[caller.function] = None  # nobody knows what this one hands over
    return {value: tuple(sources | anything) for value, sources in found.items() if value not in bound}


def _is_called_at_once(caller: Function, site: CallSite) -> bool:
    """Whether what a call gives is called in the same expression, so that nobody else has it."""
    return any(other.call.function == site.call for other in caller.calls)


def _is_ours(value: Value) -> bool:
    return isinstance(value, Instance | FunctionValue)


def givers(
    ev: Evaluation, where: FunctionRef, parameter: Parameter, entered: Collection[FunctionRef]
) -> tuple[FunctionRef, ...] | None:
    """The functions whose calls give a parameter that is None by default anything; None if that is open."""
    if parameter.default != _NONE or where in entered or _is_run_unnamed(where) or not ev.call_sites(where):
        return None
    found: dict[FunctionRef, None] = {}
    pending, seen = [(where, parameter)], {where}
    while pending:
        asked, wanted = pending.pop()
        sites = ev.call_sites(asked)
        if not sites or asked in entered or _is_run_unnamed(asked):
            found[asked] = None  # by whoever calls it
        function = ev.project.function(asked)
        for caller, site in sites:
            given = argument_for(wanted, function, site.call)
            if given not in (None, _NONE) and is_bound_beforehand(ev.project, caller, site):
                return None
            if site.eager or given == _NONE or (given is None and _is_plain(site.call)):
                continue
            passed_on = as_given(ev.project.function(caller.function), given) if given is not None else None
            if passed_on is None or passed_on.default != _NONE:
                found[caller.function] = None
            elif caller.function not in seen:
                seen.add(caller.function)
                pending.append((caller.function, passed_on))
    return tuple(found)


def _is_run_unnamed(ref: FunctionRef) -> bool:
    """Whether calls of an object run a method, so that most of them do not name it."""
    return ref.key.endswith((".forward", ".__call__"))


def _is_plain(call: Call) -> bool:
    """Whether a call passes nothing but what it names."""
    starred = any(isinstance(argument, Element) for argument in call.arguments)
    return not starred and all(name is not None for name, _ in call.keywords)
