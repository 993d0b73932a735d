"""DYN404: operators whose result has a size that depends on values."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not put into a graph by default",
    advice=(
        "weigh with the mask instead of picking by it, give the size (`output_size=`, "
        "`num_classes=`), or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`"
    ),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


DYNAMIC_SHAPE_OPERATOR = Rule("DYN404", "dynamic-shape-operator", check)
