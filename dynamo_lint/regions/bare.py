"""Bare modules that others are hung on: `self.mid = nn.Module(); self.mid.block = Block()`."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM
from dynamo_lint.program.refs import FunctionRef, Tier
from dynamo_lint.regions.values import EMPTY, Bare, Group, Scope, Values, freeze, union
from dynamo_lint.values.points_to import Evaluation


def hung_on(ev: Evaluation, bare: Bare, name: str) -> Values:
    """What code of the same file stores as `bare.name`, or puts into the container there."""
    nothing: Values = EMPTY
    return ev.ask(("hung on", bare, name), lambda: _hung_on(ev, bare, name), nothing)


def _hung_on(ev: Evaluation, bare: Bare, name: str) -> Values:
    held: list[Values] = []
    inside: list[Values] = []
    for key, function in ev.project.files[bare.path].functions.items():
        where = FunctionRef(bare.path, key)
        scope = Scope(where, ev.project.owner(where))
        for store in function.stores:
            match store.owner:
                case owner if store.name == name and bare in ev.value(owner, scope):
                    held.append(ev.value(store.value, scope))
                case facts.Attribute(owner, attribute) if store.name == ITEM and attribute == name:
                    if bare in ev.value(owner, scope):
                        inside.append(ev.value(store.value, scope))
    contents = union(inside)
    if contents:
        held.append({Group("each", (freeze(contents),)): Tier.CERTAIN})
    return union(held)
