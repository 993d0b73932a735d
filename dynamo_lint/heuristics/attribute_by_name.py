"""A guess: the one module that the project stores under a name is what an unknown object has under it."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, ExternalSymbol, FunctionRef
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


def is_hung_outside(project: Project, name: str) -> bool:
    """Whether code stores something under a name on another object than its own, and no definition has it."""
    key = ("hung outside", name)
    if key not in project.memo:
        stores = _stores(project, name)
        of_another = any(not project.is_self(store.owner, where) for where, store in stores)
        project.memo[key] = of_another and not project.times_defined(name)
    return bool(project.memo[key])


def _stores(project: Project, name: str) -> list[tuple[FunctionRef, ir.Store]]:
    return [(w, s) for w, s in project.stores_of(name) if s.value != ir.Constant(None)]


def _only(pts: PointsTo, name: str) -> ValueSet:
    project = pts.project
    if not is_hung_outside(project, name):
        return EMPTY
    stores = _stores(project, name)
    parts = [pts.value(store.value, Context(where, project.owner(where))) for where, store in stores]
    modules = {v for part in parts for v in part if isinstance(v, Instance) and project.is_module(v.ref)}
    known = all(modules.issuperset(part) and part for part in parts)
    return at_best(union(parts), Confidence.LIKELY) if known and len(modules) == 1 else EMPTY
