"""DYN409: texts made of a changing number."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="and Dynamo has no number for it once it is dynamic",
    why_again="and Dynamo makes a constant of it, and guards on it",
    advice="make the text in eager code and pass it, or what is found by it, in",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


FORMATTED_DYNAMIC_VALUE = Rule("DYN409", "formatted-dynamic-value", check)
