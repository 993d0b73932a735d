"""Rules about graph breaks: findings from the lines at which a graph ends."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.breaks.frames import Break
from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, is_idle, region
from dynamo_lint.rules.messages import storm
from dynamo_lint.state.provenance import Tables

_COSTS = {
    "break": "a graph break: what stands before and behind the line is compiled apart, and Python runs between",
    "eager": "the whole function runs eagerly, without a warning: Dynamo cannot go on after this line",
    "stale": "compiled calls get the value of the first call for good",
}


def break_rule(code: str, name: str, why: str, advice: str) -> Rule:
    """A rule that reports the lines of its code; `why` goes on from what a line does."""

    def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
        """One finding per line."""
        for one in tables.breaks:
            if one.row.code == rule.code and not is_idle(tables, one.hot, one.position):
                yield finding(rule, tables, context, one.hot, one.position, _claim(one, tables, context))

    def _claim(one: Break, tables: Tables, context: Context) -> Claim:
        reason = f", {why}" if why else ""
        return Claim(
            message=f"`{one.text}` in the compiled `{region(tables, one.hot)}` {one.row.does}{reason}",
            cost=_cost(one, context),
            effect=one.effect,
            subject=one.text,
            advice=advice,
            step=one.row.does,
            severity=None if one.usual else "note",
        )

    return Rule(code, name, check)


def _cost(one: Break, context: Context) -> str:
    if one.effect == "storm":
        return storm(context.recompile_limit)
    if one.raises and one.effect != "stale":
        return "the call fails: with `fullgraph=True` a graph break is an error"
    found = _COSTS[one.effect]
    return found if one.usual else f"{found}, where it runs"
