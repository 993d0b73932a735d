"""DYN418: imports that fail in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="and if it is, the whole function runs eagerly",
    advice="try the import at the top of the file and keep whether it worked",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


FAILING_IMPORT = Rule("DYN418", "failing-import", check)
