"""DYN508: compiled code changes a setting of Dynamo."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not trace",
    advice="make the setting around the compiled calls, or once before the first of them",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


SETTING_IN_REGION = Rule("DYN508", "setting-in-region", check)
