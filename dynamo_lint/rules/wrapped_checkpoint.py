"""DYN517: a checkpoint is made from a compiled wrapper, whose keys begin with `_orig_mod.`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per `state_dict()` of a wrapper that is saved."""
    for saved in tables.practice.saved:
        strictly = "a strict load into the plain model raises"
        claim = Claim(
            message="this `state_dict()` is that of a wrapper: each of its keys begins with `_orig_mod.`",
            cost=strictly if saved.strict else f"{strictly}, and `strict=False` loads nothing, silently",
            effect="",
            severity="warning" if saved.strict else "error",
            subject="state_dict",
            advice="compile in place with `model.compile()`, or save `model._orig_mod.state_dict()`",
            step="saves a wrapper",
        )
        yield at_line(rule, tables, context, saved.where, saved.line, claim)


WRAPPED_CHECKPOINT = Rule("DYN517", "wrapped-checkpoint", check)
