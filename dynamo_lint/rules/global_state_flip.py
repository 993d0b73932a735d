"""DYN509: a state of the process that Dynamo guards on changes between calls."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.model import Met
from dynamo_lint.models.drivers import AUTOCAST, GRADIENTS, NAMED
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import stated, turning
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each state and compiled function."""
    for one in turning(tables, _flip):
        effect, entries = one.effect(context)
        what, last = NAMED[one.met[-1].what], one.met[-1]
        claim = Claim(
            message=f"{what} changes between calls of compiled code, and Dynamo guards on it",
            cost=one.cost(context, "it"),
            effect=effect,
            entries=entries,
            severity="note" if last.doubt else None,
            subject=what,
            advice="set it once, before the first compiled call",
            step=f"changes {what}",
        )
        yield stated(rule, tables, context, one.site, claim, one.met[-1])


def _flip(met: Met) -> str:
    """The state that a call finds changed, but for those that DYN110 is about."""
    return met.what if met.what in NAMED and met.what not in (GRADIENTS, AUTOCAST) else ""


GLOBAL_STATE_FLIP = Rule("DYN509", "global-state-flip", check)
