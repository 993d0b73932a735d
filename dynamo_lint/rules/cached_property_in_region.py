"""DYN410: cached properties that compiled code asks for first."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

CACHED_PROPERTY_IN_REGION = break_rule(
    "DYN410",
    "cached-property-in-region",
    why="under a lock that Dynamo does not trace",
    advice="ask for the property once in `__init__`, or make it a plain attribute",
)
