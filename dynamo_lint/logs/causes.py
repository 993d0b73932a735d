"""The lines that a person must change: what a job cost, joined with what its sources say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.logs.break_text import INTENDED
from dynamo_lint.logs.checks import Check
from dynamo_lint.logs.explain import explanation
from dynamo_lint.logs.model import Break, Cause, Frame, Job, Rank, Recompiles
from dynamo_lint.logs.places import Places
from dynamo_lint.logs.state import Place, place_of, readable
from dynamo_lint.logs.subjects import Subject, read_subject
from dynamo_lint.logs.tally import Process, Told
from dynamo_lint.logs.writes import Write, static_compiles, writes

OF_THE_LINT = "DYN9"
"""How the codes of findings begin that are about the lint, not about compiled code."""

_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<function>.+)_at_(?P<line>\d+)$")
_EFFECTS = ("stale", "once", "per-instance", "per-value", "storm")
_MODE = "DYN110"
_SIZES = "DYN506"
_NOTED = {"reset": ("DYN111",), "sizes": ("DYN506", "DYN507")}
"""Notes of a job, and the rules about what they tell: their findings are borne out."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A job as its sources explain it."""

    causes: tuple[Cause, ...]
    unexplained: tuple[Recompiles, ...]
    unseen: tuple[Finding, ...]
    notes: frozenset[str]


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
    frames: tuple[Frame, ...] = ()
    values: tuple[str, ...] = ()

    def add(self, frame: Frame, recompiles: int = 0, breaks: int = 0, limits: int = 0) -> None:
        """Add what one frame cost."""
        self.recompiles += recompiles
        self.breaks += breaks
        self.limits += limits
        self.frames = tuple(dict.fromkeys((*self.frames, frame)))


def explain(
    processes: Sequence[Process],
    job: Job,
    findings: Sequence[Finding],
    places: Places,
    codes: Mapping[str, str],
) -> Explained:
    """Join a job with the findings and the text of its sources.

    `codes` has the rule for each id of the registry of graph breaks.
    """
    join = _Join(findings, places, codes)
    costs: dict[_Line, _Cost] = defaultdict(_Cost)
    unexplained: list[Recompiles] = []
    notes: set[str] = set()
    for frame, told in _by_frame(processes).items():
        limits = [one for one in job.limits if one.frame == frame]
        sources = explanation(told) or tuple(dict.fromkeys(one.source for one in limits if one.source))
        shares = _shares(told, sources)
        masked = bool(shares) and any(source not in sources for one in told for source, _ in one.counts)
        for source in sources:
            check = next((one.checks[source] for one in told if source in one.checks), None)
            line = None if check is None else join.line_of(frame, check, told)
            if line is None:
                unexplained += [one for one in job.recompiles if (one.frame, one.source) == (frame, source)]
                continue
            hit = sum(one.source == source for one in limits) or (len(limits) if len(sources) == 1 else 0)
            costs[line].add(frame, recompiles=shares.get(source, 0), limits=hit)
            costs[line].masked |= masked
            if check is not None and check.kind == "value":
                costs[line].values = costs[line].values or _values(told, source)
            notes |= {"masked"} if masked else set()
        if any(places.moved(*_logged(one, frame)) for record in told for one in record.checks.values()):
            notes.add("sources-moved")
    for broken in job.breaks:
        if places.moved(broken.path, broken.line, broken.text):
            notes.add("sources-moved")
        if (line := join.line_of_break(broken)) is not None:
            costs[line].add(Frame(broken.path, broken.line, ""), breaks=broken.count)
    causes = sorted(
        (_cause(line, cost, places) for line, cost in costs.items()),
        key=lambda one: (-one.limits, -one.recompiles - one.breaks, one.path, one.line),
    )
    used = {one.finding for one in causes}
    noted = {code for note, codes in _NOTED.items() if note in job.notes for code in codes}
    used |= {one for one in findings if one.code in noted}
    return Explained(
        tuple(causes),
        tuple(_located(one, places) for one in unexplained),
        tuple(one for one in findings if one.effect and _is_loud(one) and one not in used),
        frozenset(notes),
    )


def located(job: Job, places: Places) -> Job:
    """The job with the paths of the sources as they stand here."""

    def frame(one: Frame) -> Frame:
        return replace(one, path=places.spelled(one.path))

    return replace(
        job,
        recompiles=tuple(_located(one, places) for one in job.recompiles),
        breaks=tuple(
            replace(
                one,
                path=places.spelled(one.path),
                stack=tuple((places.spelled(path), line) for path, line in one.stack),
            )
            for one in job.breaks
        ),
        limits=tuple(replace(one, frame=frame(one.frame)) for one in job.limits),
        ranks={
            number: Rank(
                one.recompiles,
                one.breaks,
                one.limits,
                one.compiles,
                tuple((frame(where), source, count) for where, source, count in one.frames),
            )
            for number, one in job.ranks.items()
        },
        moments=tuple(replace(one, frame=frame(one.frame)) for one in job.moments),
    )


def codes_by_id(pages: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """The rule for each id of the registry: of several, the first about graph breaks."""
    found: dict[str, str] = {}
    for code, idents in sorted(pages, key=lambda page: (not page[0].startswith("DYN4"), page[0])):
        for ident in idents:
            found.setdefault(ident, code)
    return found


class _Join:
    """Finds the line to change for what a log tells."""

    def __init__(self, findings: Sequence[Finding], places: Places, codes: Mapping[str, str]) -> None:
        self._findings = [one for one in findings if not one.code.startswith(OF_THE_LINT)]
        self._places = places
        self._codes = codes
        self._subjects = {
            one: [subject for text in (one.subject, *one.also) if (subject := read_subject(text))]
            for one in self._findings
        }

    def line_of(self, frame: Frame, check: Check, told: Sequence[Told]) -> _Line | None:
        """The line that makes a check of a frame fail."""
        resumed = _RESUMED.search(frame.function)
        if check.source.startswith("___stack"):
            return self._behind_break(frame, int(resumed["line"])) if resumed else None
        if check.kind == "size":
            return self._static_compile(frame)
        if (
            check.kind == "requires_grad"
            or check.source == "GLOBAL_STATE"
            or check.source.endswith(".training")
        ):
            modes = [one for one in self._findings if one.code == _MODE and self._nearness(one, frame)]
            return _from(modes[0]) if modes else None
        place = place_of(check.source)
        reading = self._reading(check, told)
        if (finding := self._finding(frame, check, place, reading)) is not None:
            return _from(finding)
        return self._written(frame, check, place) or self._read(frame, check, place, reading)

    def line_of_break(self, broken: Break) -> _Line | None:
        """The line that broke a graph; None where the code asks for the break."""
        line = self._places.line_now(broken.path, broken.line, broken.text)
        stack = [(broken.path, line), *reversed(broken.stack)]
        for path, number in stack[:2]:
            here = [one for one in self._findings if self._is_on(one, path, number) and _is_of_break(one)]
            if here:
                return _from(max(here, key=_loudness))
        file = self._places.file(broken.path)
        if file is None or broken.id in INTENDED:
            return None
        return _Line(file, line, self._codes.get(broken.id, ""), broken.text, "reading")

    def _finding(
        self, frame: Frame, check: Check, place: Place, reading: tuple[str, int] | None
    ) -> Finding | None:
        """The finding that speaks of a check: about the same state, and the nearest to the frame."""
        found = [
            ((self._nearness(one, frame), _loudness(one)), one)
            for one in self._findings
            if any(_is_about(subject, check, place, frame) for subject in self._subjects[one])
            or self._is_inside(one, check)
        ]
        if not found and reading is not None:
            found = [
                ((self._nearness(one, frame), _loudness(one)), one)
                for one in self._findings
                if not self._subjects[one] and self._is_on(one, *reading) and not _is_of_break(one)
            ]
        near = [pair for pair in found if pair[0][0]]
        return max(near, key=lambda pair: pair[0])[1] if near else None

    def _is_inside(self, finding: Finding, check: Check) -> bool:
        """Whether a check is about a number inside a layer of torch, known by the attribute that holds it."""
        if finding.effect != "per-instance" or "_modules['" not in check.source:
            return False
        parts = readable(check.source).split(".")[:-1]
        return any(subject.attribute == parts[-1] for subject in self._subjects[finding] if parts)

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

    def _behind_break(self, frame: Frame, line: int) -> _Line | None:
        """The line with the break that left a value behind, for which the rest is compiled again."""
        here = [one for one in self._findings if self._is_on(one, frame.path, line) and _is_of_break(one)]
        return _from(max(here, key=_loudness)) if here else None

    def _static_compile(self, frame: Frame) -> _Line | None:
        """The one line that compiles for fixed sizes: there the changing axis can be allowed."""
        found = [
            (path, line)
            for path in self._places.paths()
            for line in static_compiles("\n".join(self._places.lines(path)))
        ]
        near = [one for one in found if one[0] == self._places.file(frame.path)] or found
        return _Line(*near[0], _SIZES, "dynamic=False", "assignment") if len(near) == 1 else None

    def _written(self, frame: Frame, check: Check, place: Place) -> _Line | None:
        """The assignment that changes a piece of state, where it is likely to be the only one meant."""
        if not place.owner and not check.source.startswith("G["):
            return None
        if "environ" in check.source:
            return None
        function = _original(frame.function)
        own = self._places.file(frame.path)
        found = [
            (path, write)
            for path in self._places.paths()
            for write in writes("\n".join(self._places.lines(path)), place.attribute)
        ]
        later = [one for one in found if one[1].function not in ("__init__", "__post_init__", "")]
        if not later:
            chosen = next((one for one in found if one[0] == own and one[1].function), None)
            return (
                None
                if chosen is None
                else _Line(*_at(chosen), "DYN107", readable(check.source), "assignment")
            )
        hot = [one for one in later if one[0] == own and one[1].function == function]
        chosen = (hot or [one for one in later if one[0] == own] or later)[0]
        return _Line(*_at(chosen), _code(check, chosen[1], bool(hot)), readable(check.source), "assignment")

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
    """How many recompiles each source of an explanation stands for; those behind another go to the first."""
    shares: dict[str, int] = defaultdict(int)
    for one in told:
        for (source, _), count in one.counts.items():
            if sources:
                shares[source if source in sources else sources[0]] += count
    return shares


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
        return (
            "environ" in check.source
            and re.search(rf"\b{re.escape(subject.attribute)}\b", check.source) is not None
        )
    if subject.argument:
        name = re.match(r"\w+", check.source)
        function = subject.owner.rpartition(".")[2]
        return name is not None and name[0] == subject.attribute and function == _original(frame.function)
    if place.attribute != subject.attribute:
        return False
    mine, theirs = (way.partition("[...]")[0] for way in (subject.inside, place.inside))
    return not mine or not theirs or mine.startswith(theirs) or theirs.startswith(mine)


def _from(finding: Finding) -> _Line:
    return _Line(finding.span.path, finding.span.line, finding.code, finding.subject, "finding", finding)


def _at(found: tuple[str, Write]) -> tuple[str, int]:
    return found[0], found[1].line


def _code(check: Check, write: Write, hot: bool) -> str:
    """The rule about such a write."""
    if write.grows or check.kind in ("length", "presence"):
        return "DYN105"
    if check.source.startswith("G["):
        return "DYN106" if hot or not write.outside else "DYN102"
    if check.value == "None":
        return "DYN104" if hot else "DYN103"
    return "DYN101" if hot else "DYN102"


def _original(function: str) -> str:
    """The name of the function that a frame is the rest of after a break."""
    resumed = _RESUMED.search(function)
    return resumed["function"] if resumed else function


def _is_of_break(finding: Finding) -> bool:
    return finding.effect in ("break", "eager")


def _is_loud(finding: Finding) -> bool:
    return finding.severity != "note" and not finding.code.startswith(OF_THE_LINT)


def _loudness(finding: Finding) -> tuple[int, int]:
    known = finding.effect in _EFFECTS
    return SEVERITIES.index(finding.severity), _EFFECTS.index(finding.effect) if known else 0


def _located(one: Recompiles, places: Places) -> Recompiles:
    return replace(one, frame=replace(one.frame, path=places.spelled(one.frame.path)))


def _cause(line: _Line, cost: _Cost, places: Places) -> Cause:
    return Cause(
        line.path,
        line.line,
        line.code,
        line.subject,
        tuple(replace(one, path=places.spelled(one.path)) for one in cost.frames),
        cost.recompiles,
        cost.breaks,
        cost.limits,
        line.evidence,
        cost.masked,
        line.finding,
        cost.values,
    )
