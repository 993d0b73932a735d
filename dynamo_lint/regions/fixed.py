"""Attributes that every construction of a module sets alike: which lines of its methods never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Constant, Name
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.flow import argument_for, constructions
from dynamo_lint.regions.helpers import as_given
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.rehearsals import is_kept, is_own_use
from dynamo_lint.regions.shown import stays

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_DEEPEST = 4


def never_runs(ev: Evaluation, ref: ClassRef, method: FunctionRef, line: int) -> bool:
    """Whether a line of a method runs only if a flag of the instance is what no construction makes it."""
    return any(
        first <= line <= last and _truth(ev, ref, flag) is (not holds)
        for first, last, flag, holds in ev.project.function(method).flags
    )


def _truth(ev: Evaluation, ref: ClassRef, flag: str) -> bool | None:
    """What a flag is that the constructor only keeps: known where all who construct the class say the same.

    Of a class with heirs nothing is known: theirs are instances of it too.
    """
    init, order = ev.project.method(ref, "__init__"), ev.project.mro(ref)
    stores = [one for part in order for one in ev.project.own_stores(part).get(flag, ())]
    if len(stores) != 1 or stores[0][0] != init or not stays(ev.project, ref, flag) or heirs(ev.project, ref):
        return None
    if any(flag in ev.project.class_bindings(part) for part in order):
        return None  # what the body of the class says holds where the constructor stores nothing
    value = stores[0][1].value
    truths = _given(ev, ref, value.id, 0) if isinstance(value, Name) else frozenset()
    return next(iter(truths)) if len(truths) == 1 else None


def _given(ev: Evaluation, ref: ClassRef, name: str, depth: int) -> frozenset[bool | None]:
    """What constructions of a class say for a parameter; None of one that says nothing, or nothing known."""
    init = ev.project.method(ref, "__init__")
    parameter = as_given(ev.project.function(init), Name(name)) if init is not None else None
    kept = is_kept(ev.project, ref.name, ev.project.class_(ref).decorators)
    if init is None or parameter is None or depth > _DEEPEST or kept:
        return frozenset({None})
    found: set[bool | None] = set()
    for caller, site in constructions(ev, ref):
        owner = ev.project.owner(caller.function)
        if not is_own_use(ev.project, caller.function, site.call.line, init.path):
            return frozenset({None})
        match argument_for(parameter, ev.project.function(init), site.call):
            case Constant(bool() as truth):
                found.add(truth)
            case Name(passed) if owner is not None and caller.function == ev.project.method(
                owner, "__init__"
            ):
                found |= _given(ev, owner, passed, depth + 1)
            case _:
                found.add(None)
    return frozenset(found)
