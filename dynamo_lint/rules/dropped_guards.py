"""DYN303: a region whose guards are dropped reads state that changes."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.external_scalar_attribute import EXTERNAL_SCALAR_ATTRIBUTE
from dynamo_lint.rules.global_counter import GLOBAL_COUNTER
from dynamo_lint.rules.growing_container import GROWING_CONTAINER
from dynamo_lint.rules.guard_filters import dropped_guards, stale
from dynamo_lint.rules.mutated_scalar_attribute import MUTATED_SCALAR_ATTRIBUTE
from dynamo_lint.rules.none_or_tensor_attribute import NONE_OR_TENSOR_ATTRIBUTE
from dynamo_lint.rules.per_instance_constant import PER_INSTANCE_CONSTANT
from dynamo_lint.state.provenance import Tables

GUARDED = (
    MUTATED_SCALAR_ATTRIBUTE,
    EXTERNAL_SCALAR_ATTRIBUTE,
    NONE_OR_TENSOR_ATTRIBUTE,
    GROWING_CONTAINER,
    GLOBAL_COUNTER,
    PER_INSTANCE_CONSTANT,
)
"""Rules about what a guard would notice."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Yield the findings of other rules on such a region, as the stale values that they are there."""
    dropped = dropped_guards(tables)
    if not dropped.entries:
        return
    for other in GUARDED:
        for found in other.check(other, tables, context):
            if dropped.covers(found) and found.effect != "stale":
                yield stale(rule, found, "the guards of this region are dropped")


DROPPED_GUARDS = Rule("DYN303", "dropped-guards", check)
