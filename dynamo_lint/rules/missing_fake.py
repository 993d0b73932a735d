"""DYN516: compiled code calls a custom operator that has no fake."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed, region
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such operator and compiled function that calls it, where the operator is made."""
    for one in tables.fakeless:
        claim = Claim(
            message=f"`{one.name}` is a custom operator without a fake, called in the compiled "
            f"`{region(tables, one.hot)}`: Dynamo cannot tell what it gives",
            cost="the call fails with a TorchRuntimeError; with `suppress_errors`, all of it runs eagerly",
            effect="eager",
            subject=one.name,
            advice=f"register one: `@{one.name}.register_fake`, a function that makes an empty result",
            step="an operator without a fake",
            related=(Related(one.hot.function.path, one.line, 1, "called here"),),
        )
        maker = FunctionRef(one.path, MODULE_KEY)
        yield placed(
            rule, context, one.path, line_of(tables, maker, one.made), maker.id, claim, one.hot, tables
        )


MISSING_FAKE = Rule("DYN516", "missing-fake", check)
