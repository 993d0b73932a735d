"""DYN414: seeds and generators of random numbers in compiled code."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

RNG_STATE_IN_REGION = break_rule(
    "DYN414",
    "rng-state-in-region",
    why="which Dynamo does not trace",
    advice="seed before the compiled call, and draw from the default generator inside of it",
)
