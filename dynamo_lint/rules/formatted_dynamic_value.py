"""DYN409: texts made of a changing number."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

FORMATTED_DYNAMIC_VALUE = break_rule(
    "DYN409",
    "formatted-dynamic-value",
    why="and Dynamo has no number for it once it is dynamic",
    advice="make the text in eager code and pass it, or what is found by it, in",
)
