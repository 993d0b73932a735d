"""DYN401: calls that talk to the world: messages, clocks, files, random numbers of Python."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

SIDE_EFFECT_CALL = break_rule(
    "DYN401",
    "side-effect-call",
    why="which cannot be part of a graph",
    advice="move it out of the compiled region, or put it behind `if not torch.compiler.is_compiling():`",
)
