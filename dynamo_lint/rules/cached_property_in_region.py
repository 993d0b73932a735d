"""DYN410: cached properties that compiled code asks for first."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="under a lock that Dynamo does not trace",
    advice="ask for the property once in `__init__`, or make it a plain attribute",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


CACHED_PROPERTY_IN_REGION = Rule("DYN410", "cached-property-in-region", check)
