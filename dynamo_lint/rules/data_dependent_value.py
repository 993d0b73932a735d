"""DYN402: values taken out of tensors."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

DATA_DEPENDENT_VALUE = break_rule(
    "DYN402",
    "data-dependent-value",
    why="which is not known while Dynamo traces",
    advice="keep the tensor: do the arithmetic on it, use `torch.where`, `index_select` or a mask, or pass the number in",
)
