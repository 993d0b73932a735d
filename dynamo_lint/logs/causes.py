"""The lines that a person must change: what a job cost, joined with what its sources say."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.logs.model import Break, Cause, Job, LogReport, Recompiles
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
)
from dynamo_lint.sources import Sources

OF_THE_LINT = "DYN9"
"""How the codes of findings begin that are about the lint, not about compiled code."""

LARGEST_SET = 4
"""Checks that are tried together."""

Pair = tuple[str, str]
"""A recompile and an earlier entry that did not fit it."""

GROWTH = frozenset(
    ("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove")
)
"""Methods that change a container in place."""

_INSTALLED = re.compile(r".*[/\\](?:site-packages|dist-packages)[/\\]")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<function>.+)_at_(?P<line>\d+)$")
_EFFECTS = ("stale", "once", "per-instance", "per-value", "storm")
_MODE = "DYN110"
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
) -> LogReport:
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
    return LogReport(
        replace(located(job, places), notes=tuple(sorted({*job.notes, *notes}))),
        tuple(causes),
        located(tuple(unexplained), places),
        tuple(one for one in findings if one.effect and _is_loud(one) and one not in used),
    )


def located(account: Any, places: Places) -> Any:
    """A job, or a part of one, with the paths of the sources as they stand here."""
    if isinstance(account, tuple):
        return tuple(located(one, places) for one in account)
    if isinstance(account, dict):
        return {key: located(one, places) for key, one in account.items()}
    if not is_dataclass(account) or isinstance(account, type):
        return account
    parts = {one.name: getattr(account, one.name) for one in fields(account)}
    return replace(
        account,
        **{
            name: places.spelled(part) if name == "path" else located(part, places)
            for name, part in parts.items()
        },
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
            # A value that the line with the break left behind, for which the rest is compiled again.
            return self._break_at(frame.path, int(resumed["line"])) if resumed else None
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

    def _break_at(self, path: str, line: int) -> _Line | None:
        """The finding at a line that speaks of a break there."""
        here = [one for one in self._findings if self._is_on(one, path, line) and _is_of_break(one)]
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
        return subject.is_variable_in(check.source)
    if subject.argument:
        name = re.match(r"\w+", check.source)
        function = subject.owner.rpartition(".")[2]
        return name is not None and name[0] == subject.attribute and function == _original(frame.function)
    return place.attribute == subject.attribute and compatible(subject.inside, place.inside)


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


def _cause(line: _Line, cost: _Cost, places: Places) -> Cause:
    known: dict[str, Any] = {one.name: getattr(cost, one.name) for one in fields(cost)}
    return Cause(**line._asdict(), **known | {"frames": located(cost.frames, places)})


def explanation(frames: Sequence[Told]) -> tuple[str, ...]:
    """The fewest sources that explain all recompiles of a frame, over all ranks; the most frequent first.

    Dynamo's first reason need not be the cause: for each entry that did not fit, it names the first check
    that failed, in the order of its guard tree, and that order says nothing about the program. A check that
    failed for one entry and held for another cannot alone explain a recompile: had it been repaired, the
    other would still not have fitted. So the smallest set of checks is sought of which each entry failed at
    least one, with what is known of the values each entry was for.
    """
    failed: dict[tuple[int, Pair], dict[str, float]] = {}
    listed: dict[str, int] = defaultdict(int)
    for number, told in enumerate(frames):
        steady = {source for source in told.checks if _always_new(told, source)}
        for recompile, entries in told.entries:
            for entry, first in entries:
                listed[first] += 1
                failed[number, (recompile, entry)] = {
                    source: weight
                    for source in told.checks
                    if (weight := _weight(told, source, first, recompile, entry, source in steady))
                }
    if not failed:
        return ()
    return _smallest(failed, listed)


def _weight(told: Told, source: str, first: str, recompile: str, entry: str, steady: bool) -> float:
    """How sure it is that a source did not fit an entry: 1 by the log, 0.5 by its habit, 0 not at all."""
    if source == first:
        return 1.0
    before, now = told.guarded.get((entry, source)), told.guarded.get((recompile, source))
    if before is not None and now is not None:
        return float(before != now)
    return 0.5 if steady else 0.0


def _always_new(told: Told, source: str) -> bool:
    """Whether each entry whose value of a source is known was compiled for another one."""
    values = [value for (_, checked), value in told.guarded.items() if checked == source]
    return len(values) > 1 and len(set(values)) == len(values)


def _smallest(failed: dict[tuple[int, Pair], dict[str, float]], listed: dict[str, int]) -> tuple[str, ...]:
    """The best of the smallest sets that meet every pair; all sources if no small one does."""
    sources = sorted({source for one in failed.values() for source in one}, key=lambda one: -listed[one])
    for size in range(1, LARGEST_SET + 1):
        fitting = [
            chosen
            for chosen in combinations(sources[:16], size)
            if all(any(source in one for source in chosen) for one in failed.values())
        ]
        if fitting:
            return max(fitting, key=lambda chosen: _sureness(failed, chosen))
    return tuple(source for source in sources if listed[source])


def _sureness(failed: dict[tuple[int, Pair], dict[str, float]], chosen: tuple[str, ...]) -> float:
    return sum(max((one.get(source, 0.0) for source in chosen), default=0.0) for one in failed.values())


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


def writes(text: str, name: str) -> Iterator[Write]:
    """The places in a file that write to an attribute or global of that name, in order.

    A name is all that a log tells of an attribute, so these are candidates, ordered by how near they are to
    the frame; a finding, which knows the object, always comes first.
    """
    stack: list[tuple[ast.AST, str]] = [(_tree(text), "")]
    found: list[Write] = []
    while stack:
        node, function = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if (write := _write(node, name, function)) is not None:
            found.append(write)
        stack.extend((child, function) for child in ast.iter_child_nodes(node))
    yield from sorted(found, key=lambda one: one.line)


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


def _write(node: ast.AST, name: str, function: str) -> Write | None:
    """The write that a statement or call makes to the name, if it does."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets = node.targets
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.NamedExpr():
            targets = [node.target]
        case ast.Call(ast.Name("setattr"), [_, ast.Constant(value), *_]) if value == name:
            return Write(node.lineno, function, outside=True)
        case ast.Call(ast.Attribute(held, method)) if method in GROWTH and _called(held) == name:
            return Write(node.lineno, function, grows=True)
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            inner = one.value if isinstance(one, ast.Subscript) else one
            if _called(inner) == name and (
                isinstance(inner, ast.Attribute) or not _is_local(inner, function)
            ):
                outside = isinstance(inner, ast.Attribute) and not _is_self(inner.value)
                return Write(one.lineno, function, isinstance(one, ast.Subscript), outside)
    return None


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
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self._by_name[path.rpartition("/")[2]].append(path)
        self._known: dict[str, str | None] = {}

    def paths(self) -> list[str]:
        """All linted files."""
        return sorted(path for paths in self._by_name.values() for path in paths)

    def file(self, logged: str) -> str | None:
        """The linted file whose path ends most like a logged one; None where two do, or none."""
        if logged not in self._known:
            self._known[logged] = self._find(logged)
        return self._known[logged]

    def spelled(self, logged: str) -> str:
        """The linted file that a logged path means; as logged where there is none."""
        return self.file(logged) or logged

    def moved(self, logged: str, line: int, text: str) -> bool:
        """Whether another text than the logged one stands at a line now; False where that cannot be told."""
        path = self.file(logged)
        return path is not None and bool(text) and not _same(self.sources.line(path, line), text)

    def line_now(self, logged: str, line: int, text: str) -> int:
        """The line nearest to a logged one that holds its text now; the same number if none does."""
        path = self.file(logged)
        if path is None or not text or _same(self.sources.line(path, line), text):
            return line
        found = [number for number, one in enumerate(self.lines(path), 1) if _same(one, text)]
        return min(found, key=lambda number: abs(number - line), default=line)

    def lines(self, path: str) -> list[str]:
        """The lines of a linted file; none where it cannot be read."""
        try:
            return self.sources.text(path).split("\n")
        except (OSError, ValueError, SyntaxError):
            return []

    def _find(self, logged: str) -> str | None:
        if logged.startswith("<"):
            return None
        installed = _INSTALLED.match(logged)
        parts = _parts(logged[installed.end() :] if installed else logged)
        ranked = sorted(
            ((_common(parts, _parts(path)), path) for path in self._by_name.get(parts[-1], ())), reverse=True
        )
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        if installed and ranked[0][0] < len(parts):
            return None
        return ranked[0][1]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".")] or [""]


def _common(one: list[str], other: list[str]) -> int:
    """How many parts two paths have in common at their ends."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _same(one: str, other: str) -> bool:
    """Whether two lines are the same but for their spaces."""
    return one.split() == other.split()
