"""Budgets for CI: how much a probe may compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dynamo_lint.confirm.receipt import Receipt
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.logs.break_text import INTENDED


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that each probe may cost; None is no limit."""

    recompiles: int | None = None
    graph_breaks: int | None = None
    graphs: int | None = None


def exceeded(reports: Sequence[ProbeReport], budget: Budget) -> list[str]:
    """For each probe that costs too much, one sentence for each thing that it costs too much of."""
    return [
        f"{report.name}: {text}"
        for report in reports
        if report.reply.receipt is not None
        for text in over(report.reply.receipt, budget)
    ]


def over(receipt: Receipt, budget: Budget) -> Iterator[str]:
    """Return the figures of a receipt that exceed a budget; breaks that the code asks for are not counted."""
    breaks = sum(one.id not in INTENDED for one in receipt.breaks)
    for what, count, most in (
        ("recompiles", len(receipt.recompiles), budget.recompiles),
        ("graph breaks", breaks, budget.graph_breaks),
        ("graphs", len(receipt.compiles), budget.graphs),
    ):
        if most is not None and count > most:
            yield f"{count} {what}, but the budget is {most}"
