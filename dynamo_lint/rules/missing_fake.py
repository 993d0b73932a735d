"""DYN516: compiled code calls a custom operator that has no fake."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.driving import line_of
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each call of such an operator."""
    for one in tables.fakeless:
        claim = Claim(
            message=f"`{one.name}` is a custom operator without a fake, called in the compiled "
            f"`{region(tables, one.hot)}`: Dynamo cannot tell what it gives",
            cost="the call fails with a TorchRuntimeError; with `suppress_errors`, all of it runs eagerly",
            effect="eager",
            subject=one.name,
            advice=f"register one: `@{one.name}.register_fake`, a function that makes an empty result",
            step="calls an operator without a fake",
            related=(Related(one.path, one.made, 1, "made here"),),
        )
        place = line_of(tables, one.hot.function, one.line)
        yield finding(rule, tables, context, one.hot, place, claim)


MISSING_FAKE = Rule("DYN516", "missing-fake", check)
