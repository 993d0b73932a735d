"""DYN417: sparse, nested and packed tensors, and recurrent layers."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which Dynamo does not trace",
    advice="pad and mask, or keep this part out of the compiled region",
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


UNSUPPORTED_TENSOR_KIND = Rule("DYN417", "unsupported-tensor-kind", check)
