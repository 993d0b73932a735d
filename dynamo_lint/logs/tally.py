"""Adds up the records of a job, compiles, their reasons, graph breaks and limits, and holds it to budgets."""

from __future__ import annotations

import gzip
import importlib
import os
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.logs.costs import GRAPH, LOOKS, Meter, costs, moment
from dynamo_lint.logs.failures import LIMIT, Failure, Watcher, failures
from dynamo_lint.logs.model import Break, Job, Limit, Moment, Rank, Recompiles
from dynamo_lint.logs.records import Record, read_json, records, told_number, told_text
from dynamo_lint.logs.texts import (
    LONGEST_TEXT,
    Check,
    Frame,
    place_in,
    read_break,
    read_check,
    whole,
)
from dynamo_lint.trouble import Trouble

MOST_RECORDS = 64
"""Recompiles of a frame whose reasons are kept one by one; more would say the same again."""

MOST_REASONS = 256
"""Reasons of one recompile that are read: torch has one for each earlier entry, and makes no more entries."""

MOST_VALUES = 8
MOST_MOMENTS = 4_096
MOST_NAMED = 3

_RECOMPILING = "Recompiling function "
_LIMITED = "function: '"
_REASON = re.compile(r"(?:^|\s|- )(?P<entry>\d{1,9}/\d{1,9}): (?P<told>.+)$")
_HIT = re.compile(r"torch\._dynamo hit config\.(?P<limit>\w+) \((?P<value>\d+)\)")
_LAST = re.compile(r"last reason: (?:\d+/\d+: )?(?P<told>.+)$")
_FILE = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in ')
_LIMIT_TYPE = re.compile(r"Limit type: (?P<limit>\w+)")
_LIMIT_VALUE = re.compile(r"currently set to (?P<value>\d+)")
_VERSION = re.compile(r'"pytorch_version":\s*"(\d{1,4}\.\d{1,4}[\w.]{0,64})')
_LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|torch|lib[/\\]python3\.\d+)[/\\]|^<")

_PACKAGE = re.compile(r"[/\\](?:site-packages|dist-packages)[/\\](?P<name>\w{1,200})")

ENDINGS = ("", ".err", ".gz", ".json", ".jsonl", ".log", ".out", ".stderr", ".stdout", ".txt", ".zst")
"""How the names of logs in a folder end; a file that is named itself may be called anything."""

_RANK = re.compile(r"rank[_\-.]?(\d{1,5})", re.IGNORECASE)

Progress = Callable[[int, int], None]
"""Is told how many bytes have been read, and of how many."""

Place = tuple[str, int]


@dataclass(slots=True)
class Told:
    """The recompiles of one frame, with enough of their reasons to say which checks explain them."""

    frame: Frame
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    """Source and kind of the check that was listed first, and how many recompiles it stands for."""
    checks: dict[str, Check] = field(default_factory=dict)
    """The first check of each source."""
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    entries: list[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=list)
    """For each recompile its id, and for each earlier entry the entry's id and the source that failed."""
    guarded: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """The values of a source that entries were compiled for, by the entry's id."""
    readings: dict[str, Place] = field(default_factory=dict)
    """The line that made Dynamo check a source."""


@dataclass(slots=True)
class Attempt:
    """A recompile that may still turn out to have been refused by a limit."""

    id: str
    epoch: int
    frame: Frame | None
    reasons: list[tuple[str, Check]]
    stamp: str


@dataclass(slots=True)
class Process:
    """One process of the job, by one kind of log."""

    hint: int | None
    rank: int | None
    number: str
    traced: bool
    frames: dict[Frame, Told] = field(default_factory=dict)
    breaks: dict[tuple[Place, str], Break] = field(default_factory=dict)
    """By the line and the function that the code keeps out of the graph there."""
    limits: dict[tuple[Frame, str], Limit] = field(default_factory=dict)
    compiled: int = 0
    artifacts: set[str] = field(default_factory=set)
    """What it was told to log, as far as its records show."""
    recompiles: int = 0
    pending: Attempt | None = None
    compiling: Frame | None = None
    """The function whose compile a trace has begun and not ended."""
    started: dict[str, Frame] = field(default_factory=dict)
    """The function of each frame id of a trace."""
    files: dict[int, str] = field(default_factory=dict)
    """The names that a trace has numbers for."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The highest compile of each frame id."""
    epoch: int = 0
    meter: Meter = field(default_factory=Meter)
    moments: list[tuple[str, Frame, str]] = field(default_factory=list)
    every: int = 1
    seen: int = 0
    notes: set[str] = field(default_factory=set)

    def hit(self, limit: Limit, stamp: str) -> None:
        """Note that a frame ran into a limit, if that is news."""
        self.limits.setdefault((limit.frame, limit.limit), limit)
        self.moment(stamp, limit.frame, "limit")

    def moment(self, stamp: str, frame: Frame, kind: str) -> None:
        """Keep a moment; of very many, every second, fourth and so on."""
        self.seen += 1
        if not stamp or self.seen % self.every:
            return
        self.moments.append((stamp, frame, kind))
        if len(self.moments) > MOST_MOMENTS:
            del self.moments[::2]
            self.every *= 2


class Tally:
    """Takes the records of a job, and says what they come to."""

    def __init__(self, ignored: Sequence[str] = ()) -> None:
        self._ignored = tuple(ignored)
        self._processes: list[Process] = []
        self._by_number: dict[tuple[int | None, str, bool, int], Process] = {}
        self._by_rank: dict[tuple[int | None, int, str, bool], Process] = {}
        self.torch: str | None = None
        self.notes: set[str] = set()
        self.watchers: list[Watcher] = []
        """One for each log."""

    def add(self, record: Record, hint: int | None = None, log: int = 0) -> None:
        """Count a record; `hint` is the rank that the name of its file tells, `log` numbers the file."""
        if not record.whole:
            self.notes.add("truncated")
        if self._ignored and any(map(record.text.__contains__, self._ignored)):
            return
        process = self._process(record, hint, log)
        process.artifacts.add(record.artifact)
        process.meter.first = process.meter.first or record.stamp
        match record.artifact:
            case "recompiles" | "recompiles_verbose":
                self._recompile(process, record)
            case "graph_breaks":
                self._break(process, record)
            case "guards":
                process.compiled += 1
            case "":
                self._limit(process, record)
            case "recompile_reasons":
                self._traced_recompile(process, record)
            case "dynamo_graph_break_reason":
                self._break(process, record)
            case "dynamo_start":
                self._start(process, record)
            case "str":
                _name_file(process, record)
            case "torch_version":
                self.torch = self.torch or _version(record.text)
            case "compilation_metrics":
                _metrics(process, record)
            case _ if record.artifact == GRAPH:
                process.meter.graph(record.id, (record.data or {}).get("has_payload"))
            case _ if record.artifact in LOOKS:
                process.meter.look(record.artifact)

    def job(self) -> Job:
        """All that was counted."""
        processes, known = self.processes(), set(self.notes)
        for one in processes:
            known |= one.notes
            if one.limits and not one.recompiles:
                known.add("recompiles-not-logged")
        traced = any(one.traced for one in processes)
        ranks = _ranks(processes)
        if len({one.frames for one in ranks.values()}) > 1 or len({one.limits for one in ranks.values()}) > 1:
            known.add("ranks-diverge")
        recompiles = _recompiles(processes)
        if any(one.kind == "size" for one in recompiles):
            known.add("sizes")
        if not processes:
            known = {"no-log-lines"}
        counted = [one.compiled for one in processes if one.traced or "guards" in one.artifacts]
        limits = tuple(
            replace(one, rank=process.rank) for process in processes for one in process.limits.values()
        )
        return Job(
            proof="trace" if traced else "text" if processes else "none",
            torch=self.torch,
            compiles=sum(counted) if counted and len(counted) == len(processes) else None,
            recompiles=recompiles,
            breaks=_breaks(processes),
            limits=limits,
            ranks=ranks,
            moments=_moments(processes),
            costs=costs([(process.rank, process.meter) for process in processes if process.traced]),
            failures=tuple(self._failures(processes, limits)),
            notes=tuple(sorted(known)),
        )

    def _failures(self, processes: list[Process], limits: tuple[Limit, ...]) -> Iterator[Failure]:
        """The classes of failures; limits are those that were counted, for a trace tells of them as well."""
        inside = [
            (
                process.rank,
                f"{process.compiling.function} in {process.compiling.path}:{process.compiling.line}",
            )
            for process in processes
            if process.rank is not None and process.compiling is not None
        ]
        told = {each.kind: each for each in failures(self.watchers, inside, len(processes) > 1)}
        first = told.pop(LIMIT, Failure(LIMIT, 0))
        if limits:
            ranks = {limit.rank for limit in limits if limit.rank is not None}
            detail = "; ".join(dict.fromkeys(map(_limit_told, limits[:MOST_NAMED])))
            yield replace(first, count=len(limits), ranks=tuple(sorted(ranks)), detail=detail)
        yield from told.values()

    def logged(self) -> set[str]:
        """The settings of TORCH_LOGS that must have been on; a trace has all that they tell."""
        seen = {one for process in self._processes for one in process.artifacts}
        seen |= {"recompiles"} if "recompiles_verbose" in seen else set()
        return seen | ({"recompiles", "graph_breaks", "guards"} if "dynamo_start" in seen else set())

    def processes(self) -> list[Process]:
        """The processes that speak of Dynamo; of one that left a trace, the text is not counted again."""
        for one in self._processes:
            self._settle(one, refused=one.traced)
        speaking = [one for one in self._processes if _speaks(one)]
        traced = {one.number: one for one in speaking if one.traced}
        for one in speaking:
            if not one.traced and one.number and (trace := traced.get(one.number)) is not None:
                trace.limits = one.limits or trace.limits
        chosen = [one for one in speaking if one.traced or not one.number or one.number not in traced]
        return _numbered(chosen)

    def _process(self, record: Record, hint: int | None, log: int) -> Process:
        traced = record.data is not None
        key = (hint, record.process, traced, log if traced or not record.process else -1)
        found = self._by_number.get(key)
        if found is not None and record.rank is not None and found.rank not in (None, record.rank):
            found = self._by_rank.get((hint, record.rank, record.process, traced))
        if found is None:
            found = Process(hint, record.rank, record.process, traced)
            self._processes.append(found)
            self._by_number.setdefault(key, found)
        if found.rank is None:
            found.rank = record.rank
        if found.rank is not None:
            self._by_rank.setdefault((hint, found.rank, found.number, traced), found)
        return found

    def _recompile(self, process: Process, record: Record) -> None:
        self._settle(process)
        frame = _recompiled(record.lines[0])
        reasons, readings = _reasons(record.lines[1:])
        if frame is None or not reasons:
            # Cut off before it said what failed: a killed job.
            self.notes.add("truncated")
            return
        _note(_told(process, frame), readings)
        _count_id(process, record.id, first=1)
        process.pending = Attempt(record.id, process.epoch, frame, reasons, record.stamp)

    def _traced_recompile(self, process: Process, record: Record) -> None:
        self._settle(process, refused=True)
        reasons, readings = _reasons(_payload(record))
        if not reasons:
            self.notes.add("truncated")
            return
        frame = process.started.get(record.id.partition("/")[0])
        if frame is not None:
            _note(_told(process, frame), readings)
        process.pending = Attempt(record.id, process.epoch, frame, reasons, record.stamp)

    def _start(self, process: Process, record: Record) -> None:
        frame = _frame_of(process, record)
        if frame is None:
            return
        pending = process.pending
        _count_id(process, record.id, first=0)
        process.started[record.id.partition("/")[0]] = frame
        process.compiled += 1
        process.compiling = frame
        if pending is not None and pending.id == record.id:
            pending.frame = frame
            self._settle(process)
        else:
            process.moment(record.stamp, frame, "compile")

    def _settle(self, process: Process, refused: bool = False) -> None:
        """Count the last attempt to recompile: as a recompile, or as refused by a limit."""
        attempt, process.pending = process.pending, None
        if attempt is None or attempt.frame is None:
            return None
        frame = attempt.frame
        if refused:
            value = whole(attempt.id.rpartition("/")[2])
            check = attempt.reasons[0][1]
            limit = Limit(frame, "recompile_limit", value, check.source, check.guard)
            return process.hit(limit, attempt.stamp)
        _count(process, _told(process, frame), attempt)
        return process.moment(attempt.stamp, frame, "recompile")

    def _limit(self, process: Process, record: Record) -> None:
        hit = _HIT.search(record.lines[0])
        frame = next((frame for line in record.lines if (frame := _limited(line))), None)
        if hit is None or frame is None:
            return
        attempt = process.pending
        if attempt is not None and attempt.frame == frame and attempt.id == record.id:
            process.pending = None
        last = next((found for line in record.lines if (found := _LAST.search(line))), None)
        check = read_check(last["told"]) if last else None
        told = _told(process, frame)
        if check is not None:
            told.checks.setdefault(check.source, check)
            _, readings = _reasons([f"- 0/0: {last['told']}" if last else "", *record.lines])
            _note(told, readings)
        source, reason = (check.source, check.guard) if check else ("", "")
        process.hit(Limit(frame, hit["limit"], whole(hit["value"]), source, reason), record.stamp)

    def _break(self, process: Process, record: Record) -> None:
        told = read_break(record.text)
        own = [one for one in told.stack if not _LIBRARY.search(one.path)]
        stack = tuple(Frame(one.path, one.line, one.function) for one in own)
        where = told.place
        if where is None or (_LIBRARY.search(where[0]) and stack):
            where = (stack[-1].path, stack[-1].line) if stack else None
        if where is None:
            return
        here = next((one for one in reversed(own) if (one.path, one.line) == where), None)
        function, text = (here.function, here.text) if here is not None else ("", "")
        once = int(record.id.rpartition("/")[2] in ("", "0"))
        deepest = told.place[0] if told.place else told.stack[-1].path
        package = _package(deepest)
        found = Break(*where, function, told.id, told.reason, 1, told.skips_frame, stack, text, package, once)
        key = where, found.disabled
        process.breaks[key] = _together(process.breaks.get(key), found)
        process.moment(record.stamp, Frame(where[0], where[1], ""), "break")


def _package(path: str) -> str:
    """The library that a file is of; empty for another."""
    if (library := _PACKAGE.search(path)) is not None:
        return library["name"]
    return "python" if _LIBRARY.search(path) else ""


def _limit_told(limit: Limit) -> str:
    """A function that hit a limit, as it was logged, and the check that failed last."""
    frame = limit.frame
    return f"{frame.function} in {frame.path}:{frame.line}" + (f": {limit.reason}" if limit.reason else "")


def _note(told: Told, readings: Mapping[str, Place]) -> None:
    """Keep the line that each source was first read at."""
    for source, place in readings.items():
        told.readings.setdefault(source, place)


def _speaks(process: Process) -> bool:
    return bool(process.frames or process.breaks or process.limits or process.compiled)


def _numbered(processes: list[Process]) -> list[Process]:
    """The processes with their ranks: what torch said, what the file's name says, or else their order.

    A trace names the rank of each record of a distributed job: without one it is of another process.
    """
    for one in processes:
        one.rank = one.hint if one.rank is None else one.rank
    taken = {one.rank for one in processes}
    free = (number for number in range(len(processes)) if number not in taken)
    several = len({(one.number, one.hint, one.rank) for one in processes}) > 1
    for one in sorted(processes, key=lambda one: int(one.number or 0)):
        if one.rank is None and several and not one.traced:
            one.rank = next(free, None)
    return processes


def _told(process: Process, frame: Frame) -> Told:
    known = process.frames.get(frame)
    if known is None:
        known = process.frames[frame] = Told(frame)
    return known


def _recompiled(line: str) -> Frame | None:
    """The function of `Recompiling function forward in a.py:3`; None for another line."""
    _, known, rest = line.partition(_RECOMPILING)
    place = place_in(rest) if known else None
    function, known, path = place[0].rpartition(" in ") if place else ("", "", "")
    return Frame(path, place[1], function) if place and known else None


def _limited(line: str) -> Frame | None:
    """The function of `function: 'forward' (a.py:3)`; None for another line."""
    _, known, rest = line.partition(_LIMITED)
    function, known, place = rest.rpartition("' (") if known else ("", "", "")
    where = place_in(place.rpartition(")")[0]) if known else None
    return Frame(*where, function) if where else None


def _reasons(lines: Iterable[str]) -> tuple[list[tuple[str, Check]], dict[str, Place]]:
    """Entry and check of each reason, and where each source is read: the innermost line of its stack.

    Of the lines of a stack those of the program count.
    """
    reasons: list[tuple[str, Check]] = []
    readings: dict[str, Place] = {}
    source = ""
    for line in lines:
        if ": " in line and (reason := _REASON.search(line)):
            if len(reasons) == MOST_REASONS:
                break
            check = read_check(reason["told"])
            reasons.append((reason["entry"], check))
            source = check.source if check.source not in readings else ""
        elif source and (read := _FILE.search(line)) and not _LIBRARY.search(read["path"]):
            readings |= {} if (number := whole(read["line"])) is None else {source: (read["path"], number)}
    return reasons, readings


def _payload(record: Record) -> list[str]:
    """The lines of a payload that is JSON: one text, or a list of them."""
    text = record.text
    try:
        data = read_json(text)
    except ValueError:
        data = text
    parts = data if isinstance(data, list) else [data]
    return [line[:LONGEST_TEXT] for part in parts if isinstance(part, str) for line in part.splitlines()]


def _count_id(process: Process, ident: str, first: int) -> None:
    """Follow the compile numbers of a frame: a reset starts them again, and the first may be lost."""
    frame, _, number = ident.rpartition("/")
    now, before = whole(number), process.numbers.get(frame)
    if not frame or now is None:
        return
    if before is None:
        if now > first:
            process.notes.add("head-lost")
    elif now <= before:
        process.epoch += 1
        process.numbers.clear()
        process.notes.add("reset")
    process.numbers[frame] = now


def _count(process: Process, told: Told, attempt: Attempt) -> None:
    """Add a recompile that took place."""
    process.recompiles += 1
    first = attempt.reasons[0][1]
    key = (first.source, first.kind)
    told.counts[key] = told.counts.get(key, 0) + 1
    keep = len(told.entries) < MOST_RECORDS
    pairs = []
    for entry, check in attempt.reasons if keep else attempt.reasons[:1]:
        known = told.checks.setdefault(check.source, check)
        if known.kind != check.kind and first is check:
            told.checks[check.source] = check
        values = told.values[check.source]
        if check.value and len(values) < MOST_VALUES and check.value not in values:
            values.append(check.value)
        if keep:
            name = f"{attempt.epoch}:{entry}"
            told.guarded[check.source][name] = check.value
            pairs.append((name, check.source))
    if keep:
        told.entries.append((f"{attempt.epoch}:{attempt.id}", tuple(pairs)))


def _frame_of(process: Process, record: Record) -> Frame | None:
    """The function that a `dynamo_start` is about: the last of its stack."""
    start = (record.data or {}).get("dynamo_start")
    stack = start.get("stack") if isinstance(start, dict) else None
    last = stack[-1] if isinstance(stack, list) and stack else None
    if not isinstance(last, dict) or (line := told_number(last.get("line"))) is None:
        return None
    name = last.get("filename")
    path = process.files.get(name, "") if isinstance(name, int) else told_text(name)
    return Frame(path, line, told_text(last.get("name")))


def _name_file(process: Process, record: Record) -> None:
    match (record.data or {}).get("str"):
        case [str(text), int(number)]:
            process.files[number] = told_text(text)


def _version(text: str) -> str | None:
    """`2.13.0` of the artifact that a trace begins with."""
    found = _VERSION.search(text)
    return found[1] if found else None


def _metrics(process: Process, record: Record) -> None:
    """Note which limit refused a compile, and its value."""
    told = (record.data or {}).get("compilation_metrics")
    if isinstance(told, dict) and (line := told_number(told.get("co_firstlineno"))) is not None:
        frame = Frame(told_text(told.get("co_filename")), line, told_text(told.get("co_name")))
        process.meter.compiled(record.id, frame, told, record.stamp)
    reason = told_text(told.get("fail_reason")) if isinstance(told, dict) else ""
    process.compiling = None
    attempt = process.pending
    if attempt is None or attempt.frame is None or attempt.id != record.id:
        return
    limit, value = _LIMIT_TYPE.search(reason), _LIMIT_VALUE.search(reason)
    if limit is not None:
        most = whole(value["value"]) if value else None
        check = attempt.reasons[0][1]
        process.hit(Limit(attempt.frame, limit["limit"], most, check.source, check.guard), attempt.stamp)
        process.pending = None


def _recompiles(processes: list[Process]) -> tuple[Recompiles, ...]:
    """Those of all ranks together, the most frequent first."""
    counts: Counter[tuple[Frame, str, str]] = Counter()
    checks: dict[tuple[Frame, str, str], tuple[Check, list[str]]] = {}
    for process in processes:
        for frame, told in process.frames.items():
            for (source, kind), count in told.counts.items():
                key = (frame, source, kind)
                counts[key] += count
                checks.setdefault(key, (told.checks[source], told.values[source]))
    return tuple(
        Recompiles(key[0], key[1], key[2], checks[key][0].guard, count, tuple(checks[key][1]))
        for key, count in counts.most_common()
    )


def _breaks(processes: list[Process]) -> tuple[Break, ...]:
    found: dict[tuple[Place, str], Break] = {}
    for process in processes:
        for key, one in process.breaks.items():
            before = found.get(key)
            most = max(1, one.once, 0 if before is None else before.once)
            found[key] = replace(_together(before, one), once=most)
    return tuple(sorted(found.values(), key=lambda one: -one.count))


def _together(known: Break | None, more: Break) -> Break:
    """Breaks at one line as one: of what only some of them tell, what the first of these tells."""
    if known is None:
        return more
    return replace(
        known,
        function=known.function or more.function,
        count=known.count + more.count,
        skips_frame=known.skips_frame or more.skips_frame,
        stack=known.stack or more.stack,
        text=known.text or more.text,
        once=known.once + more.once,
    )


def _ranks(processes: list[Process]) -> dict[int, Rank]:
    """The work of each rank; one below the highest that said nothing did nothing that was logged."""
    numbers = [one.rank for one in processes if one.rank is not None]
    if len(set(numbers)) < 2 and max(numbers, default=0) < 1:
        return {}
    found: dict[int, Rank] = {}
    by_rank: dict[int | None, list[Process]] = defaultdict(list)
    for one in processes:
        by_rank[one.rank].append(one)
    for number in range(max(numbers) + 1) if max(numbers) < 65_536 else sorted(set(numbers)):
        mine = by_rank.get(number, [])
        counted = [one.compiled for one in mine if one.traced or "guards" in one.artifacts]
        frames = sorted(
            (
                (frame, source, count)
                for one in mine
                for frame, told in one.frames.items()
                for (source, _), count in told.counts.items()
            ),
            key=repr,
        )
        found[number] = Rank(
            sum(one.recompiles for one in mine),
            sum(broken.count for one in mine for broken in one.breaks.values()),
            sum(len(one.limits) for one in mine),
            sum(counted) if counted else None,
            tuple(frames),
        )
    return found


def _moments(processes: list[Process]) -> tuple[Moment, ...]:
    """The moments of all ranks in order; a log without a year may pass the end of one."""
    timed = [
        (seconds, frame, kind, process.rank)
        for process in processes
        for stamp, frame, kind in process.moments
        if (seconds := moment(stamp)) is not None
    ]
    if not timed:
        return ()
    start = min(one[0] for one in timed)
    return tuple(
        Moment(round(seconds - start, 3), frame, kind, rank)
        for seconds, frame, kind, rank in sorted(timed, key=lambda one: one[0])
    )


def read_logs(
    paths: Sequence[Path], ignored: Sequence[str] = (), progress: Progress = lambda done, total: None
) -> Tally:
    """Add up all records of the logs; raises `Trouble` for what cannot be opened.

    `-` is stdin. `ignored` are texts: a record that holds one is known and not counted.
    """
    tally = Tally(ignored)
    chosen = [one for path in paths for one in _files(path)]
    total = sum(_size(one) for one in chosen)
    done = 0
    for number, path in enumerate(chosen):
        hint = _rank(path) if len(chosen) > 1 else None
        before = done
        watcher = Watcher(str(path), hint, ignored)
        tally.watchers.append(watcher)
        try:
            with _opened(path) as stream:
                for record in records(stream, partial(_advance, progress, before, total), watcher):
                    tally.add(record, hint, number)
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.strerror:
                raise Trouble(f"{path}: cannot be read: {error.strerror}") from None
            tally.notes.add("truncated")
        done += _size(path)
    return tally


def _advance(progress: Progress, before: int, total: int, count: int) -> None:
    """Tell of the bytes of a log that have been read, behind those of the logs before it."""
    progress(before + count, total)


def _files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder, the logs below it that are its own."""
    if str(path) == "-" or not path.is_dir():
        if str(path) != "-" and not path.exists():
            raise Trouble(f"{path}: there is no such file or folder")
        yield path
        return
    tops = [files.around(path)]
    found = [
        one
        for one in sorted(path.rglob("*"))
        if one.suffix.lower() in ENDINGS and one.is_file() and files.inside(one, tops)
    ]
    if not found:
        raise Trouble(f"{path}: holds no logs ({', '.join(ENDINGS[1:])})")
    yield from found


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
    elif path.suffix.lower() == ".gz":
        with gzip.open(path) as packed:
            yield cast(BinaryIO, packed)
    elif path.suffix.lower() == ".zst":
        zstd = _zstd(path)
        try:
            with zstd.open(path) as packed:
                yield cast(BinaryIO, packed)
        except zstd.ZstdError:
            raise EOFError from None
    else:
        with path.open("rb") as stream:
            yield stream


def _zstd(path: Path) -> Any:
    """The module that reads Zstandard: Python has one since 3.14, and others can install it."""
    own = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    for name in (own, "zstandard"):
        with suppress(ImportError):
            return importlib.import_module(name)
    raise Trouble(
        f"{path}: Zstandard cannot be read here: `pip install backports.zstd`, use Python 3.14, "
        "or `zstd -dc FILE | dynamo-lint logs -`"
    )


def _size(path: Path) -> int:
    """Bytes; 0 where that is not known before."""
    return os.path.getsize(path) if str(path) != "-" and path.is_file() else 0


def _rank(path: Path) -> int | None:
    """The rank that the name of a file or of its folder tells: `rank3.log`, `attempt_0/3/stderr.log`."""
    if found := _RANK.search(path.name):
        return int(found[1])
    return whole(path.parent.name) if len(path.parent.name) < 6 else None
