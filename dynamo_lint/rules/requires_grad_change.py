"""DYN408: tensors that are made to need a gradient in compiled code."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

REQUIRES_GRAD_CHANGE = break_rule(
    "DYN408",
    "requires-grad-change",
    why="and it leaves the graph with that",
    advice="set it before the compiled call, or detach what is returned",
)
