"""DYN405: kernels that Dynamo cannot look into."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

OPAQUE_KERNEL = break_rule(
    "DYN405",
    "opaque-kernel",
    why="and Dynamo cannot look into it",
    advice="register it with `torch.library.custom_op` and give it a `register_fake`",
)
