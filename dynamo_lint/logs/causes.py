"""The lines that a person must change: what a job cost, joined with what its sources say."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, fields, replace
from functools import cached_property, reduce
from itertools import combinations, groupby, product, takewhile
from operator import or_
from typing import Any, NamedTuple

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.logs.bodies import Body, around
from dynamo_lint.logs.model import Break, Cause, Job, Limit, LogReport, Recompiles
from dynamo_lint.logs.modes import REQUIRED, failed_modes, flipped, rule_of
from dynamo_lint.logs.tally import Process, Told
from dynamo_lint.logs.texts import (
    INTENDED,
    Check,
    Frame,
    Place,
    Subject,
    compatible,
    place_of,
    read_subject,
    readable,
    whole,
)
from dynamo_lint.models.drivers import MODES
from dynamo_lint.sources import Sources

OF_THE_LINT = "DYN9"
"""How the codes of findings begin that are about the lint, not about compiled code."""

LARGEST_SET = 4
"""Checks that are tried together."""

MOST_TRIED = 16
"""Checks of which some may explain a frame: the most frequent."""

GROWTH = frozenset(
    ("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove")
)
"""Methods that change a container in place."""

_LAST_ITEM = re.compile(r"\['([^']*)'\]$")
_INSTALLED = re.compile(r".*[/\\](?:site-packages|dist-packages)[/\\]")
_RESUMED = "torch_dynamo_resume_in_"
_EFFECTS = ("stale", "once", "per-instance", "per-value", "storm")
_VARIABLES = "os.environ"
"""The name of all variables of the environment among the names that findings are about."""
_SIZES = "DYN506"
_NOTED = {"reset": ("DYN111",), "sizes": ("DYN506", "DYN507")}
"""Notes of a job, and the rules about what they tell: their findings are borne out."""


class _Line(NamedTuple):
    """A line to change, and how it was found; the path is below the linted root."""

    path: str
    line: int
    code: str
    subject: str
    evidence: str
    finding: Finding | None = None


@dataclass(slots=True)
class _Cost:
    recompiles: int = 0
    breaks: int = 0
    limits: int = 0
    masked: bool = False
    limit: Limit | None = None
    skips_frame: bool = False
    frames: dict[Frame, None] = field(default_factory=dict)
    values: tuple[str, ...] = ()

    def add(self, frame: Frame, recompiles: int = 0, breaks: int = 0, limits: int = 0) -> None:
        """Add what one frame cost."""
        self.recompiles += recompiles
        self.breaks += breaks
        self.limits += limits
        self.frames[frame] = None


def explain(
    processes: Sequence[Process],
    job: Job,
    findings: Sequence[Finding],
    places: Places,
    codes: Mapping[str, str],
) -> LogReport:
    """Join a job with the findings and the text of its sources.

    `codes` has the rule for each id of the registry of graph breaks.
    """
    join = _Join(findings, places, codes, job.breaks)
    costs: dict[_Line, _Cost] = defaultdict(_Cost)
    unexplained: list[Recompiles] = []
    notes: set[str] = set()
    limited: dict[Frame, list[Limit]] = defaultdict(list)
    for limit in job.limits:
        limited[limit.frame].append(limit)
    recompiled: dict[tuple[Frame, str], list[Recompiles]] = defaultdict(list)
    for recompiles in job.recompiles:
        recompiled[recompiles.frame, recompiles.source].append(recompiles)
    for frame, told in _by_frame(processes).items():
        limits = limited[frame]
        sources = explanation(told) or tuple(dict.fromkeys(one.source for one in limits if one.source))
        shares = _shares(told, sources) if sources else {}
        every = (*sources, *(source for source in shares if source not in sources))
        masked = bool(shares) and any(source not in every for one in told for source, _ in one.counts)
        for source in every:
            check = next((one.checks[source] for one in told if source in one.checks), None)
            line = None if check is None else join.line_of(frame, check, told)
            notes |= {"masked"} if masked else set()
            if line is None:
                unexplained += _share(recompiled[frame, source], frame, check, shares.get(source, 0))
                continue
            hit = sum(one.source == source for one in limits) or (len(limits) if len(sources) == 1 else 0)
            costs[line].add(frame, recompiles=shares.get(source, 0), limits=hit)
            costs[line].masked |= masked
            costs[line].limit = costs[line].limit or next(iter(limits), None)
            if check is not None and check.kind == "value":
                costs[line].values = costs[line].values or _values(told, source)
        if any(places.moved(*_logged(one, frame)) for record in told for one in record.checks.values()):
            notes.add("sources-moved")
    notes |= {"sources-moved" for one in job.breaks if places.moved(one.path, one.line, one.text)}
    broken_elsewhere = _add_breaks(costs, job.breaks, join)
    explained = {frame for cost in costs.values() if cost.limits for frame in cost.frames}
    causes = sorted(
        (_cause(line, cost, places) for line, cost in costs.items()),
        key=lambda one: (-one.limits, -one.recompiles - one.breaks, one.path, one.line),
    )
    used = {one.finding for one in causes}
    noted = {code for note, codes in _NOTED.items() if note in job.notes for code in codes}
    used |= {one for one in findings if one.code in noted}
    return LogReport(
        replace(located(job, places), notes=tuple(sorted({*job.notes, *notes}))),
        tuple(causes),
        tuple(replace(one, frame=places.here(one.frame)) for one in unexplained),
        tuple(one for one in findings if one.effect and _is_loud(one) and one not in used),
        unexplained_breaks=tuple(_located_break(one, places) for one in broken_elsewhere),
        unexplained_limits=_unexplained_limits(job, explained, places),
    )


def _unexplained_limits(job: Job, explained: Set[Frame], places: Places) -> tuple[Limit, ...]:
    """The limits of frames that no cause accounts for, at their places here."""
    limits = (limit for limit in job.limits if limit.frame not in explained)
    return tuple(replace(limit, frame=places.here(limit.frame)) for limit in limits)


def _add_breaks(costs: dict[_Line, _Cost], breaks: Iterable[Break], join: _Join) -> list[Break]:
    """Add each break to the cost of its line, and return those for which there is none."""
    elsewhere = []
    for broken in breaks:
        if (line := join.line_of_break(broken)) is None:
            elsewhere.append(broken)
        else:
            costs[line].add(Frame(broken.path, broken.line, ""), breaks=broken.count)
            costs[line].skips_frame |= broken.skips_frame
    return elsewhere


def located(job: Job, places: Places) -> Job:
    """A job with the paths of the sources as they stand here."""
    here = places.here
    return replace(
        job,
        recompiles=tuple(replace(one, frame=here(one.frame)) for one in job.recompiles),
        breaks=tuple(_located_break(one, places) for one in job.breaks),
        limits=tuple(replace(one, frame=here(one.frame)) for one in job.limits),
        ranks={
            number: replace(
                rank, frames=tuple((here(one), source, count) for one, source, count in rank.frames)
            )
            for number, rank in job.ranks.items()
        },
        moments=tuple(replace(one, frame=here(one.frame)) for one in job.moments),
        costs=job.costs
        and replace(
            job.costs, functions=tuple(replace(one, frame=here(one.frame)) for one in job.costs.functions)
        ),
    )


def _located_break(broken: Break, places: Places) -> Break:
    return replace(broken, path=places.spelled(broken.path), stack=tuple(map(places.here, broken.stack)))


def codes_by_id(pages: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """The rule for each id of the registry: of several, the first about graph breaks."""
    found: dict[str, str] = {}
    for code, idents in sorted(pages, key=lambda page: (not page[0].startswith("DYN4"), page[0])):
        for ident in idents:
            found.setdefault(ident, code)
    return found


class _Join:
    """Finds the line to change for what a log tells.

    A log names thousands of frames and lines: findings and writes are looked up by what it names, a file, a
    line or a piece of state.
    """

    def __init__(
        self, findings: Sequence[Finding], places: Places, codes: Mapping[str, str], breaks: Sequence[Break]
    ) -> None:
        self._logged = breaks
        self._findings = [one for one in findings if not one.code.startswith(OF_THE_LINT)]
        self._places = places
        self._codes = codes
        self._subjects = [
            [subject for text in (one.subject, *one.also) if (subject := read_subject(text))]
            for one in self._findings
        ]
        self._about: dict[tuple[str, str], list[int]] = defaultdict(list)
        """Positions of findings by a file that they concern and a name they are about; each may be empty."""
        self._modes: dict[str, list[Finding]] = defaultdict(list)
        """By the mode."""
        self._breaks: dict[tuple[str, int], list[Finding]] = defaultdict(list)
        self._changing: dict[str, list[tuple[int, str]]] = {}
        for number, finding in enumerate(self._findings):
            self._file(number, finding)

    def _file(self, number: int, finding: Finding) -> None:
        """Put a finding where it is looked for."""
        names = {_VARIABLES if one.environment else one.attribute for one in self._subjects[number]} or {""}
        chain = (step.path for step in finding.chain)
        paths = {finding.span.path, finding.unit.partition("::")[0], *chain} - {""}
        for place in product((*paths, ""), names):
            self._about[place].append(number)
        if mode := flipped(finding.code, finding.subject):
            self._modes[mode].append(finding)
        if _is_of_break(finding):
            for line in range(finding.span.line, finding.span.end_line + 1):
                self._breaks[finding.span.path, line].append(finding)

    @cached_property
    def _writes(self) -> _Writes:
        return _Writes((path, writes(self._places.text(path))) for path in self._places.paths())

    @cached_property
    def _static_compiles(self) -> list[tuple[str, int]]:
        paths = self._places.paths()
        return [(path, line) for path in paths for line in static_compiles(self._places.text(path))]

    def line_of(self, frame: Frame, check: Check, told: Sequence[Told]) -> _Line | None:
        """The line that makes a check of a frame fail."""
        resumed = _resumed(frame.function)
        if check.source.startswith("___stack"):
            # A value that the line with the break left behind, for which the rest is compiled again.
            return self._left_behind(frame.path, resumed[1]) if resumed else None
        if check.kind == "size":
            return self._static_compile(frame)
        modes = failed_modes(check.source, check.kind, check.value)
        if modes and REQUIRED not in modes:
            return self._of_mode(frame, modes)
        place = place_of(check.source)
        reading = self._reading(check, told)
        if (finding := self._finding(frame, check, place, reading)) is not None:
            if (logged := self._logged_reading(finding, check, reading)) is not None:
                return logged
            return self._within(finding, frame, check, place, told)
        near = self._near(frame, reading, told)
        by_name = self._item(frame, check, place, told) or self._read_by_name(frame, check, place, near)
        if by_name is not None and by_name.evidence == "assignment":
            return by_name
        if by_name is None or (item := _LAST_ITEM.search(place.inside)) is None or item[1] in check.text:
            by_name = self._read(frame, check, place, reading) or by_name
        line = self._written(frame, check, place, near, by_name) or by_name
        if not modes:
            line = line or self._parameter(frame, check, place)
        return line and (line._replace(code=rule_of(REQUIRED)) if REQUIRED in modes else line)

    def _of_mode(self, frame: Frame, modes: Set[str]) -> _Line | None:
        """The line that changes a mode: by the nearest finding about it, or else by what the sources say.

        A mode holds for all that is called, so that the frame may be far from the line that changes it.
        """
        found = [one for mode in sorted(modes) for one in self._modes.get(mode, ())]
        ranked = sorted(found, key=lambda one: (self._nearness(one, frame), _loudness(one)), reverse=True)
        if ranked and (self._nearness(ranked[0], frame) or len({one.span for one in ranked}) == 1):
            return _from(ranked[0])
        own = self._places.file(frame.path)
        for near in ([own] if own else [], self._places.paths()):
            lines = [(path, *one) for path in near for one in self._mode_lines(path) if one[1] in modes]
            if len(lines) == 1:
                path, line, mode = lines[0]
                return _Line(path, line, rule_of(mode), mode, "assignment")
        return _from(ranked[0]) if ranked else None

    def _mode_lines(self, path: str) -> list[tuple[int, str]]:
        """The lines of a file that change a mode, and which."""
        if path not in self._changing:
            self._changing[path] = [*mode_changes(self._places.text(path))]
        return self._changing[path]

    def _near(self, frame: Frame, reading: tuple[str, int] | None, told: Sequence[Told]) -> list[str]:
        """The files that a frame is known to run: its own, and those that its checks were made for."""
        places = [place for one in told for place in one.readings.values()]
        logged = [frame.path, *([reading[0]] if reading else []), *(path for path, _ in places)]
        return [*dict.fromkeys(path for one in logged if (path := self._places.file(one)) is not None)]

    def line_of_break(self, broken: Break) -> _Line | None:
        """The line that broke a graph; None where the code asks for the break."""
        line = self._places.line_now(broken.path, broken.line, broken.text)
        stack = [(broken.path, line), *((one.path, one.line) for one in reversed(broken.stack))]
        for path, number in stack[:2]:
            if known := self._break_at(path, number):
                return known
        file = self._places.file(broken.path)
        if file is None or broken.id in INTENDED:
            return None
        return _Line(file, line, self._codes.get(broken.id, ""), broken.text, "reading")

    def _finding(
        self, frame: Frame, check: Check, place: Place, reading: tuple[str, int] | None
    ) -> Finding | None:
        """The finding that speaks of a check: about the same state, and the nearest to the frame."""
        path = self._places.file(frame.path)
        if path is None:
            return None
        about = list(self._that_speak(path, frame, check, place))
        if not about and reading is not None:
            about = [
                finding
                for finding in map(self._findings.__getitem__, self._about.get((path, ""), ()))
                if self._is_on(finding, *reading) and not _is_of_break(finding)
            ]
            if about and next(self._that_speak("", frame, check, place), None) is not None:
                return None
        ranked = [((self._nearness(one, frame), _loudness(one)), one) for one in about]
        near = [pair for pair in ranked if pair[0][0]]
        return max(near, key=lambda pair: pair[0])[1] if near else None

    def _that_speak(self, path: str, frame: Frame, check: Check, place: Place) -> Iterator[Finding]:
        """The findings about the state that a check is about; of all files where the path is empty."""
        holder = _holder(check.source)
        first = re.match(r"\w+", check.source)
        names = {place.attribute, holder, first[0] if first else ""} - {""}
        names |= {_VARIABLES} if "environ" in check.source else set()
        for number in sorted({one for name in names for one in self._about.get((path, name), ())}):
            finding, subjects = self._findings[number], self._subjects[number]
            if any(_is_about(subject, check, place, frame) for subject in subjects) or (
                finding.effect == "per-instance" and any(one.attribute == holder for one in subjects)
            ):
                yield finding

    def _nearness(self, finding: Finding, frame: Frame) -> int:
        """How closely a finding belongs to a frame; 0 is not at all."""
        path = self._places.file(frame.path)
        function = _original(frame.function)
        unit, _, name = finding.unit.partition("::")
        if unit == path and name.rpartition(".")[2] == function:
            return 3
        steps = [(step.path, step.symbol.rpartition(".")[2]) for step in finding.chain]
        if (path, function) in steps:
            return 2
        return int(path is not None and (finding.span.path == path or any(path == step for step, _ in steps)))

    def _break_at(self, path: str, line: int) -> _Line | None:
        """The finding at a line that speaks of a break there."""
        here = self._breaks.get((self._places.file(path) or "", line))
        return _from(max(here, key=_loudness)) if here else None

    def _left_behind(self, path: str, line: int) -> _Line | None:
        """The line of the break that a frame is the rest of: there, or in what that line calls."""
        if known := self._break_at(path, line):
            return known
        through = [one for one in self._logged if any((path, line) == (on.path, on.line) for on in one.stack)]
        found = {self.line_of_break(one) for one in through}
        return found.pop() if len(found) == 1 else None

    def _static_compile(self, frame: Frame) -> _Line | None:
        """The one line that compiles for fixed sizes: there the changing axis can be allowed."""
        found = self._static_compiles
        near = [one for one in found if one[0] == self._places.file(frame.path)] or found
        return _Line(*near[0], _SIZES, "dynamic=False", "assignment") if len(near) == 1 else None

    def _parameter(self, frame: Frame, check: Check, place: Place) -> _Line | None:
        """The function itself whose argument a check is about, where nothing shows where it is read."""
        path = self._places.file(frame.path)
        if path is None or place.owner or _resumed(frame.function):
            return None
        name = re.match(r"\w+", check.source)
        body = next(iter(around(self._places.text(path), [frame.line])), None)
        if name is None or body is None or name[0] not in body.parameters:
            return None
        return _Line(path, frame.line, "DYN109", readable(check.source), "reading")

    def _ran(self, frame: Frame, check: Check, told: Sequence[Told]) -> Iterator[tuple[str, Body]]:
        """The functions that a frame is known to run: its own, and those that its checks were made in."""
        lines: dict[str, list[int]] = defaultdict(list)
        read = [place for one in told for place in one.readings.values()]
        for logged, line in ((check.path, check.line), (frame.path, frame.line), *read):
            if logged and (path := self._places.file(logged)) is not None:
                lines[path].append(line)
        for path, numbers in lines.items():
            for body in around(self._places.text(path), numbers):
                yield path, body

    def _item(self, frame: Frame, check: Check, place: Place, told: Sequence[Told]) -> _Line | None:
        """The line that writes the item that a check names, or else reads it, in what a frame ran."""
        item = _LAST_ITEM.search(place.inside)
        if item is None or "environ" in check.source:
            return None
        ran = list(self._ran(frame, check, told))
        where = self._reading(check, told)
        for path, body in ran:
            made = [one for one in self._writes.of_item(path, item[1]) if body.holds(one.line)]
            at = [one for one in made if where is not None and one.line == where[1]]
            for write in (at or made)[-1:]:
                code = _code(check, write, True)
                return _Line(path, write.line, code, readable(check.source), "assignment")
        for path, body in ran:
            found = [line for line, _, key in reads(self._places.text(path)) if key == item[1]]
            if inside := [line for line in found if body.holds(line)]:
                code = "DYN102" if check.kind == "value" else ""
                return _Line(path, min(inside), code, readable(check.source), "reading")
        return None

    def _logged_reading(
        self, finding: Finding, check: Check, reading: tuple[str, int] | None
    ) -> _Line | None:
        """The line of the read that failed, by a finding that tells of another it was handed on to."""
        about = read_subject(finding.subject)
        if reading is None or about is None or not about.argument or self._is_on(finding, *reading):
            return None
        path = finding.span.path
        if self._places.file(reading[0]) != path:
            return None
        bodies = around(self._places.text(path), [finding.span.line])
        if not any(about.attribute in body.parameters for body in bodies):
            return None
        return _from(finding)._replace(line=self._places.line_now(*reading, check.text))

    def _within(
        self, finding: Finding, frame: Frame, check: Check, place: Place, told: Sequence[Told]
    ) -> _Line:
        """The line of a finding; of one about a container, the line that writes the item that failed."""
        line, span = _from(finding), finding.span
        item = _LAST_ITEM.search(place.inside)
        text = self._places.text(span.path).split("\n")[span.line - 1 : span.end_line]
        if item is not None and not any(f"'{item[1]}'" in one or f'"{item[1]}"' in one for one in text):
            found = self._item(frame, check, place, told)
            if found is not None and found.evidence == "assignment" and found.path == span.path:
                return line._replace(line=found.line)
        return line

    def _written(
        self, frame: Frame, check: Check, place: Place, near: Sequence[str], by_name: _Line | None
    ) -> _Line | None:
        """The assignment that changes a piece of state, where it is likely to be the only one meant."""
        if not place.owner and not check.source.startswith("G["):
            return None
        if "environ" in check.source:
            return None
        own, function = self._places.file(frame.path), _original(frame.function)
        # What a container holds under a name is of this frame's container, and not of any that has the name.
        item = _LAST_ITEM.search(place.inside)
        inside = check.kind in ("length", "presence") or bool(item)
        name = item[1] if item else place.attribute
        chosen = self._writes.nearest(f"[{name}]" if item else name, near, function, anywhere=not inside)
        if chosen is None:
            return None
        path, write = chosen
        if item and by_name is not None and write.function in (*CONSTRUCTORS, function):
            return None  # a constructor runs once, and one of the same name is another's: this does not write
        hot = (path == own and write.function == function) or (inside and path in near)
        code = "DYN107" if write.function in CONSTRUCTORS else _code(check, write, hot)
        return _Line(path, write.line, code, readable(check.source), "assignment")

    def _read(
        self, frame: Frame, check: Check, place: Place, reading: tuple[str, int] | None
    ) -> _Line | None:
        """The line that made Dynamo check, where nothing shows what changes the value."""
        if reading is None or (path := self._places.file(reading[0])) is None:
            return None
        line = self._places.line_now(reading[0], reading[1], check.text)
        if "environ" in check.source:
            return _Line(path, line, "DYN201", readable(check.source), "reading")
        code = "DYN109" if not place.owner and place.root == "other" else ""
        return _Line(path, line, code, readable(check.source), "reading")

    def _read_by_name(self, frame: Frame, check: Check, place: Place, near: Sequence[str]) -> _Line | None:
        """The first line that reads the attribute, or the item of that name, in code that a frame runs."""
        if not place.owner:
            return None
        item = _LAST_ITEM.search(place.inside)
        for path in near:
            begins = frame.line if path == self._places.file(frame.path) else 0
            found = [
                line
                for line, attribute, key in reads(self._places.text(path))
                if (key == item[1] if item else attribute == place.attribute) and line >= begins
            ]
            if found:
                code = "DYN102" if check.kind == "value" else ""
                return _Line(path, min(found), code, readable(check.source), "reading")
        return None

    def _reading(self, check: Check, told: Sequence[Told]) -> tuple[str, int] | None:
        known = next((one.readings[check.source] for one in told if check.source in one.readings), None)
        return known or ((check.path, check.line) if check.path else None)

    def _is_on(self, finding: Finding, logged: str, line: int) -> bool:
        same = self._places.file(logged) == finding.span.path
        return same and finding.span.line <= line <= finding.span.end_line


def _by_frame(processes: Sequence[Process]) -> dict[Frame, list[Told]]:
    found: dict[Frame, list[Told]] = defaultdict(list)
    for process in processes:
        for frame, told in process.frames.items():
            found[frame].append(told)
    return found


def _shares(told: Sequence[Told], sources: Sequence[str]) -> dict[str, int]:
    """How many recompiles each source stands for: those of an explanation, and what is sure without."""
    shares: dict[str, int] = defaultdict(int)
    for one in told:
        left = Counter(dict.fromkeys(sources, 0))
        for (source, _), count in one.counts.items():
            left[source] += count
        for recompile, failed in one.entries:
            first = failed[0][1]
            left[first] -= 1
            shares[_standing(one, recompile, dict(failed), sources)] += 1
        for source, count in left.items():
            shares[source if source in sources else sources[0]] += count
    return {source: count for source, count in shares.items() if count}


def _standing(told: Told, recompile: str, failed: Mapping[str, str], sources: Sequence[str]) -> str:
    """The source that one recompile counts for.

    It is one that is sure to differ from each earlier entry. Where the habit of one is all that speaks for
    it, the check that Dynamo names for the latest entry counts, unless its values come back: code for each
    of these was there already.
    """
    block = _Block(told, recompile, tuple(failed), 0)
    first = next(iter(failed.values()))
    every = (1 << len(failed)) - 1

    def surely(source: str) -> int:
        named = (number for number, name in enumerate(failed.values()) if name == source)
        return _failures(source, [block], named).sure

    known = {source: surely(source) for source in sources}
    if enough := next((source for source in sources if known[source] == every), None):
        return enough
    if first in sources or surely(first) == every or not _returns(told, first):
        return first
    return max(sources, key=lambda source: known[source].bit_count())


def _returns(told: Told, source: str) -> bool:
    """Whether a source had a value again that it had before another."""
    values = [value for value, _ in groupby(told.guarded.get(source, {}).values())]
    return len(set(values)) < len(values)


def _share(named: Sequence[Recompiles], frame: Frame, check: Check | None, count: int) -> list[Recompiles]:
    """The recompiles that a source stands for: those that name it first, and those that name another."""
    if check is None:
        return list(named)
    left, shared = count, []
    for one in named:
        shared.append(replace(one, count=min(one.count, left)))
        left -= shared[-1].count
    if left and not named:
        return [Recompiles(frame, check.source, check.kind, check.guard, left)]
    if left:
        shared[0] = replace(shared[0], count=shared[0].count + left)
    return [one for one in shared if one.count]


def _values(told: Sequence[Told], source: str) -> tuple[str, ...]:
    """The first few values of a source that compiled code was for."""
    return tuple(dict.fromkeys(value for one in told for value in one.values.get(source, ())))


def _logged(check: Check, frame: Frame) -> tuple[str, int, str]:
    """Path, line and text of the line that a check was made at; torch shortens its path."""
    whole = frame.path if frame.path.endswith(check.path.rpartition("/")[2]) else check.path
    return whole, check.line, check.text


def _is_about(subject: Subject, check: Check, place: Place, frame: Frame) -> bool:
    """Whether a finding's subject is the state that was checked."""
    if subject.environment:
        return subject.is_variable_in(check.source)
    if subject.argument:
        name = re.match(r"\w+", check.source)
        function = subject.owner.rpartition(".")[2]
        return name is not None and name[0] == subject.attribute and function == _original(frame.function)
    return place.attribute == subject.attribute and compatible(subject.inside, place.inside)


def _from(finding: Finding) -> _Line:
    return _Line(finding.span.path, finding.span.line, finding.code, finding.subject, "finding", finding)


def _code(check: Check, write: Write, hot: bool) -> str:
    """The rule about such a write."""
    if write.grows or check.kind in ("length", "presence"):
        return "DYN105"
    if check.source.startswith("G["):
        return "DYN106" if hot or not write.outside else "DYN102"
    if check.value == "None":
        return "DYN104" if hot else "DYN103"
    return "DYN101" if hot else "DYN102"


def _holder(source: str) -> str:
    """The attribute that holds the layer of torch whose number is checked; empty for another source."""
    return readable(source).rpartition(".")[0].rpartition(".")[2] if "_modules['" in source else ""


def _resumed(function: str) -> tuple[str, int] | None:
    """The function that a frame is the rest of, and the line that broke it; None for a whole function."""
    rest = function.partition(_RESUMED)[2]
    original, _, digits = rest.rpartition("_at_")
    line = whole(digits)
    return (original, line) if original and line is not None else None


def _original(function: str) -> str:
    """The name of the function that a frame is the rest of after a break."""
    resumed = _resumed(function)
    return resumed[0] if resumed else function


def _is_of_break(finding: Finding) -> bool:
    return finding.effect in ("break", "eager")


def _is_loud(finding: Finding) -> bool:
    return finding.severity != "note" and not finding.code.startswith(OF_THE_LINT)


def _loudness(finding: Finding) -> tuple[int, int]:
    known = finding.effect in _EFFECTS
    return SEVERITIES.index(finding.severity), _EFFECTS.index(finding.effect) if known else 0


def _cause(line: _Line, cost: _Cost, places: Places) -> Cause:
    known: dict[str, Any] = {one.name: getattr(cost, one.name) for one in fields(cost)}
    return Cause(**line._asdict(), **known | {"frames": tuple(map(places.here, cost.frames))})


def explanation(frames: Sequence[Told]) -> tuple[str, ...]:
    """The fewest sources that explain all recompiles of a frame, over all ranks; the most frequent first.

    Dynamo's first reason need not be the cause: for each entry that did not fit, it names the first check
    that failed, in the order of its guard tree, and that order says nothing about the program. A check that
    failed for one entry and held for another cannot alone explain a recompile: had it been repaired, the
    other would still not have fitted. So the smallest set of checks is sought of which each entry failed at
    least one, with what is known of the values each entry was for.
    """
    blocks: list[_Block] = []
    firsts: dict[str, list[int]] = defaultdict(list)
    count = 0
    for told in frames:
        by_recompile: dict[str, dict[str, str]] = defaultdict(dict)
        for recompile, entries in told.entries:
            by_recompile[recompile].update(entries)
        for recompile, failed in by_recompile.items():
            blocks.append(_Block(told, recompile, tuple(failed), count))
            for number, source in enumerate(failed.values(), count):
                firsts[source].append(number)
            count += len(failed)
    often = sorted(firsts, key=lambda source: -len(firsts[source]))
    rest = dict.fromkeys(source for told in frames for source in told.checks if source not in firsts)
    tried = [
        _failures(source, blocks, firsts.get(source, ())) for source in [*often, *rest][: 2 * MOST_TRIED]
    ]
    likely = [one for one in tried if one.likely][:MOST_TRIED]
    return _smallest(likely, (1 << count) - 1) or tuple(often)


class _Block(NamedTuple):
    """The entries that one recompile did not fit, and the number of the first among all of a frame."""

    told: Told
    recompile: str
    entries: tuple[str, ...]
    start: int


class _Failures(NamedTuple):
    """The entries that did not fit for a source, as the bits of their numbers."""

    source: str
    sure: int
    """By the log: Dynamo names it, or its values are known and differ."""
    likely: int
    """Also by its habit: where it is known, it has always another value."""


def _failures(source: str, blocks: Sequence[_Block], named: Iterable[int]) -> _Failures:
    """The entries that did not fit for a source, which is named as the reason of some."""
    sure = likely = 0
    for number in named:
        sure |= 1 << number
    for told, recompile, entries, start in blocks:
        values = told.guarded.get(source, {})
        steady = source in told.checks and 1 < len(values) == len(set(values.values()))
        differ = same = 0
        if (now := values.get(recompile)) is not None:
            for number, entry in enumerate(entries):
                if (before := values.get(entry)) is not None:
                    differ |= (before != now) << number
                    same |= (before == now) << number
        sure |= differ << start
        if steady:
            likely |= ((1 << len(entries)) - 1 & ~same) << start
    return _Failures(source, sure, sure | likely)


def _smallest(tried: Sequence[_Failures], every: int) -> tuple[str, ...]:
    """The best of the smallest sets of sources that meet every entry; empty if no small one does."""
    met = sorted((one.likely.bit_count() for one in tried), reverse=True)
    for size in range(1, LARGEST_SET + 1):
        if sum(met[:size]) < every.bit_count():
            continue
        fitting = [
            chosen
            for chosen in combinations(tried, size)
            if reduce(or_, (one.likely for one in chosen)) == every
        ]
        if fitting:
            best = max(fitting, key=lambda chosen: reduce(or_, (one.sure for one in chosen)).bit_count())
            return tuple(one.source for one in best)
    return ()


@dataclass(frozen=True, slots=True)
class Write:
    """A statement that gives an attribute or a global another value."""

    line: int
    function: str
    """Bare name of the function around it; empty at the top of a module."""
    grows: bool = False
    """It changes a container in place."""
    outside: bool = False
    """It writes to another object than `self`."""


CONSTRUCTORS = ("__init__", "__post_init__")


class _Writes:
    """The first write to each name: in a function of a file, in a file, and anywhere.

    A name is all that a log tells of an attribute, so these are candidates, the nearer to the frame the
    better; a finding, which knows the object, always comes first.
    """

    def __init__(self, files: Iterable[tuple[str, Sequence[tuple[str, Write]]]]) -> None:
        self._later: dict[tuple[str, str | None, str], tuple[str, Write]] = {}
        self._first: dict[tuple[str, str | None], tuple[str, Write]] = {}
        """Those of constructors."""
        self._items: dict[tuple[str, str], list[Write]] = defaultdict(list)
        for path, made in files:
            for name, write in made:
                if name.startswith("["):
                    self._items[path, name].append(write)
                if write.function in CONSTRUCTORS:
                    self._first.setdefault((name, path), (path, write))
                elif write.function:
                    for within in ((path, write.function), (path, ""), (None, "")):
                        self._later.setdefault((name, *within), (path, write))

    def of_item(self, path: str, key: str) -> Sequence[Write]:
        """The writes of a file to an item by its key, in order."""
        return self._items.get((path, f"[{key}]"), ())

    def nearest(
        self, name: str, near: Sequence[str], function: str, anywhere: bool
    ) -> tuple[str, Write] | None:
        """File and write that are nearest to a function; one of a constructor where there is no other.

        `near` has the files that come first; others count where a write may stand `anywhere`.
        """
        places: list[tuple[str | None, str]] = [(path, within) for path in near for within in (function, "")]
        places += [(None, "")] if anywhere else []
        later = (self._later.get((name, *place)) for place in places)
        first = (self._first.get((name, path)) for path in near)
        return next((one for one in (*later, *first) if one), None)


def writes(text: str) -> list[tuple[str, Write]]:
    """The attributes and globals that a file writes to, with each write, in order."""
    stack: list[tuple[ast.AST, str]] = [(_tree(text), "")]
    found: list[tuple[str, Write]] = []
    while stack:
        node, function = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        found += _written(node, function)
        stack.extend((child, function) for child in ast.iter_child_nodes(node))
    return sorted(found, key=lambda one: one[1].line)


def reads(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines of a file that read an attribute, with its name, or an item, with its text as the key."""
    for node in ast.walk(_tree(text)):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                yield node.lineno, name, ""
            case ast.Subscript(_, ast.Constant(str(key)), ctx=ast.Load()):
                yield node.lineno, "", key


def mode_changes(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that change a mode of the process by the functions of torch, and which mode."""
    tree = _tree(text)
    decorators = {
        id(one)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for decorator in node.decorator_list
        for one in ast.walk(decorator)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in decorators:
            mode = MODES.get(ast.unparse(node.func)) if isinstance(node.func, ast.Attribute) else None
            if mode is not None:
                yield node.lineno, mode.name


def static_compiles(text: str) -> Iterator[int]:
    """The lines of a file that compile with `dynamic=False`."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Call) and any(
            one.arg == "dynamic" and isinstance(one.value, ast.Constant) and one.value.value is False
            for one in node.keywords
        ):
            yield node.lineno


def _tree(text: str) -> ast.Module:
    """The syntax of a file; empty where it has none."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _written(node: ast.AST, function: str) -> Iterator[tuple[str, Write]]:
    """The names that a statement or call writes to."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets = node.targets
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.NamedExpr():
            targets = [node.target]
        case ast.Call(ast.Name("setattr"), [_, ast.Constant(str(name)), *_]):
            yield name, Write(node.lineno, function, outside=True)
        case ast.Call(ast.Attribute(held, method)) if method in GROWTH:
            yield _called(held), Write(node.lineno, function, grows=True)
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            inner = one.value if isinstance(one, ast.Subscript) else one
            match one:
                case ast.Subscript(_, ast.Constant(str(key))):
                    yield f"[{key}]", Write(one.lineno, function)
            if (name := _called(inner)) and not _is_local(inner, function):
                outside = isinstance(inner, ast.Attribute) and not _is_self(inner.value)
                yield name, Write(one.lineno, function, isinstance(one, ast.Subscript), outside)


def _called(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_local(node: ast.expr, function: str) -> bool:
    """Whether a bare name inside a function is taken for a local one: only `global` would make it none."""
    return isinstance(node, ast.Name) and bool(function) and not node.id.isupper()


class Places:
    """The linted files by what a log calls them: the job ran elsewhere, perhaps from an older state of it."""

    def __init__(self, sources: Sources, paths: Iterable[str]) -> None:
        self.sources = sources
        self._paths = sorted(set(paths))
        self._known: dict[str, str | None] = {}
        self._frames: dict[Frame, Frame] = {}
        self._ends: dict[str, str | None] = {}
        """Each path by each of its ends; None for an end of several."""
        for path in sorted(paths):
            for end in _ends(path):
                self._ends[end] = None if end in self._ends else path
        self._numbers: dict[str, dict[str, list[int]]] = {}
        """Of each file the lines that hold a text, spaces apart."""

    def paths(self) -> list[str]:
        """All linted files."""
        return self._paths

    def file(self, logged: str) -> str | None:
        """The linted file whose path ends most like a logged one; None where two do, or none."""
        if logged not in self._known:
            self._known[logged] = self._find(logged)
        return self._known[logged]

    def spelled(self, logged: str) -> str:
        """The linted file that a logged path means; as logged where there is none."""
        return self.file(logged) or logged

    def here(self, frame: Frame) -> Frame:
        """The same frame by the path of its source."""
        if frame not in self._frames:
            self._frames[frame] = replace(frame, path=self.spelled(frame.path))
        return self._frames[frame]

    def moved(self, logged: str, line: int, text: str) -> bool:
        """Whether another text than the logged one stands at a line now; False where that cannot be told."""
        path = self.file(logged)
        return path is not None and bool(text) and not _same(self.sources.line(path, line), text)

    def line_now(self, logged: str, line: int, text: str) -> int:
        """The line nearest to a logged one that holds its text now; the same number if none does."""
        path = self.file(logged)
        if path is None or not text or _same(self.sources.line(path, line), text):
            return line
        if path not in self._numbers:
            numbers = self._numbers[path] = defaultdict(list)
            for number, held in enumerate(self.text(path).split("\n"), 1):
                numbers[_spaced(held)].append(number)
        same = self._numbers[path].get(_spaced(text), [])
        behind = bisect_left(same, line)
        return min(same[max(behind - 1, 0) : behind + 1], key=lambda one: abs(one - line), default=line)

    def text(self, path: str) -> str:
        """The text of a linted file; none where it cannot be read."""
        try:
            return self.sources.text(path)
        except (OSError, ValueError, SyntaxError):
            return ""

    def _find(self, logged: str) -> str | None:
        if logged.startswith("<"):
            return None
        installed = _INSTALLED.match(logged)
        path = logged[installed.end() :] if installed else logged
        shared = list(takewhile(self._ends.__contains__, _ends(path)))
        if not shared or (installed and len(shared) < len(_parts(path))):
            return None
        return self._ends[shared[-1]]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".")]


def _ends(path: str) -> Iterator[str]:
    """A path by its last part, by its last two, and so on."""
    end = ""
    for part in reversed(_parts(path)):
        end = f"{part}/{end}" if end else part
        yield end


def _spaced(line: str) -> str:
    """A line with one space wherever it has some."""
    return " ".join(line.split())


def _same(one: str, other: str) -> bool:
    """Whether two lines are the same but for their spaces."""
    return one.split() == other.split()
