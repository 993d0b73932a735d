"""Groups the graph breaks of a job: by what Dynamo could not do, and by the package in which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dynamo_lint.logs.model import Job, Share


def by_reason(job: Job) -> Iterator[Share]:
    """Different breaks by what Dynamo could not do, the most lines first."""
    reasons: dict[str, str] = {}
    for one in job.breaks:
        reasons.setdefault(one.id or one.reason, one.reason)
    for key, share in _shares([(one.id or one.reason, one.path, one.line, one.count) for one in job.breaks]):
        reason = reasons[key]
        yield Share(f"{key}: {reason}" if key != reason else reason, share.lines, share.count)


def by_package(job: Job) -> Iterator[Share]:
    """Different breaks by the package whose code Dynamo could not trace, the most lines first."""
    told = [(one.package or "the project", one.path, one.line, one.count) for one in job.breaks]
    yield from (share for _, share in _shares(told))


def _shares(told: list[tuple[str, str, int, int]]) -> list[tuple[str, Share]]:
    lines: dict[str, set[tuple[str, int]]] = {}
    counts: Counter[str] = Counter()
    for key, path, line, count in told:
        lines.setdefault(key, set()).add((path, line))
        counts[key] += count
    ordered = sorted(lines, key=lambda key: (-len(lines[key]), -counts[key], key))
    return [(key, Share(key, len(lines[key]), counts[key])) for key in ordered]
