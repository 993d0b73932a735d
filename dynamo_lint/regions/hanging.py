"""What code hangs on objects that nothing is known of: `patcher.model.diffusion_model = transformer`."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.program.refs import External, Tier
from dynamo_lint.regions.values import EMPTY, Bare, Foreign, Instance, Scope, Values, at_best, union
from dynamo_lint.values.points_to import Evaluation


def hung_on_unknown(ev: Evaluation, owners: Values, name: str) -> Values:
    """The one module that the project stores as `anything.name`, for an owner that is not its own.

    Only a name that nothing else in the project has tells that much, and one that code really hangs on an
    object from outside: what a class keeps in its own `self.name` says nothing of an object of a library.
    """
    if any(not isinstance(owner, Foreign | External | Bare) for owner in owners):
        return EMPTY
    homes = {owner.path for owner in owners if isinstance(owner, Bare)}
    if homes and any(where.path in homes for where, _ in ev.project.stores_of(name)):
        return EMPTY  # what the file that makes it hangs there is known
    return ev.ask_nearby(("hung on unknown", name), lambda: _only(ev, name), EMPTY)


def _only(ev: Evaluation, name: str) -> Values:
    project = ev.project
    stores = [(w, s) for w, s in project.stores_of(name) if s.value != facts.Constant(None)]
    if not stores or project.times_defined(name) or all(project.is_self(s.owner, w) for w, s in stores):
        return EMPTY
    parts = [ev.value(store.value, Scope(where, project.owner(where))) for where, store in stores]
    modules = {v for part in parts for v in part if isinstance(v, Instance) and project.is_module(v.ref)}
    known = all(modules.issuperset(part) and part for part in parts)
    return at_best(union(parts), Tier.LIKELY) if known and len(modules) == 1 else EMPTY
