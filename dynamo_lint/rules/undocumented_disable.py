"""DYN406: eager islands without a reason beside them."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

UNDOCUMENTED_DISABLE = break_rule(
    "DYN406",
    "undocumented-disable",
    why="so that the graph ends before it and another begins behind it",
    advice='say why: `@torch.compiler.disable(reason="…")` or a comment beside it; or let Dynamo trace it',
)
