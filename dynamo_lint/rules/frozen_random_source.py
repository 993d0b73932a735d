"""DYN306: a `random.Random` of its own in compiled code."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

FROZEN_RANDOM_SOURCE = break_rule(
    "DYN306",
    "frozen-random-source",
    why="Dynamo runs it once while tracing and keeps the number",
    advice="ask the object outside of the compiled region and pass a tensor, or draw with `torch.rand` inside of it",
)
