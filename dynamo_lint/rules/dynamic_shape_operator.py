"""DYN404: operators whose result has a size that depends on values."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

DYNAMIC_SHAPE_OPERATOR = break_rule(
    "DYN404",
    "dynamic-shape-operator",
    why="which Dynamo does not put into a graph by default",
    advice="weigh with the mask instead of picking by it, give the size (`output_size=`, `num_classes=`), or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`",
)
