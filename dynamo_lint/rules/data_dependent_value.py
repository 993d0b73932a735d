"""DYN402: values taken out of tensors."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which is not known while Dynamo traces",
    advice=(
        "keep the tensor: do the arithmetic on it, use `torch.where`, `index_select` or a mask, "
        "or pass the number in"
    ),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


DATA_DEPENDENT_VALUE = Rule("DYN402", "data-dependent-value", check)
