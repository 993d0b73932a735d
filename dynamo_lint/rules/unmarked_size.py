"""DYN507: a size varies that nothing marks as dynamic."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.guards import SIZES
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated, turning
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One note for each call that makes a size dynamic by its second value."""
    for one in turning(tables, lambda met: SIZES if met.what == SIZES and not met.static else ""):
        name = name_of(one.met[-1].unit)
        claim = Claim(
            message=f"`{name}` is called with other sizes here, and nothing marks the axis that varies",
            cost="one extra compile, after which the size is dynamic",
            effect="once",
            entries=len(one.met) + 1,
            severity="note",
            subject=f"{name}: sizes",
            advice="mark the axis on the first batch: `torch._dynamo.maybe_mark_dynamic(batch, axis)`",
            step="passes another size",
        )
        yield stated(rule, tables, context, one.site, claim, one.met[-1])


UNMARKED_SIZE = Rule("DYN507", "unmarked-size", check)
