"""Holds a job to the limits of a contract."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.logs.costs import Costs
from dynamo_lint.logs.functions import functions
from dynamo_lint.logs.model import Break, Budget, Job
from dynamo_lint.logs.texts import INTENDED


def budgets(job: Job, contract: Contract, logged: Iterable[str], home: Path = Path()) -> Iterator[Budget]:
    """Hold a job against each limit of the contract; `logged` are the settings that were on.

    The paths of a contract are relative to `home`.
    """
    known = set(logged)
    none = 0 if "graph_breaks" in known else None
    recompiles = sum(one.count for one in job.recompiles)
    entries: dict[str, list[ExpectedBreaks]] = defaultdict(list)
    named: dict[str, list[ExpectedBreaks]] = defaultdict(list)
    for entry in contract.expected_breaks:
        entries[entry.path.rpartition("/")[2]].append(entry)
        if entry.function:
            named[entry.function].append(entry)
    expected: dict[ExpectedBreaks, list[Break]] = {entry: [] for entry in contract.expected_breaks}
    rest = []
    for broken in job.breaks:
        inside = [entry for entry in entries[broken.path.rpartition("/")[2]] if _is_in(broken, entry, home)]
        inside += [entry for entry in named[broken.disabled] if entry not in inside]
        for entry in inside:
            expected[entry].append(broken)
        if not inside:
            rest.append(broken)
    islands = tuple((broken.path, broken.line) for broken in rest if broken.id in INTENDED)
    others = sum(broken.count for broken in rest if broken.id not in INTENDED)
    limits = (
        ("max-recompiles", contract.max_recompiles, recompiles or (0 if "recompiles" in known else None)),
        ("max-breaks", contract.max_breaks, others or none),
        ("max-compiles", contract.max_compiles, job.compiles),
        ("max-limit-hits", contract.max_limit_hits, len(job.limits)),
    )
    yield from (Budget(key, most, seen) for key, most, seen in limits if most is not None)
    yield from _costs(job.costs, contract)
    for entry, breaks in expected.items():
        yield Budget(
            f"expected-breaks {entry.place}",
            entry.count,
            sum(broken.once for broken in breaks) or none,
            tuple((broken.path, broken.line) for broken in breaks),
            islands if entry.count and not breaks else (),
        )


def _costs(costs: Costs | None, contract: Contract) -> Iterator[Budget]:
    """The limits that only a trace proves; of several ranks the worst counts."""
    ranks = () if costs is None else costs.ranks
    if (after := contract.max_recompiles_after) is not None:
        seen = max((rank.recompiles_after(after.compiles, after.seconds) for rank in ranks), default=None)
        yield Budget(f"max-recompiles-after {after}", 0, seen)
    if contract.max_compile_seconds is not None:
        spent = max((rank.seconds for rank in ranks), default=None)
        yield Budget("max-compile-seconds", contract.max_compile_seconds, spent)
    if contract.min_cache_hits is not None:
        asked = [rank.caches["fx_graph_cache"].hits for rank in ranks if "fx_graph_cache" in rank.caches]
        hits = min(asked) if asked and len(asked) == len(ranks) else None
        yield Budget("min-cache-hits", contract.min_cache_hits, hits, at_least=True)
    if contract.max_guards is not None:
        guards = [each.guards for each in (costs.functions if costs else ()) if each.guards is not None]
        yield Budget("max-guards", contract.max_guards, max(guards, default=None))


def _is_in(broken: Break, entry: ExpectedBreaks, home: Path) -> bool:
    """Whether a break is in the file, or function of it, that a contract names.

    A log has bare names, so of several functions with one name the source says which has the line.
    """
    if broken.path != entry.path and not broken.path.endswith(f"/{entry.path}"):
        return False
    bare = entry.function.rpartition(".")[2]
    namesakes = [known for known in functions(home / entry.path) if known[0].rpartition(".")[2] == bare]
    if len(namesakes) > 1:
        return any(name == entry.function and first <= broken.line <= last for name, first, last in namesakes)
    return bare in ("", broken.function)
