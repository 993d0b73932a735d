"""DYN407: parameters and modules that compiled code makes anew in each call."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

MODULE_BUILT_IN_FORWARD = break_rule(
    "DYN407",
    "module-built-in-forward",
    why="which Dynamo leaves to Python",
    advice="build it in `__init__` and call it here",
)
