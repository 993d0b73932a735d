"""Compares two recordings of a job: what it costs more, or less, than before."""

from __future__ import annotations

from collections import Counter

from dynamo_lint.logs.model import Change, Job


def trend(old: Job, new: Job) -> tuple[Change, ...]:
    """The figures of two whole jobs, then those of functions and files that have changed.

    Functions are told by their name and file, for lines move.
    """
    before, after = _totals(old), _totals(new)
    totals = [Change(what, before[what], after[what]) for what in before]
    details = [
        Change(what, was[what], now[what])
        for was, now in ((_recompiles(old), _recompiles(new)), (_breaks(old), _breaks(new)))
        for what in sorted(was.keys() | now.keys())
        if was[what] != now[what]
    ]
    told = [one for one in totals if one.before is not None or one.after is not None]
    return (*told, *details)


def _totals(job: Job) -> dict[str, float | None]:
    costs = job.costs
    hits = misses = None
    if costs is not None and costs.caches:
        hits = sum(cache.hits for cache in costs.caches.values())
        misses = sum(cache.misses for cache in costs.caches.values())
    return {
        "compiles": job.compiles,
        "recompiles": sum(one.count for one in job.recompiles),
        "graph breaks": sum(one.count for one in job.breaks),
        "limits hit": len(job.limits),
        "seconds of compiling": round(sum(one.seconds for one in costs.ranks), 3) if costs else None,
        "different programs": costs.programs if costs else None,
        "cache hits": hits,
        "cache misses": misses,
    }


def _recompiles(job: Job) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in job.recompiles:
        found[f"recompiles of `{one.frame.function}` in {_name(one.frame.path)} for `{one.source}`"] += (
            one.count
        )
    return found


def _breaks(job: Job) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in job.breaks:
        where = f"`{one.function}` in {_name(one.path)}" if one.function else _name(one.path)
        found[f"graph breaks {one.id} of {where}".replace("  ", " ")] += one.count
    return found


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
