"""DYN412: backward passes and hooks within compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="which is not part of a forward graph",
    advice=(
        "take it out of the compiled region, use `torch.func.grad`, or set "
        "`torch._dynamo.config.trace_autograd_ops = True`"
    ),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


AUTOGRAD_IN_REGION = Rule("DYN412", "autograd-in-region", check)
