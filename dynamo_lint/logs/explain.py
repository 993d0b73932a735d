"""Which checks really made a frame compile again: Dynamo's first reason need not be the cause.

For each entry that did not fit, Dynamo names the first check that failed, in the order of its guard tree,
and that order says nothing about the program. A check that failed for one entry and held for another cannot
alone explain a recompile: had it been repaired, the other would still not have fitted. So the smallest set of
checks is sought of which each entry failed at least one, with what is known of the values each entry was for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from dynamo_lint.logs.tally import Told

LARGEST_SET = 4
"""Checks that are tried together."""

Pair = tuple[str, str]
"""A recompile and an earlier entry that did not fit it."""


def explanation(frames: Sequence[Told]) -> tuple[str, ...]:
    """The fewest sources that explain all recompiles of a frame, over all ranks; the most frequent first."""
    failed: dict[tuple[int, Pair], dict[str, float]] = {}
    listed: dict[str, int] = defaultdict(int)
    for number, told in enumerate(frames):
        steady = {source for source in told.checks if _always_new(told, source)}
        for recompile, entries in told.entries:
            for entry, first in entries:
                listed[first] += 1
                failed[number, (recompile, entry)] = {
                    source: weight
                    for source in told.checks
                    if (weight := _weight(told, source, first, recompile, entry, source in steady))
                }
    if not failed:
        return ()
    return _smallest(failed, listed)


def _weight(told: Told, source: str, first: str, recompile: str, entry: str, steady: bool) -> float:
    """How sure it is that a source did not fit an entry: 1 by the log, 0.5 by its habit, 0 not at all."""
    if source == first:
        return 1.0
    before, now = told.guarded.get((entry, source)), told.guarded.get((recompile, source))
    if before is not None and now is not None:
        return float(before != now)
    return 0.5 if steady else 0.0


def _always_new(told: Told, source: str) -> bool:
    """Whether each entry whose value of a source is known was compiled for another one."""
    values = [value for (_, checked), value in told.guarded.items() if checked == source]
    return len(values) > 1 and len(set(values)) == len(values)


def _smallest(failed: dict[tuple[int, Pair], dict[str, float]], listed: dict[str, int]) -> tuple[str, ...]:
    """The best of the smallest sets that meet every pair; all sources if no small one does."""
    sources = sorted({source for one in failed.values() for source in one}, key=lambda one: -listed[one])
    for size in range(1, LARGEST_SET + 1):
        fitting = [
            chosen
            for chosen in combinations(sources[:16], size)
            if all(any(source in one for source in chosen) for one in failed.values())
        ]
        if fitting:
            return max(fitting, key=lambda chosen: _sureness(failed, chosen))
    return tuple(source for source in sources if listed[source])


def _sureness(failed: dict[tuple[int, Pair], dict[str, float]], chosen: tuple[str, ...]) -> float:
    return sum(max((one.get(source, 0.0) for source in chosen), default=0.0) for one in failed.values())
