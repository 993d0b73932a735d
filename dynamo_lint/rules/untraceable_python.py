"""DYN411: Python that Dynamo cannot trace."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

UNTRACEABLE_PYTHON = break_rule(
    "DYN411",
    "untraceable-python",
    why="",
    advice="compute it once outside of the compiled region and keep the result",
)
