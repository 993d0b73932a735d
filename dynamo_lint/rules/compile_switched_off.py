"""DYN504: compiling is asked for, and switched off."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated, told
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each switch under which compiled code is called."""
    for one in told(tables, "off"):
        name = name_of(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` switches compiling off, and `{name}` is called under it",
            cost="these calls run eagerly, without a warning",
            effect="eager",
            severity="note" if one.doubt or one.partly else "warning",
            subject=one.source,
            advice="take it away, or leave it off unless a user asks for it, and log that it is on",
            step="switches compiling off",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


COMPILE_SWITCHED_OFF = Rule("DYN504", "compile-switched-off", check)
