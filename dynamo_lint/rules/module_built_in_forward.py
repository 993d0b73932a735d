"""DYN407: parameters and modules that compiled code makes anew in each call."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo leaves to Python",
    advice="build it in `__init__` and call it here",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


MODULE_BUILT_IN_FORWARD = Rule("DYN407", "module-built-in-forward", check)
