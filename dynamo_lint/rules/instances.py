"""What the rules about instances of regional units share: how many versions, and what makes each its own."""

from __future__ import annotations

from dynamo_lint.findings import Related
from dynamo_lint.rules.base import Context
from dynamo_lint.rules.settings import entry_keywords
from dynamo_lint.state.origins import Tables
from dynamo_lint.units.consumed import Consumed
from dynamo_lint.units.model import Difference


def versions(tables: Tables, found: Consumed) -> int | None:
    """How many compiled versions a difference costs, where that is known."""
    count = found.difference.count
    if count.values is not None:
        return count.values
    known = [getattr(tables.regions.entries[index], "instances", None) for index in found.hot.entries]
    numbers = [number for number in known if isinstance(number, int)]
    return max(numbers) if numbers and count.each else None


def isolated(tables: Tables, context: Context, found: Consumed) -> bool:
    """Every instance is compiled for itself anyway (torch 2.13: `isolate_recompiles=True`)."""
    if context.torch_version < (2, 13):
        return False
    entries = [tables.regions.entries[index] for index in found.hot.entries]
    return bool(entries) and all(
        entry_keywords(tables.project, entry).get("isolate_recompiles") is True for entry in entries
    )


def made_here(difference: Difference) -> tuple[tuple[str, int], Related]:
    """Where the instances are made."""
    text = f"instances of `{difference.unit.name}` are made here"
    return (difference.path, difference.line), Related(difference.path, difference.line, 1, text)
