"""DYN502: `.compile()` on a module of torch itself compiles nothing."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated, told
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each `.compile()` whose module runs no code but that of torch."""
    for one in told(tables, "builtin"):
        if context.has("torch-modules-compile-in-place"):
            return
        name = name_of(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` compiles nothing: `{name}` has no `forward` but that of torch, which "
            "Dynamo skips when it is compiled in place",
            cost="it runs eagerly, as if the call were not there",
            effect="eager",
            severity="warning" if one.doubt else None,
            subject=f"{name}.compile",
            advice="keep and call what `torch.compile(module)` returns, or compile the module around it",
            step="compiles a module of torch in place",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


UNCOMPILED_BUILTIN = Rule("DYN502", "uncompiled-builtin", check)
