"""The whole of `confirm`: findings and probes in, a report for each probe out.

Each probe runs in a process of its own, so that a crash or a hang costs one probe and no state leaks; once
more on a copy of the project to which the fixes have been applied, if that is asked for.
"""

from __future__ import annotations

import ast
import difflib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from dynamo_lint import files
from dynamo_lint.config import DEFAULT_EXCLUDE
from dynamo_lint.confirm.model import (
    STAGES,
    USUAL,
    Digest,
    Receipt,
    Reply,
    Request,
    Setting,
    Way,
    from_json,
    relative,
)
from dynamo_lint.confirm.probes import ProbeRef
from dynamo_lint.confirm.verdicts import ProbeReport, judged, tempered, unpredicted
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.processes import adopt_orphans

if TYPE_CHECKING:
    from dynamo_lint.confirm.automatic import MadeProbe

NO_TORCH = "torch is not installed"

DROPPED = (
    "TORCH_LOGS",  # overrides what is listened to
    "TORCH_TRACE",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_JOB_ID",  # profile-guided: the second process would not recompile
    "TORCH_COMPILE_STICKY_PGO",
    "TORCH_COMPILE_DISABLE",
    "TORCH_COMPILE_DYNAMIC_",
    "TORCH_COMPILE_STATIC_",
    "TORCH_COMPILE_UNBACKED_",
    "TORCH_COMPILE_OVERRIDE_",
    "TORCHDYNAMO_",
    "TORCHINDUCTOR_CACHE_DIR",
)
"""Beginnings of the variables that would change what Dynamo does or says."""

STARTER = "import sys; sys.path.append({home!r}); from dynamo_lint.confirm.child.main import main; main()"
"""`home` goes last: the program under test must find its own packages first."""

LARGEST = 10_000_000
"""Bytes; larger files are data and checkpoints, which no probe should need."""

TAIL = 4
"""Lines of a probe's own output that are quoted when it dies."""
_TAIL_BYTES = 20_000
"""Bytes in which they are looked for; the output as a whole may fill the disk."""

SET_FROM_OUTSIDE = frozenset({"DYN102"})
"""Rules about state that code outside the region changes, which a probe alone may never do."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A probe before and after the fixes."""

    before: ProbeReport
    after: ProbeReport
    same_outputs: bool | None
    """Whether each call returned the same numbers; None where one of the runs failed."""
    graphs: tuple[str, ...]
    """Operations that came (`+ add`) or went (`- mul`) in the first graph of each function."""


def confirm(
    probes: Sequence[ProbeRef],
    findings: Sequence[Finding],
    root: Path,
    how: Request,
    timeout: float,
    python: str,
    progress: Progress,
) -> list[ProbeReport]:
    """Run each probe in a process of its own, in the way of a request, and judge the findings by it."""
    reports = []
    for number, probe in enumerate(probes):
        progress(number, len(probes), probe.name)
        request = requested(probe, findings, root, how)
        reports.append(report(probe, run(request, timeout, python), findings, root))
    progress(len(probes), len(probes), "")
    return reports


def confirm_made(
    made: Sequence[MadeProbe],
    findings: Sequence[Finding],
    root: Path,
    how: Request,
    timeout: float,
    python: str,
    progress: Progress,
) -> list[ProbeReport]:
    """Run each probe that was made, confined, and judge the findings about what it compiles."""
    reports = []
    programs: dict[str, Reply] = {}
    for number, one in enumerate(made):
        progress(number, len(made), one.name)
        ways = [
            way for way in one.ways if not way.once or programs.get(way.origin, Reply("")).stage != "start"
        ]
        known = programs.get(ways[0].origin) if ways and ways[0].once else None
        shared = known is not None and known.receipt is not None and _compiles(known.receipt, one.unit, root)
        if shared and known is not None:
            reply = replace(known, way=ways[0].name)
        else:
            reply = _run_made(one, ways, findings, root, how, timeout, python)
        way = next((way for way in one.ways if way.name == reply.way), None)
        if way is not None and way.once:
            programs.setdefault(way.origin, reply if reply.receipt else Reply("start"))
            if reply.receipt is None and (others := [other for other in ways if not other.once]):
                # A program that takes too long is no probe.
                reply = _run_made(one, others, findings, root, how, timeout, python)
                way = next((way for way in one.ways if way.name == reply.way), None)
        told = _report_of_made(one, way, reply, findings, root)
        reports.append(_of_region(told, one.unit) if shared else told)
    progress(len(made), len(made), "")
    return reports


def _run_made(
    one: MadeProbe,
    ways: Sequence[Way],
    findings: Sequence[Finding],
    root: Path,
    how: Request,
    timeout: float,
    python: str,
) -> Reply:
    """Run one probe that was made; what it said before its time was over holds."""
    once = tuple(way.name for way in ways if way.once)
    watched = findings if once else [each for each in findings if each.unit in ("", one.unit)]
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-") as folder:
        path = Path(folder) / f"{one.name}.py"
        path.write_text(one.text, encoding="utf-8")
        request = replace(
            requested(ProbeRef(path, one.name, one.entry.line), watched, root, how),
            shadows=True,
            ways=tuple(way.name for way in ways),
            once=once,
            unit=one.unit,
            scripts=one.scripts,
            confined=True,
        )
        reply = run(request, timeout, python)
    if reply.error and reply.receipt is not None:
        return replace(reply, error="", problems=(*reply.problems, reply.error))
    return reply


def _report_of_made(
    one: MadeProbe, way: Way | None, reply: Reply, findings: Sequence[Finding], root: Path
) -> ProbeReport:
    """The verdicts of a made probe; that it says nothing of other regions goes without saying."""
    told = report(ProbeRef(root / one.entry.path, one.name, one.entry.line), reply, findings, root)
    about = [
        verdict
        for verdict in told.verdicts
        if verdict.verdict != "unobserved" or verdict.finding.unit in ("", one.unit)
    ]
    verdicts = tuple(tempered(verdict, way) for verdict in about) if way else ()
    return replace(told, path=one.entry.path, verdicts=verdicts, way=way)


def _of_region(told: ProbeReport, unit: str) -> ProbeReport:
    """The report without what that of another region has, which the same run of a program made."""
    own = tuple(verdict for verdict in told.verdicts if verdict.finding.unit == unit)
    return replace(told, verdicts=own, unpredicted_recompiles=(), unpredicted_breaks=())


def _compiles(receipt: Receipt, unit: str, root: Path) -> bool:
    """Whether a function was compiled by itself."""
    units = ((unit.path, unit.function) for unit in receipt.units)
    return any(f"{relative(path, root)}::{name}" == unit for path, name in units)


def requested(probe: ProbeRef, findings: Sequence[Finding], root: Path, how: Request = USUAL) -> Request:
    """Return the request for one probe, with what it has to show so that these findings can be judged."""
    return replace(
        how,
        path=str(probe.path.resolve()),
        probe=probe.name,
        root=str(root),
        watch=tuple(dict.fromkeys(finding.subject for finding in findings)),
        settings=(*how.settings, *automatic(findings, how.settings)),
    )


def report(probe: ProbeRef, reply: Reply, findings: Sequence[Finding], root: Path) -> ProbeReport:
    """Return the verdicts of a probe on the findings in the files that it loaded."""
    loaded = {relative(path, root) for path in reply.ran or {}}
    near = [finding for finding in findings if finding.span.path in loaded]
    verdicts = tuple(judged(finding, reply, root) for finding in near)
    recompiles, breaks = unpredicted(verdicts, reply.receipt) if reply.receipt else ((), ())
    return ProbeReport(
        name=probe.name,
        path=relative(str(probe.path.resolve()), root),
        line=probe.line,
        reply=reply,
        verdicts=verdicts,
        unpredicted_recompiles=recompiles,
        unpredicted_breaks=breaks,
    )


def automatic(findings: Sequence[Finding], given: Sequence[Setting]) -> list[Setting]:
    """Schedules for findings about state that is changed from outside, unless the user gave values."""
    named = {one.subject for one in given}
    subjects = dict.fromkeys(one.subject for one in findings if one.code in SET_FROM_OUTSIDE)
    return [Setting(subject) for subject in subjects if subject not in named]


def read_setting(text: str) -> Setting:
    """`Block.scale=0.5,2,4`: what to set, and the values, each a Python literal or else a string."""
    subject, mark, listed = text.partition("=")
    if not mark or not subject.strip() or not listed.strip():
        raise ValueError(f"{text!r} is not NAME=VALUE,VALUE,..., such as Block.scale=0.5,2,4")
    return Setting(subject.strip(), _values(listed))


def _values(listed: str) -> tuple[Any, ...]:
    try:
        made = ast.literal_eval(f"({listed},)")
    except (ValueError, SyntaxError):
        return tuple(part.strip() for part in listed.split(","))
    return tuple(made)


def run(request: Request, timeout: float, python: str = sys.executable) -> Reply:
    """Run one probe; whatever becomes of it, there is a reply."""
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-") as folder:
        question, answer, log = (Path(folder) / name for name in ("request.json", "reply.json", "log"))
        question.write_text(json.dumps(asdict(request)), encoding="utf-8")
        home = str(Path(__file__).parent.parent.parent)
        command = [python, "-c", STARTER.format(home=home), str(question), str(answer)]
        with log.open("wb") as sink:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=request.root,
                    env=environment(os.environ, folder),
                    stdin=subprocess.PIPE,  # never written to: its end tells the probe that we are gone
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                return Reply("start", error=f"{python} cannot be started: {error.strerror}")
            ended = _wait(process, timeout)
        reply = _read(answer)
        if reply.error:
            return replace(reply, detail=reply.detail or _last_lines(log))
        if reply.stage == "done" and process.returncode == 0:
            return reply
        if not ended:
            why = f"took longer than {timeout:g} seconds and was stopped"
        elif process.returncode < 0:
            why = f"crashed with {signal.Signals(-process.returncode).name}"
        else:
            why = f"ended with status {process.returncode}"
        return replace(reply, error=f"{why} {STAGES.get(reply.stage, '')}".strip(), detail=_last_lines(log))


def environment(outer: Mapping[str, str], folder: str) -> dict[str, str]:
    """An environment in which nothing is cached, switched off, random or left over."""
    kept = {name: value for name, value in outer.items() if not name.startswith(DROPPED)}
    return {
        **kept,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder),
        "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "cache"),
        "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _wait(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether it ended by itself; it and what it started are killed, also if it did."""
    try:
        process.wait(timeout)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with suppress(
            ProcessLookupError, PermissionError
        ):  # nothing is left of it, as macOS says of the dead
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    if sys.platform == "linux":
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-process.pid, 0)  # those of its group that lost their parents
    if process.stdin is not None:
        process.stdin.close()


def _read(answer: Path) -> Reply:
    try:
        reply: Reply = from_json(Reply, json.loads(files.read(answer, links=False)))
        return reply
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Reply("start")


def _last_lines(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = stream.read(_TAIL_BYTES).decode("utf-8", "replace")
    return "\n".join([line for line in text.splitlines() if line.strip()][-TAIL:])


def copied(root: Path, fixed: Mapping[str, bytes], to: Path, needed: Iterable[str] = ()) -> Path:
    """A copy of a project with some files replaced; caches, environments and large files stay behind.

    Folders with files that are `needed` are copied whatever they are called. No link in the copy leads out of
    it: a linked file is copied, a link to a folder leads to its copy, and other links stay behind.
    """
    copy = to / root.name
    above = {str(parent) for path in (*needed, *fixed) for parent in PurePosixPath(path).parents}
    _copy_folder(Path(os.path.realpath(root)), copy, "", above)
    for path, content in fixed.items():
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)
    return copy


def _copy_folder(root: Path, copy: Path, below: str, needed: Collection[str]) -> None:
    (copy / below).mkdir(parents=True)
    for entry in sorted(os.scandir(root / below), key=lambda entry: entry.name):
        path = f"{below}/{entry.name}" if below else entry.name
        left_out = entry.name in DEFAULT_EXCLUDE or entry.name.startswith(".")
        if left_out and not (entry.is_dir() and path in needed):
            continue
        if entry.is_dir():
            if not entry.is_symlink() or (path in needed and files.inside(entry.path, [str(root)])):
                _copy_folder(root, copy, path, needed)
            elif files.inside(entry.path, [str(root)]):
                there = copy / os.path.relpath(os.path.realpath(entry.path), root)
                (copy / path).symlink_to(os.path.relpath(there, (copy / path).parent), True)
        elif entry.is_file() and entry.stat().st_size <= LARGEST:
            with suppress(PermissionError):  # then the program cannot read it either
                shutil.copy2(entry.path, copy / path)


def compared(before: ProbeReport, after: ProbeReport) -> Comparison:
    """Return the comparison of one probe before and after the fixes."""
    ours, theirs = before.reply.receipt, after.reply.receipt
    same = None
    if ours and theirs and ours.failure is None and theirs.failure is None:
        same = _same(before.reply.outputs, after.reply.outputs)
    return Comparison(before, after, same, tuple(_changes(ours, theirs)) if ours and theirs else ())


def _same(ours: Sequence[Digest], theirs: Sequence[Digest]) -> bool:
    return len(ours) == len(theirs) and all(
        len(one) == len(other)
        and all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) for a, b in zip(one, other, strict=True))
        for one, other in zip(ours, theirs, strict=True)
    )


def _changes(ours: Receipt, theirs: Receipt) -> Iterable[str]:
    first, last = _graphs(ours), _graphs(theirs)
    for function in dict.fromkeys([*first, *last]):
        lines = difflib.ndiff(first.get(function, ()), last.get(function, ()))
        changes = [line for line in lines if line[:1] in "+-"]
        if changes:
            yield f"{function}: {', '.join(changes)}"


def _graphs(receipt: Receipt) -> dict[str, tuple[str, ...]]:
    """The first graph of each function."""
    found: dict[str, tuple[str, ...]] = {}
    for one in receipt.compiles:
        found.setdefault(one.function, one.operations)
    return found
