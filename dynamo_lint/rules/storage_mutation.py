"""DYN415: storage of tensors that compiled code replaces."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not trace",
    advice="write in place (`x.copy_(…)`), or make a new tensor",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


STORAGE_MUTATION = Rule("DYN415", "storage-mutation", check)
