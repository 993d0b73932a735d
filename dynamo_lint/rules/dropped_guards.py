"""DYN303: a region whose guards are dropped reads state that changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.models.frameworks import DECORATORS
from dynamo_lint.regions.entries import calls_at
from dynamo_lint.regions.model import Entry
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.external_scalar_attribute import EXTERNAL_SCALAR_ATTRIBUTE
from dynamo_lint.rules.global_counter import GLOBAL_COUNTER
from dynamo_lint.rules.growing_container import GROWING_CONTAINER
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
DROPPERS = frozenset(name.rpartition(".")[2] for name in DECORATORS)
"""The decorators of frameworks by their last names: they compile once and keep no guard."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Yield the findings of other rules on such a region, as the stale values that they are there."""
    dropped = unguarded_entries(tables)
    if not dropped:
        return
    for other in GUARDED:
        for found in other.check(other, tables, context):
            if found.region in dropped and found.effect != "stale":
                yield replace(
                    found,
                    code=rule.code,
                    name=rule.name,
                    message=f"{found.message.rpartition(', and Dynamo')[0] or found.message}, but the guards "
                    "of this region are dropped",
                    cost="compiled code keeps the value of the first run; no error is raised",
                    effect="stale",
                    entries=None,
                    severity="error",
                )


def unguarded_entries(tables: Tables) -> frozenset[tuple[str, int]]:
    """Path and line of the entries that filter or skip guards."""
    return frozenset(
        (entry.path, entry.line) for entry in tables.regions.entries if _drops_guards(tables, entry)
    )


def _drops_guards(tables: Tables, entry: Entry) -> bool:
    if entry.path not in tables.project.files:
        return False
    if any(terminal_name(decorator) in DROPPERS for decorator in _decorators(tables, entry)):
        return True
    calls = calls_at(tables.project, entry.path, entry.line)
    options = [value for call in calls for name, value in call.keywords if name == "options"]
    return any(_filters(tables, entry, value) for value in options)


def _decorators(tables: Tables, entry: Entry) -> list[ir.Expr]:
    """Those of the definitions whose decorators or `def` an entry points at."""
    memo, key = tables.project.memo, ("decorators by line", entry.path)
    if key not in memo:
        table: dict[int, list[ir.Expr]] = defaultdict(list)
        file = tables.project.files[entry.path]
        definitions: list[ir.Function | ir.Class] = [*file.functions.values(), *file.classes.values()]
        for one in definitions:
            for line in range(one.first_line, one.line + 1) if one.decorators else ():
                table[line] += one.decorators
        memo[key] = dict(table)
    return memo[key].get(entry.line, [])  # type: ignore[attr-defined, no-any-return]


def _filters(tables: Tables, entry: Entry, options: ir.Expr) -> bool:
    """`options={"guard_filter_fn": …}`, also through a name."""
    match options:
        case ir.Display("dict", _, keys):
            return "guard_filter_fn" in keys
        case ir.Name(name):
            return any(
                _filters(tables, entry, binding.value)
                for function in tables.project.files[entry.path].functions.values()
                for binding in function.bindings
                if binding.name == name and isinstance(binding.value, ir.Display)
            )
    return False


DROPPED_GUARDS = Rule("DYN303", "dropped-guards", check)
