"""What is set on a class itself: `cls._instance = cls()`, as who keeps one object for all callers does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Constant
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.values import EMPTY, Scope, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation


def set_on_class(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What functions store under a name that the body of the class binds to None, to be filled later."""
    project = ev.project
    bound = project.class_bindings(ref).get(name, ())
    if not any(binding.value == Constant(None) for binding in bound):
        return EMPTY
    parts = []
    for where, store in project.stores_of(name):
        if project.is_self(store.owner, where):
            owner = project.owner(where)
            is_own = owner is not None and ref in project.mro(owner)
            found = is_own and project.method_kind(where) in ("classmethod", "staticmethod")
        else:
            found = ref in project.symbols(store.owner, where.path, where.key)
        if found:
            parts.append(ev.value(store.value, Scope(where, project.owner(where))))
    return union(parts, Tier.LIKELY)
