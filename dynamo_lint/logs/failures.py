"""Finds failures in logs that are no record of Dynamo: autotuning, killed ranks, full disks, kernels and NaN.

The wording is that of torch (`_inductor/select_algorithm.py`, `c10d/ProcessGroupNCCL.cpp`,
`c10/core/StorageImpl.cpp`), of Triton and of the C library. Each line is looked at once, up to
`LONGEST_TEXT`.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.logs.texts import LONGEST_TEXT

LIMIT, AUTOTUNE, WATCHDOG, DISK, POINTER, NAN = "limit", "autotune", "watchdog", "disk", "data-pointer", "nan"
CLASSES = (LIMIT, AUTOTUNE, WATCHDOG, DISK, POINTER, NAN)
"""The classes of failures, in the order in which they are told."""

MOST_TIMES = 16
"""Times of steps that are kept on each side of a failure."""

MOST_RANKS = 65_536

_NEAR = 40
"""Lines within which a traceback names the folder of what it is about."""

_LEAST_CHANGE = 1.2
"""How many times slower steps must be to be called so."""

_IGNORED = b"Ignoring this choice"
_SIGNS = (
    (b"hit config.", LIMIT),
    (_IGNORED, AUTOTUNE),
    (b"for benchmark choice", AUTOTUNE),
    (b"Failed to benchmark choice", AUTOTUNE),
    (b" inf ms ", AUTOTUNE),
    (b"out of resource: ", AUTOTUNE),
    (b"out of memory", AUTOTUNE),
    (b"Watchdog caught collective operation timeout", WATCHDOG),
    (b"watchdog got stuck for", WATCHDOG),
    (b"Heartbeat monitor timed out", WATCHDOG),
    (b"No space left", DISK),
    (b"Cannot access data pointer", POINTER),
)
"""The texts that tell of a failure; several may tell of the same one."""

_NANS = (b"nan", b"NaN")
_COMPILERS = (b"inductor", b"triton")
_TUNERS = (b"autotun", b"benchmark")
_COMPILES = (b"Recompiling function ", b"Graph break in user code at ")
_WATCHERS = (b"ProcessGroup", b"TCPStore", b"elastic", b"SIGTERM", b"Terminated")

_STEP = re.compile(rb"(?:step|iter(?:ation)?)s?[\"']?\s{0,2}[=:#/]?\s{0,4}(\d{1,9})(?![\d.])", re.IGNORECASE)
_TIMED = (
    re.compile(
        rb"(?:step|iter|iteration)[_ -]?time[\"']?\s{0,2}(?:\((?P<named>ms|s)\))?\s{0,2}[=:]?\s{0,4}"
        rb"(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>ms|s)?\b",
        re.IGNORECASE,
    ),
    re.compile(rb"(?<![\d.])(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>ms|s)/(?:step|iter|it)\b"),
)
_NAN_LOSS = re.compile(rb"loss[\"']?\s{0,2}(?:=|:|is|\|)?\s{0,4}[\"']?(?:tensor\()?-?nan\b", re.IGNORECASE)
_LIMITED = re.compile(rb"hit config\.\w{1,64} \(\d")
_DATA_PARALLEL = (b"DistributedDataParallel", b"DDP")


@dataclass(frozen=True, slots=True)
class Failure:
    """Failures of one class in all logs of a job."""

    kind: str
    """One of `CLASSES`."""
    count: int
    ranks: tuple[int, ...] = ()
    """Those that it was told of; empty where the logs do not say."""
    log: str = ""
    """The log of the first, where there are several."""
    line: int | None = None
    """Its first line there; None where only a trace tells of it."""
    step: int | None = None
    """The step that was logged last before it."""
    detail: str = ""
    """More that is known: what failed, or what it goes together with."""


@dataclass(slots=True)
class Seen:
    """Failures of one class in one log."""

    line: int
    step: int | None
    detail: str
    signs: Counter[bytes] = field(default_factory=Counter)
    ranks: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        """Each sign may tell of the same failures."""
        return max(self.signs.values())


class Watcher:
    """Looks at the lines of one log for failures.

    Most pieces of a log hold none: a piece is searched as a whole first, and its lines only if it is loud.
    """

    def __init__(self, log: str, hint: int | None, ignored: Sequence[str] = ()) -> None:
        self.log = log
        self.seen: dict[str, Seen] = {}
        self.compiling: dict[int, str] = {}
        """The record of Dynamo that each rank has written last, if nothing else of it followed."""
        self.data_parallel = False
        self.nan: Seen | None = None
        """Losses that are NaN where no limit has been hit yet: another rank may have hit one."""
        self.before: list[float] = []
        self.after: list[float] = []
        """Seconds of steps before and after the first failure of autotuning."""
        self.number = 0
        """Of the line that the next calls are about."""
        self._hint = hint
        self._ignored = [text.encode() for text in ignored]
        self._signs: tuple[tuple[bytes, str], ...] = _SIGNS
        """Those that stand somewhere in the piece."""
        self._nans = True
        self._marked: set[int] = set()
        """The numbers of the lines of a loud piece that hold one."""
        self._heads: set[bytes] = set()
        self._last: dict[bytes, bytes] = {}
        """The last line of each rank that may tell of a step."""
        self._steps: deque[bytes] = deque(maxlen=MOST_TIMES)
        self._tuning = self._near_compiler = -_NEAR

    def piece(self, piece: bytes) -> None:
        """Say of which piece the next lines are."""
        self.data_parallel = self.data_parallel or any(word in piece for word in _DATA_PARALLEL)
        self._signs = tuple(one for one in _SIGNS if one[0] in piece)
        nans = tuple(word for word in _NANS if word in piece)
        near = tuple(word for word in (*_COMPILERS, *_TUNERS) if word in piece)
        self._nans = bool(nans)
        words = (*(sign for sign, _ in self._signs), *nans, *near)
        loud = bool(self._signs or nans)
        first = self.number + 1
        found = (one for word in words for one in _lines_with(word, piece))
        self._marked = {first + one for one in found} if loud else set()

    def record(self, rank: int | None, line: bytes) -> None:
        """Look at a line of torch's own, without its header."""
        head = b"" if rank is None else b"[rank%d" % rank
        if head:
            self._meet(head)
        if self.number in self._marked:
            self._look(line, head)
        if not line.startswith(_COMPILES):
            return
        if (number := self._rank(head)) is not None and len(self.compiling) < MOST_RANKS:
            self.compiling[number] = line[:LONGEST_TEXT].decode("utf-8", "replace").strip()

    def text(self, line: bytes) -> None:
        """Look at a line of anything else."""
        head = line[:12].partition(b"]")[0] if line[:5] == b"[rank" else b""
        if head:
            self._meet(head)
        told = self.number in self._marked and self._look(line, head)
        if b"tep" in line or b"iter" in line:
            self._clock(line[:LONGEST_TEXT], head)
        if self.compiling and not told and WATCHDOG not in self.seen and _is_work(line):
            rank = self._rank(head)
            if rank is not None:
                self.compiling.pop(rank, None)

    def _meet(self, head: bytes) -> None:
        if len(self._heads) < MOST_RANKS:
            self._heads.add(head)

    def ranks(self) -> set[int]:
        """The ranks that wrote to this log, as far as it tells."""
        found = {self._rank(head) for head in (*self._heads, b"")}
        return {rank for rank in found if rank is not None}

    def _rank(self, head: bytes) -> int | None:
        """The rank that a line begins with, or that all of the log are of."""
        digits = head[len(b"[rank") :]
        return int(digits) if digits.isdigit() else self._hint

    def _look(self, line: bytes, head: bytes) -> bool:
        """Look at a line; whether it tells of a failure."""
        line = line[:LONGEST_TEXT]
        if any(word in line for word in _COMPILERS):
            self._near_compiler = self.number
        if any(word in line for word in _TUNERS):
            self._tuning = self.number
        found = [one for one in self._signs if one[0] in line]
        if self._nans and any(word in line for word in _NANS) and _NAN_LOSS.search(line):
            found.append((b"nan", NAN))
        told = False
        for sign, kind in found:
            if self._is_failure(sign, kind, line) and not any(text in line for text in self._ignored):
                self._add(sign, kind, line, head)
                told = True
        return told

    def _is_failure(self, sign: bytes, kind: str, line: bytes) -> bool:
        """Whether a sign is one here, for some are said of other things as well."""
        if kind == LIMIT:
            return _LIMITED.search(line) is not None
        if sign in (b"out of memory", b"out of resource: "):
            return self.number - self._tuning < 4 or b"select_algorithm" in line
        return kind != DISK or self.number - self._near_compiler < _NEAR

    def _add(self, sign: bytes, kind: str, line: bytes, head: bytes) -> None:
        early = kind == NAN and LIMIT not in self.seen
        seen = self.nan if early else self.seen.get(kind)
        if seen is None:
            step = _step(line) if kind == NAN else None
            before = self._last.get(head) or self._last.get(b"", b"")
            seen = Seen(self.number, _step(before) if step is None else step, _detail(kind, line))
            if early:
                self.nan = seen
            else:
                self.seen[kind] = seen
            if kind == AUTOTUNE:
                times = (_seconds(each) for each in self._steps)
                self.before = [seconds for seconds in times if seconds is not None]
        elif not seen.detail:
            seen.detail = _detail(kind, line)
        seen.signs[sign] += 1
        if (rank := self._rank(head)) is not None:
            seen.ranks.add(rank)

    def _clock(self, line: bytes, head: bytes) -> None:
        """Keep a line that may tell of a step and its time."""
        if len(self._last) < MOST_RANKS:
            self._last[head] = line
        if AUTOTUNE not in self.seen:
            self._steps.append(line)
        elif len(self.after) < MOST_TIMES and (seconds := _seconds(line)) is not None:
            self.after.append(seconds)


def _lines_with(word: bytes, piece: bytes) -> Iterator[int]:
    """The lines of a piece that hold a word, counted from its first."""
    line = last = 0
    at = piece.find(word)
    while at >= 0:
        line += piece.count(b"\n", last, at)
        yield line
        last = piece.find(b"\n", at)
        at = piece.find(word, last) if last >= 0 else -1


def _step(line: bytes) -> int | None:
    """The number of the step that a line tells of."""
    step = _STEP.search(line)
    return int(step[1]) if step is not None else None


def _seconds(line: bytes) -> float | None:
    """The time that a line says a step took."""
    timed = next((timed for pattern in _TIMED if (timed := pattern.search(line)) is not None), None)
    if timed is None:
        return None
    unit = timed["unit"] or timed.groupdict().get("named") or b"s"
    return float(timed["number"]) / (1000 if unit.lower() == b"ms" else 1)


def _is_work(line: bytes) -> bool:
    """Whether a line is of the job itself, and not of what watches and ends its processes."""
    return bool(line.strip()) and not any(word in line for word in _WATCHERS)


def _detail(kind: str, line: bytes) -> str:
    """The words of a line about a failure, as people read it; empty where it is the same for all."""
    text = line.decode("utf-8", "replace").strip()
    if kind == AUTOTUNE:
        lower = text.lower()
        return next((word for word in ("out of memory", "out of resource") if word in lower), "")
    if kind == WATCHDOG:
        return next((what for sign, what in _WATCHED if sign in text), "")
    if kind == DISK:
        path = next((word for word in text.split()[::-1] if "/" in word), "")
        return path.strip("'\":,[]()")[:200]
    return ""


_WATCHED = (
    ("Watchdog caught", "a collective ran into its timeout"),
    ("got stuck", "the watchdog got stuck"),
    ("Heartbeat", "the heartbeat stopped"),
)


def failures(
    watchers: Iterable[Watcher], compiling: Sequence[tuple[int, str]], several: bool
) -> Iterator[Failure]:
    """The failures that the logs of a job tell of, one for each class.

    `compiling` are ranks whose trace ends within a compile, with what is compiled. `several` says that
    there is more than one rank.
    """
    looked = list(watchers)
    ranks = {rank for watcher in looked for rank in watcher.ranks()}
    parallel = several or len(ranks) > 1 or any(watcher.data_parallel for watcher in looked)
    limited = any(LIMIT in watcher.seen for watcher in looked)
    for kind in CLASSES:
        told = [(watcher, watcher.seen[kind]) for watcher in looked if kind in watcher.seen]
        if kind == NAN and limited:
            early = ((watcher, watcher.nan) for watcher in looked if LIMIT not in watcher.seen)
            told += [(watcher, nan) for watcher, nan in early if nan is not None]
        if not told or (kind == NAN and not parallel):
            continue
        watcher, first = told[0]
        killed = {rank for _, seen in told for rank in seen.ranks}
        details = [next((seen.detail for _, seen in told if seen.detail), "")]
        if kind == AUTOTUNE:
            details.append(_slower(looked))
        elif kind == WATCHDOG:
            details += _inside(looked, compiling, killed)
        yield Failure(
            kind,
            sum(seen.count for _, seen in told),
            tuple(sorted(killed)),
            watcher.log if len(looked) > 1 else "",
            first.line,
            first.step,
            "; ".join(filter(None, details)),
        )


def _inside(
    watchers: Iterable[Watcher], compiling: Sequence[tuple[int, str]], killed: set[int]
) -> Iterator[str]:
    """The first ranks that were compiling when others were killed, and what they compiled."""
    inside = dict(compiling)
    for watcher in watchers:
        inside |= watcher.compiling
    others = sorted((rank, what) for rank, what in inside.items() if rank not in killed)
    yield from (f"rank {rank} was compiling: {what}" for rank, what in others[:2])


def _slower(watchers: Iterable[Watcher]) -> str:
    """How the time of steps has changed since autotuning failed; empty where it has not, or is not logged."""
    for watcher in watchers:
        if AUTOTUNE in watcher.seen and len(watcher.before) > 1 and len(watcher.after) > 1:
            before, after = median(watcher.before), median(watcher.after)
            if before and not 1 / _LEAST_CHANGE < after / before < _LEAST_CHANGE:
                return f"a step took {before:.3g} s before and {after:.3g} s after"
    return ""
