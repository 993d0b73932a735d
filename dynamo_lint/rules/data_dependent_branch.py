"""DYN403: branches on values in tensors."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

DATA_DEPENDENT_BRANCH = break_rule(
    "DYN403",
    "data-dependent-branch",
    why="which is not known while Dynamo traces",
    advice="compute both and pick with `torch.where`, use `torch.cond`, or decide before the compiled call",
)
