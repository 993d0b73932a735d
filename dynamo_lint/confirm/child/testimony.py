"""Runs one probe: without the compiler, compiled, watched, and once more with the usual recompile limit."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dynamo_lint.confirm.child.lines import lines_run
from dynamo_lint.confirm.child.program import Hooks, ProbeError, Program, compiled, eager
from dynamo_lint.confirm.child.schedule import Schedule
from dynamo_lint.confirm.child.watch import Watch
from dynamo_lint.confirm.messages import Reply, Request
from dynamo_lint.confirm.subjects import read_subject

Write = Callable[[Reply], Reply]
"""Makes a reply known; each stands in for the one before."""


def reply_to(request: Request, write: Write) -> None:
    """Reply to a request, step by step, so that a crash leaves what was known."""
    root = Path(request.root)
    schedule = Schedule(request.settings, root, request.calls)
    extra = schedule.calls - request.calls
    program = Program(Path(request.path), request.probe, root, request.calls, extra)
    write(Reply("eager"))
    try:
        with lines_run(root) as ran:
            twin = eager(program, Hooks((schedule.before,)))
    except ProbeError as error:
        write(Reply("eager", error=str(error)))
        return
    except BaseException as error:
        write(_failed("eager", error, request))
        return
    known = Reply(
        "compiled",
        recompile_limit=request.recompile_limit or twin.recompile_limit,
        ran={path: tuple(sorted(lines)) for path, lines in sorted(ran.items())},
        problems=(*twin.problems, *dict.fromkeys(schedule.problems)),
    )
    write(known)
    subjects = tuple(subject for text in request.watch if (subject := read_subject(text)) is not None)
    ours = Watch(subjects, root)
    setting = Schedule(request.settings, root, request.calls).before
    try:
        receipt = compiled(program, twin, request.backend, hooks=Hooks((setting, ours.before), (ours.after,)))
    except BaseException as error:
        write(replace(_failed("compiled", error, request), ran=known.ran))
        return
    known = write(replace(known, stage="limited", receipt=receipt))
    if subjects:
        known = write(_watched(known, program, request, ours))
    if receipt.most_versions() > known.recompile_limit:
        setting = Schedule(request.settings, root, request.calls).before
        limited = compiled(program, twin, request.backend, known.recompile_limit, Hooks((setting,)))
        idle = set(range(limited.calls)) - set(limited.graph_calls)
        known = replace(known, hit_limit=bool(limited.limit_hit), eager_calls=tuple(sorted(idle)))
    write(replace(known, stage="done"))


def _watched(known: Reply, program: Program, request: Request, ours: Watch) -> Reply:
    """Run without the compiler once more, to see the values that its guards would have met."""
    assert known.receipt is not None
    compiled_once = {(one.path, one.first_line, _bare(one.function)) for one in known.receipt.compiles}
    again = {(one.path, one.first_line, _bare(one.function)) for one in known.receipt.recompiles}
    roots = compiled_once | again
    met = known.ran or {}
    theirs = Watch(
        ours.subjects, program.root, frozenset(root for root in roots if root[1] in met.get(root[0], ()))
    )
    setting = Schedule(request.settings, program.root, request.calls).before
    with lines_run(program.root, theirs.entered):
        eager(program, Hooks((setting, theirs.before), (theirs.after,)))
    pairs = list(zip(ours.timeline, theirs.timeline, strict=False))
    return replace(
        known,
        varied={text: tuple(values) for text, values in theirs.varied().items()},
        across={text: tuple(values) for text, values in theirs.across().items()},
        diverged=tuple(
            subject.text
            for subject in ours.subjects
            if any(compiled[subject.text] != eager[subject.text] for compiled, eager in pairs)
        ),
    )


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def _failed(stage: str, error: BaseException, request: Request) -> Reply:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(request.root)]
    frame = (own or frames)[-1] if frames else None
    where = f"{frame.filename}:{frame.lineno}" if frame else ""
    message = (str(error).strip().splitlines() or [""])[0]
    return Reply(stage, error=f"{type(error).__name__}: {message}".rstrip(": "), detail=where)
