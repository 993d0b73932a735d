"""Findings of the rules about graph breaks, from the lines at which a graph ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.breaks.frames import Break
from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, is_idle, region
from dynamo_lint.rules.interpreted import caught, failures
from dynamo_lint.rules.messages import storm
from dynamo_lint.state.provenance import Tables

_COSTS = {
    "break": "a graph break: what stands before and behind it is compiled apart, with Python in between",
    "eager": "the whole function runs eagerly, without a warning: Dynamo cannot go on after this line",
    "stale": "compiled calls get the value of the first call for good",
}


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one rule."""

    why: str
    """Why the graph ends there: goes on from what the line does; may be empty."""
    advice: str
    why_again: str = ""
    """The same where the line is compiled again and again."""


def broken(rule: Rule, tables: Tables, context: Context, wording: Wording) -> Iterator[Finding]:
    """One finding for each line of a rule's code, but for those that no construction asks for."""
    hidden = [one for handler in caught(tables) for one in failures(tables, handler)]
    for one in tables.breaks:
        if one.row.code != rule.code or one in hidden:
            continue  # a break that only makes a call fail, which the caller does without: see DYN505
        if not is_idle(tables, one.hot, one.position):
            claim = _claim(one, tables, context, wording)
            yield finding(rule, tables, context, one.hot, one.position, claim)


def _claim(one: Break, tables: Tables, context: Context, wording: Wording) -> Claim:
    why = wording.why_again if one.effect == "storm" and wording.why_again else wording.why
    reason = f", {why}" if why else ""
    return Claim(
        message=f"`{one.text}` in the compiled `{region(tables, one.hot)}` {one.row.does}{reason}",
        cost=_cost(one, context),
        effect=one.effect,
        subject=one.text,
        advice=wording.advice,
        step=one.row.does,
        severity=_severity(one),
    )


def _severity(one: Break) -> str | None:
    """A line that may not run is a note; one that raises is an error, whatever it would cost else."""
    if not one.usual or one.row.note:
        return "note"
    return "error" if one.raises and one.effect == "break" else None


def _cost(one: Break, context: Context) -> str:
    if one.effect == "storm":
        return storm(context.recompile_limit)
    if one.raises and one.effect != "stale":
        return "the call fails: with `fullgraph=True` a graph break is an error"
    found = _COSTS[one.effect]
    return found if one.usual else f"{found}, where it runs"
