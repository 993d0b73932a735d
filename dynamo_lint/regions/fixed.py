"""Attributes that every construction of a module sets alike: which lines of its methods never run."""

from __future__ import annotations

from dynamo_lint.index.facts import CallSite, Constant, Expr, Function, Name
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions import picked
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.rehearsals import is_kept, is_own_use
from dynamo_lint.regions.shown import MODE, bound_and_stored, stays
from dynamo_lint.values.arguments import argument_for, as_given
from dynamo_lint.values.points_to import Evaluation

_DEEPEST = 4


def sureness(ev: Evaluation, method: FunctionRef, ref: ClassRef | None, site: CallSite) -> Tier | None:
    """How sure a method gets to a call for an instance of a class; None if no code of the project makes it.

    It is not where every caller may do the other thing, nor where all who construct the class leave a flag at
    a default that keeps the call from running: only a user turns that on. Nor where an attribute has to be on
    that the constructor sets off, for another method to turn on.
    """
    if site.eager or (ref is not None and _contradicts(ev, ref, method, site.call.line, defaults=False)):
        return None
    if site.optional or (ref is not None and _contradicts(ev, ref, method, site.call.line, defaults=True)):
        return Tier.LIKELY
    if ref is not None and _awaits(ev, ref, method, site.call.line):
        return Tier.LIKELY
    return Tier.LIKELY if _is_for_evaluation(ev.project.function(method), site.call.line) else Tier.CERTAIN


def _is_for_evaluation(function: Function, line: int) -> bool:
    """Whether a line runs only where a module is not in training: few programs compile it for that too."""
    return any(first <= line <= last and flag == MODE and not on for first, last, flag, on in function.flags)


def _awaits(ev: Evaluation, ref: ClassRef, method: FunctionRef, line: int) -> bool:
    """Whether a line waits for a method to turn on, or to fill, what the constructor leaves off."""
    function = ev.project.function(method)
    named = {flag for first, last, flag, on in function.flags if on and first <= line <= last}
    named.update(name for first, last, name in function.filled if first <= line <= last)
    return any(_starts_off(ev.project, ref, name) for name in named)


def _starts_off(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether the body and the constructors of a class set an attribute to nothing but `None` or `False`."""
    bound, stores = bound_and_stored(project, ref, name)
    made = [store.value for where, store in stores if where.key.endswith(".__init__")]
    held = [*made, *(one.value for one in bound)]
    return bool(held) and all(isinstance(one, Constant) and not one.value for one in held)


def _contradicts(ev: Evaluation, ref: ClassRef, method: FunctionRef, line: int, *, defaults: bool) -> bool:
    return any(
        first <= line <= last and _truth(ev, ref, flag, defaults=defaults) is (not holds)
        for first, last, flag, holds in ev.project.function(method).flags
    )


def _truth(ev: Evaluation, ref: ClassRef, flag: str, *, defaults: bool) -> bool | None:
    """What a flag is that the constructor only keeps: known where all who construct the class say the same.

    Of a class with heirs nothing is known: theirs are instances of it too.
    """
    key = ("flag", ref, flag, defaults)
    if key not in ev.project.memo:
        ev.project.memo[key] = _kept(ev, ref, flag, defaults=defaults)
    return ev.project.memo[key]  # type: ignore[return-value]


def _kept(ev: Evaluation, ref: ClassRef, flag: str, *, defaults: bool) -> bool | None:
    held, stores = bound_and_stored(ev.project, ref, flag)
    if len(stores) + len(held) != 1 or not stays(ev.project, ref, flag) or heirs(ev.project, ref):
        return None  # what the body of the class says holds where the constructor stores nothing
    if stores and stores[0][0] != ev.project.method(ref, "__init__"):
        return None
    value = stores[0][1].value if stores else held[0].value
    if isinstance(value, Constant) and defaults:
        return _amount(value)  # only a user turns that on, from outside
    truths = _given(ev, ref, value.id, 0, defaults=defaults) if isinstance(value, Name) else frozenset()
    return next(iter(truths)) if len(truths) == 1 else None


def _given(ev: Evaluation, ref: ClassRef, name: str, depth: int, *, defaults: bool) -> frozenset[bool | None]:
    """What constructions of a class say for a parameter; None of one that says nothing, or nothing known.

    With `defaults`, who says nothing says what the default does, and so does whoever is not seen.
    """
    init = ev.project.method(ref, "__init__")
    parameter = as_given(ev.project.function(init), Name(name)) if init is not None else None
    kept = is_kept(ev.project, ref.name, ev.project.class_(ref).decorators)
    if init is None or parameter is None or depth > _DEEPEST or (kept and not defaults):
        return frozenset({None})
    found: set[bool | None] = set()
    for caller, site in ev.constructions(ref):
        owner = ev.project.owner(caller.function)
        if not is_own_use(ev.project, caller.function, site.call.line, init.path):
            return frozenset({None})
        given = argument_for(parameter, ev.project.function(init), site.call)
        if given is None and defaults:  # what `**rest` may hold, only users know
            given = parameter.default
        if isinstance(given, Name) and owner is None:
            found |= _said(ev, caller.function, given.id, defaults=defaults)
        elif isinstance(given, Name) and owner is not None:
            passed_on = caller.function == ev.project.method(owner, "__init__")
            found |= _given(ev, owner, given.id, depth + 1, defaults=defaults) if passed_on else {None}
        else:
            found.add(_amount(given))
    return frozenset(found or ({_amount(parameter.default)} if defaults else ()))


def _said(ev: Evaluation, factory: FunctionRef, name: str, *, defaults: bool) -> frozenset[bool | None]:
    """What the calls of a function write out for a parameter that it hands to the constructor."""
    written = picked.written_out(ev, factory, name, strict=not defaults)
    numbers = (Constant(one) if isinstance(one, int | float) else None for one in written or (None,))
    return frozenset(map(_amount, numbers))


def _amount(value: Expr | None) -> bool | None:
    """Whether a constant is more than nothing."""
    match value:
        case Constant(bool() | int() | float() as amount) if amount >= 0:
            return amount > 0
    return None
