"""Compares the graphs of two probes: with and without a kernel, before and after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from dynamo_lint.confirm.model import NOTHING, GraphBreak
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """The shape of the graphs of two probes, and what only one of them has."""

    names: tuple[str, str]
    graphs: tuple[int, int]
    breaks: tuple[int, int]
    """Lines at which graphs break; islands are among them."""
    breaks_removed: tuple[GraphBreak, ...]
    breaks_added: tuple[GraphBreak, ...]
    operators_removed: Mapping[str, int]
    operators_added: Mapping[str, int]
    """How many more calls of an operator the graphs of one probe have."""

    @property
    def differs(self) -> bool:
        """Whether the graphs have another shape; the order of operators is none."""
        return (
            self.graphs[0] != self.graphs[1]
            or bool(self.breaks_removed or self.breaks_added)
            or bool(self.operators_removed or self.operators_added)
        )


def difference(first: ProbeReport, second: ProbeReport) -> Difference:
    """The difference between two probes. Breaks are alike that have the same reason, wherever they are."""
    ours, theirs = first.reply.receipt or NOTHING, second.reply.receipt or NOTHING
    before = Counter(name for one in ours.compiles for name in one.operations)
    after = Counter(name for one in theirs.compiles for name in one.operations)
    return Difference(
        (first.name, second.name),
        (len(ours.compiles), len(theirs.compiles)),
        (len(ours.breaks), len(theirs.breaks)),
        _only(ours.breaks, theirs.breaks),
        _only(theirs.breaks, ours.breaks),
        dict(sorted((before - after).items())),
        dict(sorted((after - before).items())),
    )


def _only(some: Iterable[GraphBreak], others: Iterable[GraphBreak]) -> tuple[GraphBreak, ...]:
    """The breaks that have no counterpart among others; those of the same line have theirs first."""
    left = Counter(_reason(one) for one in others)
    lines = {(one.path, one.line) for one in others}
    found = []
    for one in sorted(some, key=lambda each: (each.path, each.line) not in lines):
        if left[_reason(one)]:
            left[_reason(one)] -= 1
        else:
            found.append(one)
    return tuple(found)


def _reason(one: GraphBreak) -> str:
    return one.id or one.reason
