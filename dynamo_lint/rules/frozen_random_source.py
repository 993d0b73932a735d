"""DYN306: a `random.Random` of its own in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="Dynamo runs it once while tracing and keeps the number",
    advice=(
        "ask the object outside of the compiled region and pass a tensor, or draw with "
        "`torch.rand` inside of it"
    ),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


FROZEN_RANDOM_SOURCE = Rule("DYN306", "frozen-random-source", check)
