"""DYN414: seeds and generators of random numbers in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not trace",
    advice="seed before the compiled call, and draw from the default generator inside of it",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


RNG_STATE_IN_REGION = Rule("DYN414", "rng-state-in-region", check)
