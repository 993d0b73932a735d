"""Holds a job against what it may cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.logs.break_text import INTENDED
from dynamo_lint.logs.model import Break, Budget, Job


def budgets(job: Job, contract: Contract, logged: Iterable[str]) -> Iterator[Budget]:
    """Hold a job against each limit of the contract; `logged` are the settings that were on."""
    known = set(logged)
    recompiles = sum(one.count for one in job.recompiles)
    if contract.max_recompiles is not None:
        yield Budget(
            "max-recompiles",
            contract.max_recompiles,
            recompiles if recompiles or "recompiles" in known else None,
        )
    counted = [one for one in job.breaks if one.id not in INTENDED]
    if contract.max_breaks is not None:
        rest = [one for one in counted if not any(_is_in(one, place) for place in contract.expected_breaks)]
        breaks = sum(one.count for one in rest)
        yield Budget("max-breaks", contract.max_breaks, breaks if breaks or "graph_breaks" in known else None)
    if contract.max_compiles is not None:
        yield Budget("max-compiles", contract.max_compiles, job.compiles)
    if contract.max_limit_hits is not None:
        yield Budget("max-limit-hits", contract.max_limit_hits, len(job.limits))
    for place in contract.expected_breaks:
        breaks = sum(one.count for one in counted if _is_in(one, place))
        name = f"{place.path}:{place.function}" if place.function else place.path
        yield Budget(
            f"expected-breaks {name}", place.count, breaks if breaks or "graph_breaks" in known else None
        )


def _is_in(one: Break, place: ExpectedBreaks) -> bool:
    """Whether a break is in the file, or function of it, that a contract names."""
    same = one.path == place.path or one.path.endswith(f"/{place.path}")
    return same and place.function.rpartition(".")[2] in ("", one.function)


def unproved(found: Sequence[Budget]) -> list[Budget]:
    """Those that the log cannot tell of."""
    return [one for one in found if one.seen is None]
