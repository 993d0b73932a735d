"""DYN401: calls that talk to the world: messages, clocks, files, random numbers of Python."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which cannot be part of a graph",
    advice=("move it out of the compiled region, or put it behind `if not torch.compiler.is_compiling():`"),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


SIDE_EFFECT_CALL = Rule("DYN401", "side-effect-call", check)
