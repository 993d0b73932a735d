"""A guess: the one module that the project stores under a name is what an unknown object has under it."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.program.refs import Confidence, ExternalSymbol
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    Context,
    ExternalInstance,
    Instance,
    ValueSet,
    at_best,
    union,
)
from dynamo_lint.values.points_to import PointsTo


def only_module_stored_as(pts: PointsTo, owners: ValueSet, name: str) -> ValueSet:
    """The one module that the project stores as `anything.name`, for an owner that is not its own.

    Only a name that nothing else in the project has tells that much, and one that code really hangs on an
    object from outside: what a class keeps in its own `self.name` says nothing of an object of a library.
    """
    if any(not isinstance(owner, ExternalInstance | ExternalSymbol | AnonymousModule) for owner in owners):
        return EMPTY
    homes = {owner.path for owner in owners if isinstance(owner, AnonymousModule)}
    if homes and any(where.path in homes for where, _ in pts.project.stores_of(name)):
        return EMPTY  # what the file that makes it hangs there is known
    return pts.ask_within(("hung on unknown", name), lambda: _only(pts, name), EMPTY)


def _only(pts: PointsTo, name: str) -> ValueSet:
    project = pts.project
    stores = [(w, s) for w, s in project.stores_of(name) if s.value != ir.Constant(None)]
    if not stores or project.times_defined(name) or all(project.is_self(s.owner, w) for w, s in stores):
        return EMPTY
    parts = [pts.value(store.value, Context(where, project.owner(where))) for where, store in stores]
    modules = {v for part in parts for v in part if isinstance(v, Instance) and project.is_module(v.ref)}
    known = all(modules.issuperset(part) and part for part in parts)
    return at_best(union(parts), Confidence.LIKELY) if known and len(modules) == 1 else EMPTY
