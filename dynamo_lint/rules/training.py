"""Whether compiled code does something else in training than in evaluation."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.state.provenance import Tables

PARTS = ("Dropout", "BatchNorm", "InstanceNorm", "RReLU", "MultiheadAttention", "Transformer", "DropPath")


def cares_for_training(tables: Tables) -> bool:
    """Some hot function asks `self.training`, or some hot module holds a part that does."""
    for hot in tables.regions.hot:
        if any(load.name == "training" for load in tables.project.function(hot.function).loads):
            return True
    owners = {hot.receiver for hot in tables.regions.hot if hot.receiver is not None}
    return any(
        isinstance(store.value, ir.Call) and (terminal_name(store.value) or "").startswith(PARTS)
        for owner in owners
        for part in tables.project.mro(owner)
        for stores in tables.project.own_stores(part).values()
        for _, store in stores
    )
