"""The effect of the fixes, probe by probe, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynamo_lint.confirm.fixed import Comparison
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.terminal import Look, clean

OUTPUTS = {True: "the same", False: "NOT the same", None: "not compared"}


def render(comparisons: Sequence[Comparison], applied: int, look: Look) -> str:
    """A table of costs before and after, and what changed in the graphs."""
    title = f"With {applied} fix{'es' * (applied != 1)} applied to a copy"
    lines = [look.paint(title, bold=True)]
    for one in comparisons:
        before, after = costs(one.before), costs(one.after)
        lines.append(f"  {look.paint(clean(one.before.name), bold=True)}")
        if one.after.reply.error:
            lines.append(look.wrapped(f"failed after the fixes: {one.after.reply.error}", "    ", "    "))
        lines += [f"    {name:<13} {before[name]:>5} -> {after[name]}" for name in before]
        lines.append(f"    {'outputs':<13} {OUTPUTS[one.same_outputs]}")
        graphs = one.graphs or ("as before",)
        lines += [look.wrapped(f"{text}", f"    {'graphs':<13} ", " " * 18) for text in graphs]
    return "\n".join(lines) + "\n"


def as_json(comparisons: Sequence[Comparison], applied: int) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "applied": applied,
        "probes": [
            {
                "name": one.before.name,
                "before": costs(one.before),
                "after": costs(one.after),
                "error": one.after.reply.error or None,
                "same_outputs": one.same_outputs,
                "graphs": list(one.graphs),
            }
            for one in comparisons
        ],
    }


def costs(report: ProbeReport) -> dict[str, int]:
    """How often a probe compiled, compiled again and broke a graph."""
    receipt = report.reply.receipt
    if receipt is None:
        return {"compiles": 0, "recompiles": 0, "graph_breaks": 0}
    return {
        "compiles": len(receipt.compiles),
        "recompiles": len(receipt.recompiles),
        "graph_breaks": len(receipt.breaks),
    }
