"""DYN417: sparse, nested and packed tensors, and recurrent layers."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

UNSUPPORTED_TENSOR_KIND = break_rule(
    "DYN417",
    "unsupported-tensor-kind",
    why="which Dynamo does not trace",
    advice="pad and mask, or keep this part out of the compiled region",
)
