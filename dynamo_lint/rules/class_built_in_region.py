"""DYN416: classes that compiled code writes."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

CLASS_BUILT_IN_REGION = break_rule(
    "DYN416",
    "class-built-in-region",
    why="and Dynamo guards on which class it is",
    advice="write the class at the top of the file",
)
