"""Partials of a project's own: `Factory(Net, width=2)()` calls what the object was made with."""

from __future__ import annotations

from dynamo_lint.index.facts import Attribute, Call, Name
from dynamo_lint.index.walking import untested
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import EMPTY, ClassValue, FunctionValue, Scope, Values
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.points_to import Evaluation


def delayed(ev: Evaluation, ref: ClassRef, call: Call, scope: Scope) -> Values:
    """The functions and classes that an object calls when it is called: what its constructor is given first.

    It stands for them as a `functools.partial` does: all objects of the class together would call anything.
    """
    if not _calls_first(ev.project, ref):
        return EMPTY
    init = ev.project.method(ref, "__init__")
    if init is None:
        return EMPTY
    function = ev.project.function(init)
    given = argument_for(function.parameters[1], function, call)
    found = ev.value(given, scope) if given is not None else EMPTY
    return {value: tier for value, tier in found.items() if isinstance(value, ClassValue | FunctionValue)}


def _calls_first(project: Project, ref: ClassRef) -> bool:
    """Whether a class keeps what it is made with first, and gives back what a call of that gives."""
    key = ("calls first", ref)
    if key not in project.memo:
        run, init = project.method(ref, "__call__"), project.method(ref, "__init__")
        first = project.function(init).parameters[1:2] if init is not None else ()
        kept = {
            name
            for part in project.mro(ref)
            for name, stores in project.own_stores(part).items()
            if first
            and any(at == init and untested(store.value) == Name(first[0].name) for at, store in stores)
        }
        project.memo[key] = (
            run is not None
            and not project.is_module(ref)
            and any(
                isinstance(value, Call)
                and isinstance(value.function, Attribute)
                and value.function.name in kept
                and project.is_self(value.function.value, run)
                for value in project.function(run).returns
            )
        )
    return bool(project.memo[key])
