"""DYN406: eager islands without a reason beside them."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="so that the graph ends before it and another begins behind it",
    advice=('say why: `@torch.compiler.disable(reason="…")` or a comment beside it; or let Dynamo trace it'),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


UNDOCUMENTED_DISABLE = Rule("DYN406", "undocumented-disable", check)
