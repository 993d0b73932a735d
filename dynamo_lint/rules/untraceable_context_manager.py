"""DYN413: context managers that Dynamo cannot enter."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="",
    advice="enter it around the compiled call, or name the device, dtype or mode where it is used",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


UNTRACEABLE_CONTEXT_MANAGER = Rule("DYN413", "untraceable-context-manager", check)
