"""The costs of compiling that a trace tells of: seconds, graphs, guards and hits of caches.

A trace has a record `compilation_metrics` at the end of each compile, `dynamo_output_graph` for each graph
that a backend was handed, and an artifact for each look into a cache. A text log has none of these.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import median
from sys import float_info
from typing import Any

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.logs.texts import Frame

CACHES = {"fx_graph_cache": "fx graph cache", "aotautograd_cache": "aotautograd cache"}
OUTCOMES = ("hit", "miss", "bypass")
LOOKS = {f"{cache}_{outcome}": (cache, outcome) for cache in CACHES for outcome in OUTCOMES}
"""The names of the artifacts that tell of a cache."""

GRAPH = "dynamo_output_graph"

MOST_COMPILES = 100_000
"""Compiles of one process that are kept one by one."""


@dataclass(frozen=True, slots=True)
class Compile:
    """One compile of a function."""

    frame: Frame
    version: int
    """0 for the first; the others are recompiles."""
    seconds: float
    guards: int | None
    latency: float | None
    """Microseconds that its guards took when they were checked once."""
    stamp: str
    works: bool
    """It gave code; a limit gives none."""


@dataclass(slots=True)
class Meter:
    """The time, graphs and caches of one process."""

    compiles: list[Compile] = field(default_factory=list)
    graphs: Counter[str] = field(default_factory=Counter)
    """Graphs that were handed to a backend, by frame id."""
    frames: dict[str, Frame] = field(default_factory=dict)
    """The function of each frame id."""
    programs: set[str] = field(default_factory=set)
    """A digest of each graph, by its text and sizes."""
    looks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Cache and outcome of each look."""
    first: str = ""
    """The stamp of the first record."""

    def look(self, name: str) -> None:
        """Count a look into a cache."""
        self.looks[LOOKS[name]] += 1

    def graph(self, ident: str, digest: object) -> None:
        """Count a graph."""
        self.graphs[ident.partition("/")[0]] += 1
        if isinstance(digest, str) and len(self.programs) < MOST_COMPILES:
            self.programs.add(digest)

    def compiled(self, ident: str, where: Frame, told: Mapping[str, Any], stamp: str) -> None:
        """Add the compile of a function that a record `compilation_metrics` tells of."""
        frame, _, version = ident.partition("/")
        works = told.get("has_guarded_code") is not False and told.get("fail_type") is None
        guards = told.get("guard_count")
        self.frames.setdefault(frame, where)
        if len(self.compiles) < MOST_COMPILES:
            self.compiles.append(
                Compile(
                    where,
                    int(version) if version.isdecimal() else 0,
                    _seconds(told),
                    guards if type(guards) is int and guards >= 0 else None,
                    _number(told.get("guard_latency_us")),
                    stamp,
                    works and told.get("is_forward") is not False,
                )
            )


def _number(value: object) -> float | None:
    """A number that is not negative; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= float_info.max else None


def _seconds(told: Mapping[str, Any]) -> float:
    """The seconds of a compile, under the name that they have now or had before."""
    micros = _number(told.get("duration_us"))
    return micros / 1e6 if micros is not None else _number(told.get("entire_frame_compile_time_s")) or 0.0


@dataclass(frozen=True, slots=True)
class FunctionCosts:
    """The cost of one function, on all ranks together."""

    frame: Frame
    compiles: int
    graphs: int
    seconds: float
    guards: int | None
    """Those of the compiled version that has most; None where the trace does not tell."""
    guard_latency_us: float | None
    """Microseconds that a check of all guards takes, in the middle of its versions."""


@dataclass(frozen=True, slots=True)
class CacheCosts:
    """Looks into one cache."""

    hits: int
    misses: int
    bypassed: int


@dataclass(frozen=True, slots=True)
class RankCosts:
    """The cost of one process."""

    rank: int | None
    compiles: int
    seconds: float
    first_seconds: float
    """Those of the first version of each function, which a job pays for in its first step."""
    last_compile: float | None
    """Seconds from its first record to the end of its last compile."""
    caches: Mapping[str, CacheCosts]
    recompiled: tuple[tuple[int, float | None], ...]
    """For each recompile, the compiles before it and the seconds since the first record."""

    def recompiles_after(self, compiles: int | None, seconds: float | None) -> int:
        """The recompiles behind the first compiles or seconds."""
        return sum(
            (compiles is not None and before >= compiles)
            or (seconds is not None and elapsed is not None and elapsed > seconds)
            for before, elapsed in self.recompiled
        )


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of compiling for a whole job."""

    functions: tuple[FunctionCosts, ...]
    """The most expensive first."""
    ranks: tuple[RankCosts, ...]
    programs: int | None
    """Graphs that differ in their text or sizes; None where the trace does not tell."""

    @property
    def caches(self) -> dict[str, CacheCosts]:
        """The looks of all ranks into each cache that was asked."""
        found: dict[str, CacheCosts] = {}
        for rank in self.ranks:
            for name, more in rank.caches.items():
                before = found.get(name, CacheCosts(0, 0, 0))
                found[name] = CacheCosts(
                    before.hits + more.hits, before.misses + more.misses, before.bypassed + more.bypassed
                )
        return found


def costs(meters: Sequence[tuple[int | None, Meter]]) -> Costs | None:
    """The costs of a job from those of its processes, each with its rank; None where no trace tells any."""
    measured = [(rank, meter) for rank, meter in meters if any(each.works for each in meter.compiles)]
    if not measured:
        return None
    programs = {digest for _, meter in measured for digest in meter.programs}
    return Costs(
        tuple(_functions(meter for _, meter in measured)),
        tuple(_rank(rank, meter) for rank, meter in measured),
        len(programs) or None,
    )


def _functions(meters: Iterable[Meter]) -> Iterator[FunctionCosts]:
    by_frame: dict[Frame, list[Compile]] = defaultdict(list)
    graphs: Counter[Frame] = Counter()
    for meter in meters:
        for compile_ in meter.compiles:
            by_frame[compile_.frame].append(compile_)
        for ident, number in meter.graphs.items():
            if (frame := meter.frames.get(ident)) is not None:
                graphs[frame] += number
    totals = {frame: sum(each.seconds for each in each_of) for frame, each_of in by_frame.items()}
    for frame in sorted(by_frame, key=lambda frame: -totals[frame]):
        compiles = by_frame[frame]
        latencies = [each.latency for each in compiles if each.latency is not None]
        yield FunctionCosts(
            frame,
            sum(each.works for each in compiles),
            graphs[frame],
            round(totals[frame], 3),
            max((each.guards for each in compiles if each.guards is not None), default=None),
            median(latencies) if latencies else None,
        )


def _rank(rank: int | None, meter: Meter) -> RankCosts:
    working = [each for each in meter.compiles if each.works]
    recompiled = tuple(
        (number, _elapsed(meter.first, each.stamp)) for number, each in enumerate(working) if each.version
    )
    caches = {cache for cache, _ in meter.looks}
    return RankCosts(
        rank,
        len(working),
        round(sum(each.seconds for each in meter.compiles), 3),
        round(sum(each.seconds for each in meter.compiles if not each.version), 3),
        _elapsed(meter.first, meter.compiles[-1].stamp),
        {
            cache: CacheCosts(*(meter.looks[cache, outcome] for outcome in OUTCOMES))
            for cache in CACHES
            if cache in caches
        },
        recompiled,
    )


def _elapsed(first: str, stamp: str) -> float | None:
    """The seconds between two stamps; one that is earlier is of the next year."""
    before, after = moment(first), moment(stamp)
    if before is None or after is None:
        return None
    return round(after - before if after >= before else after - before + 366 * 86_400, 3)


def moment(stamp: str) -> float | None:
    """`MMDD hh:mm:ss.ffffff` in seconds of a leap year; None for a time that is none."""
    try:
        return datetime.strptime(f"2000{stamp[:20]}", "%Y%m%d %H:%M:%S.%f").timestamp()
    except ValueError:
        return None
