"""Holds a job against what it may cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.logs.model import Break, Budget, Job
from dynamo_lint.logs.texts import INTENDED


def budgets(job: Job, contract: Contract, logged: Iterable[str]) -> Iterator[Budget]:
    """Hold a job against each limit of the contract; `logged` are the settings that were on."""
    known = set(logged)
    counted = [one for one in job.breaks if one.id not in INTENDED]

    def broken(breaks: Iterable[Break]) -> int | None:
        return sum(one.count for one in breaks) or (0 if "graph_breaks" in known else None)

    recompiles = sum(one.count for one in job.recompiles)
    rest = (one for one in counted if not any(_is_in(one, place) for place in contract.expected_breaks))
    limits = (
        ("max-recompiles", contract.max_recompiles, recompiles or (0 if "recompiles" in known else None)),
        ("max-breaks", contract.max_breaks, broken(rest)),
        ("max-compiles", contract.max_compiles, job.compiles),
        ("max-limit-hits", contract.max_limit_hits, len(job.limits)),
    )
    yield from (Budget(key, most, seen) for key, most, seen in limits if most is not None)
    for place in contract.expected_breaks:
        breaks = broken(one for one in counted if _is_in(one, place))
        yield Budget(f"expected-breaks {place.place}", place.count, breaks)


def _is_in(one: Break, place: ExpectedBreaks) -> bool:
    """Whether a break is in the file, or function of it, that a contract names."""
    same = one.path == place.path or one.path.endswith(f"/{place.path}")
    return same and place.function.rpartition(".")[2] in ("", one.function)


def unproved(found: Sequence[Budget]) -> list[Budget]:
    """Those that the log cannot tell of."""
    return [one for one in found if one.seen is None]
