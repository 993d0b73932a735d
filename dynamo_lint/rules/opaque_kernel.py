"""DYN405: kernels that Dynamo cannot look into."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Context, Rule
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="and Dynamo cannot look into it",
    advice=(
        'register it: `@torch.library.custom_op("mylib::op", mutates_args=())` on a function with annotated '
        "arguments that calls it, and `@op.register_fake` on one that returns an empty tensor of its shape"
    ),
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line."""
    return broken(rule, tables, context, WORDING)


OPAQUE_KERNEL = Rule("DYN405", "opaque-kernel", check)
