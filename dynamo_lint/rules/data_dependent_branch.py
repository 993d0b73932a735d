"""DYN403: branches on values in tensors."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which is not known while Dynamo traces",
    advice=("compute both and pick with `torch.where`, use `torch.cond`, or decide before the compiled call"),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


DATA_DEPENDENT_BRANCH = Rule("DYN403", "data-dependent-branch", check)
