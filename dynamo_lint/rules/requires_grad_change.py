"""DYN408: tensors that are made to need a gradient in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="and it leaves the graph with that",
    advice="set it before the compiled call, or detach what is returned",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


REQUIRES_GRAD_CHANGE = Rule("DYN408", "requires-grad-change", check)
