"""DYN506: sizes are constants of the compiled code, and they vary."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.guards import SIZES
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import name_of, stated, turning
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each call that hands static code another size than before."""
    for one in turning(tables, lambda met: SIZES if met.what == SIZES and met.static else ""):
        effect, entries = one.effect(context)
        last = one.met[-1]
        option = last.compile is not None and last.compile.keyword("dynamic") is False
        why = "`dynamic=False`" if option else "`automatic_dynamic_shapes = False`"
        name = name_of(last.unit)
        claim = Claim(
            message=f"`{name}` is called with other sizes here, and {why} makes each size a constant",
            cost=one.cost(context, "a size"),
            effect=effect,
            entries=entries,
            severity="note" if last.doubt else None,
            subject=f"{name}: sizes",
            advice="mark the axis: `torch._dynamo.maybe_mark_dynamic(batch, axis)`; or pad to few sizes",
            step="passes another size",
        )
        yield stated(rule, tables, context, one.site, claim, one.met[-1])


STATIC_SIZES = Rule("DYN506", "static-sizes", check)
