"""Methods that compile something: a call of which nothing is known but its name may well be one of them."""

from __future__ import annotations

from collections.abc import Collection

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import Project


def overridden(
    project: Project, name: str, wanted: Collection[ClassRef | FunctionRef]
) -> frozenset[ClassRef | FunctionRef | None] | None:
    """The methods that a compiling one overrides, if no other of its name is anywhere in the project.

    A call of that name that runs nothing else, or nothing known, is a call of it: `for p in plugins:
    model = p.prepare(model)`. None for all other functions.
    """
    methods = [ref for ref in wanted if isinstance(ref, FunctionRef)]
    if len(wanted) != 1 or not methods:
        return None
    owner, function = project.owner(methods[0]), project.function(methods[0])
    if function.owner is None or owner is None:
        return None
    if not any(terminal_name(site.call.function) == "compile" for site in function.calls):
        return None
    above = [part for part in project.mro(owner) if name in project.class_bindings(part)]
    below = heirs(project, above[-1]) if above else ()
    family = {*above, *(part for part in below if name in project.class_bindings(part))}
    if project.times_defined(name) > len(family):
        return None
    return frozenset(project.method(part, name) for part in above[1:])
