"""DYN413: context managers that Dynamo cannot enter."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

UNTRACEABLE_CONTEXT_MANAGER = break_rule(
    "DYN413",
    "untraceable-context-manager",
    why="",
    advice="enter it around the compiled call, or name the device, dtype or mode where it is used",
)
