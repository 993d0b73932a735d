"""DYN412: backward passes and hooks within compiled code."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

AUTOGRAD_IN_REGION = break_rule(
    "DYN412",
    "autograd-in-region",
    why="which is not part of a forward graph",
    advice="take it out of the compiled region, use `torch.func.grad`, or set `torch._dynamo.config.trace_autograd_ops = True`",
)
