"""DYN416: classes that compiled code writes."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="and Dynamo guards on which class it is",
    advice="write the class at the top of the file",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


CLASS_BUILT_IN_REGION = Rule("DYN416", "class-built-in-region", check)
