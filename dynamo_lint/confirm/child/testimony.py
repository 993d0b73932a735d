"""Runs one probe: without the compiler, compiled, watched, and once more with the usual recompile limit."""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from dynamo_lint.confirm.child.lines import Lines, lines_run
from dynamo_lint.confirm.child.program import Hooks, Program, Twin, compiled, eager, first_that_runs
from dynamo_lint.confirm.child.values import digest
from dynamo_lint.confirm.child.watch import Schedule, Timepoint, Watch
from dynamo_lint.confirm.child.witness import NO_LIMIT, plain
from dynamo_lint.confirm.model import STAGES, Receipt, Reply, Request
from dynamo_lint.logs.texts import Subject, read_subject

Write = Callable[[Reply], Reply]
"""Makes a reply known; each stands in for the one before."""

Timeline = list[Timepoint]


Made = TypeVar("Made")


class Died(Exception):
    """The copy ended without an answer; the text says how."""


def apart(function: Callable[[], Made]) -> Made:
    """Return or raise as `function` does, computed in a copy of this process where the system has copies.

    Nothing that it does is then felt by the next one. A program cannot be imported twice with impunity: it
    registers operators, sets options of torch, starts threads. Each run of a probe therefore starts from the
    same process, with torch loaded and the program not.
    """
    if not hasattr(os, "fork"):
        return function()
    with TemporaryDirectory(prefix="dynamo-lint-") as folder:
        answer = Path(folder) / "answer"
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _answer(function, answer)
        _, status = os.waitpid(child, 0)
        if not answer.exists():
            code = os.waitstatus_to_exitcode(status)
            raise Died(f"crashed with {Signals(-code).name}" if code < 0 else f"ended with status {code}")
        made, error = pickle.loads(answer.read_bytes())
    if error is not None:
        raise error
    result: Made = made
    return result


def _answer(function: Callable[[], object], file: Path) -> None:
    """Compute, write, and leave without the clean-up that belongs to the original process."""
    status = 1
    try:
        try:
            told = pickle.dumps((function(), None))
        except BaseException as error:
            told = pickle.dumps((None, Raised.of(error)))
        draft = file.with_suffix(".part")
        draft.write_bytes(told)
        draft.replace(file)
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class Raised(Exception):
    """An exception raised in a copy: its class, the first line of its message, its traceback."""

    @staticmethod
    def of(error: BaseException) -> Raised:
        """An exception of any class as one that every process knows."""
        if isinstance(error, Raised):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        places = tuple((frame.filename, frame.lineno or 0) for frame in frames)
        message = (str(error).strip().splitlines() or [""])[0]
        return Raised(f"{type(error).__name__}: {message}".rstrip(": "), places)

    @property
    def text(self) -> str:
        """Class and message."""
        return str(self.args[0])

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Files and lines, the innermost last."""
        return tuple(self.args[1])


def reply_to(request: Request, write: Write, separate: Callable[[Callable[[], Any]], Any] = apart) -> None:
    """Reply to a request, step by step, so that a crash leaves what was known.

    `separate` runs each step so that it cannot disturb the next.
    """
    case = _Case.of(request)
    for name in request.preload:
        with suppress(Exception):
            importlib.import_module(name)
    known = write(Reply("eager"))
    try:
        left = request.ways
        while True:
            if request.ways:
                way = separate(partial(case.first_way, left))
                case, left = case.of_way(way), left[left.index(way) + 1 :]
                known = replace(known, way=way)
            twin, ran, problems = separate(case.alone)
            known = replace(
                known, stage="compiled", recompile_limit=request.recompile_limit or twin.recompile_limit
            )
            outputs = tuple(tuple(digest(one)) for one in twin.outputs)
            known = replace(known, ran=plain(ran), problems=problems, outputs=outputs)
            write(known)
            receipt, timeline = separate(partial(case.compiled, twin, NO_LIMIT))
            if not request.ways or (twin.sites and case.compiles(receipt)):
                break
            known = Reply("eager", error=f"it runs, but `{case.name}` is not compiled in it")
            if not left:
                write(known)
                return
        known = write(replace(known, stage="limited", receipt=receipt, error=""))
        if case.subjects:
            known = write(separate(lambda: case.watched(known, timeline)))
        if receipt.most_versions() > known.recompile_limit:
            limited, _ = separate(lambda: case.compiled(twin, known.recompile_limit))
            idle = set(range(limited.calls)) - set(limited.graph_calls)
            known = replace(known, hit_limit=bool(limited.limit_hit), eager_calls=tuple(sorted(idle)))
    except Exception as error:
        write(known if known.error else _failed(known, error, case.root))
        return
    write(replace(known, stage="done"))


@dataclass(frozen=True, slots=True)
class _Case:
    """A request, ready to be run."""

    request: Request
    root: Path
    program: Program
    subjects: tuple[Subject, ...]

    @staticmethod
    def of(request: Request) -> _Case:
        root = Path(request.root)
        extra = Schedule(request.settings, root, request.calls).calls - request.calls
        program = Program(
            Path(request.path),
            request.probe,
            root,
            request.calls,
            extra,
            request.shadows,
            request.scripts,
            request.confined,
        )
        subjects = tuple(one for text in request.watch if (one := read_subject(text)) is not None)
        return _Case(request, root, program, subjects)

    @property
    def name(self) -> str:
        """The qualified name of the function that the request is about."""
        return self.request.unit.partition("::")[2]

    def first_way(self, ways: Sequence[str]) -> str:
        """The first of some functions of the file that runs without the compiler."""
        return first_that_runs(self.program, ways)

    def of_way(self, way: str) -> _Case:
        """The same with the probe that a function makes."""
        once = replace(self.request, calls=1, settings=()) if way in self.request.once else self.request
        return _Case.of(replace(once, probe=way))

    def compiles(self, receipt: Receipt) -> bool:
        """Whether what the request is about was compiled by itself, or tried to be."""
        file, name = str(self.root / self.request.unit.partition("::")[0]), self.name
        units = {one for unit in receipt.units for one in ((unit.path, unit.function), *unit.inside)}
        broken = {(one.path, one.function) for one in receipt.breaks}
        return not name or (file, name) in units or (file, name.rpartition(".")[2]) in broken

    def schedule(self) -> Schedule:
        """The assignments from outside, from the start."""
        return Schedule(self.request.settings, self.root, self.request.calls)

    def alone(self) -> tuple[Twin, Lines, tuple[str, ...]]:
        """The program without the compiler, with its lines and what could not be set."""
        schedule = self.schedule()
        with lines_run(self.root) as ran:
            twin = eager(self.program, Hooks((schedule.before,)))
        return twin, ran, (*twin.problems, *dict.fromkeys(schedule.problems))

    def compiled(self, twin: Twin, limit: int) -> tuple[Receipt, Timeline]:
        """The program under Dynamo, with the state after each call."""
        watch = Watch(self.subjects, self.root)
        hooks = Hooks((self.schedule().before, watch.before), (watch.after,))
        return compiled(self.program, twin, self.request.backend, limit, hooks), watch.timeline

    def watched(self, known: Reply, timeline: Sequence[Timepoint]) -> Reply:
        """The program without the compiler once more, for the values that its guards would have met."""
        watch = Watch(self.subjects, self.root, known.receipt.units if known.receipt else ())
        with lines_run(self.root, watch.on_enter):
            eager(self.program, Hooks((self.schedule().before, watch.before), (watch.after,)))
        pairs = list(zip(timeline, watch.timeline, strict=False))
        return replace(
            known,
            met=watch.met(),
            diverged=tuple(
                one.text
                for one in self.subjects
                if any(_differ(ours[one.text], theirs[one.text]) for ours, theirs in pairs)
            ),
        )


def _differ(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether as many owners have other values; where there are more or fewer, they are not the same ones."""
    return len(ours) == len(theirs) and ours != theirs


def _failed(known: Reply, error: Exception, root: Path) -> Reply:
    """The reply with what went wrong, and where in the project."""
    raised = error if isinstance(error, Raised) else Raised.of(error)
    own = [place for place in raised.places if Path(place[0]).is_relative_to(root)]
    where = (own or [*raised.places])[-1:]
    text = raised.text.removeprefix("ProbeError: ")
    if text.startswith("Died: "):
        return replace(known, error=f"{text[6:]} {STAGES[known.stage]}")
    return replace(known, error=text, detail=":".join(map(str, where[0])) if where else "")
