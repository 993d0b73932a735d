"""The account of a job in sentences, for all formats that people read."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.logs.model import Break, Budget, Cause, Frame, Job, LogReport, Recompiles
from dynamo_lint.terminal import Look

NOTES = {
    "masked": "Dynamo's first reason is not the cause: it names the first failed check of its guard tree; "
    "others fail in the reasons of further entries.",
    "sizes": "Some recompiles are for another size of an input, which no state of the program explains.",
    "no-log-lines": "Not one line of Dynamo is in these logs, which proves nothing. Run the job with "
    "TORCH_LOGS=recompiles,graph_breaks, or with TORCH_TRACE set to a folder.",
    "recompiles-not-logged": "A limit was hit and no recompile is in the log: the log settings were off. Run "
    "the job with TORCH_LOGS=recompiles,graph_breaks to see every recompile.",
    "truncated": "The last record is cut off, as when a job is killed: what came after it is not counted.",
    "head-lost": "The first compiles of a frame are missing: the log does not begin with the job.",
    "sources-moved": "The sources have changed since the job ran: lines were found again by name and text.",
    "ranks-diverge": "The ranks did not compile the same frames for the same reasons. With collectives in "
    "compiled code, a rank that compiles while the others wait looks like a hang.",
    "reset": "Compile numbers start again in one process: something calls `torch._dynamo.reset()`.",
}
"""Each note in a sentence or two."""

PROOFS = {
    "trace": "a structured trace, which tells of every compile",
    "text": "a text log, which tells what was switched on when the job ran",
    "none": "nothing",
}

SIZES = "DYN506"
"""The rule about sizes that vary under `dynamic=False`."""

LIMITS = {"recompile_limit": "recompile limit", "accumulated_recompile_limit": "accumulated recompile limit"}


def counts(job: Job) -> str:
    """The cost of the whole job in one line."""
    parts = []
    if job.compiles is not None:
        parts.append(counted(job.compiles, "compile"))
    for noun, count in (
        ("recompile", sum(one.count for one in job.recompiles)),
        ("graph break", sum(one.count for one in job.breaks)),
    ):
        told = count or job.proof == "trace"
        parts.append(counted(count, noun) if told else f"no {noun}s logged")
    parts.append(f"{counted(len(job.limits), 'limit')} hit")
    ranks = f" on {len(job.ranks)} ranks" if job.ranks else ""
    return ", ".join(parts) + ranks + (f" (torch {job.torch})" if job.torch else "")


def cost(cause: Cause, job: Job, look: Look) -> str:
    """The cost of a cause: `7 recompiles of forward (a.py:11), then its limit (8): eager since`."""
    parts = []
    names = ", ".join(frame_name(one, look) for one in cause.frames[:3])
    names += f" and {len(cause.frames) - 3} more" if len(cause.frames) > 3 else ""
    if cause.recompiles:
        parts.append(f"{counted(cause.recompiles, 'recompile')} of {names}")
    if cause.limits:
        hit = next((one for one in job.limits if one.frame in cause.frames), None)
        name = LIMITS.get(hit.limit, hit.limit) if hit else "limit"
        value = f" ({hit.value})" if hit and hit.value is not None else ""
        who = "" if cause.recompiles else f"{names}: "
        ranks = f" on {cause.limits} ranks" if cause.limits > 1 and job.ranks else ""
        parts.append(f"{who}{'then its' if cause.recompiles else 'the'} {name}{value}{ranks}: eager since")
    if cause.breaks:
        skips = any(one.skips_frame for one in job.breaks if (one.path, one.line) == place(cause))
        whole = ", and the whole function runs eagerly" if skips else ""
        parts.append(f"{counted(cause.breaks, 'graph break')}{whole}")
    return ", ".join(parts)


def place(cause: Cause) -> tuple[str, int]:
    """Path and line of the code that a cause is in: of a break, where it broke."""
    broken = next((one for one in cause.frames if not one.function), None)
    return (broken.path, broken.line) if broken else (cause.path, cause.line)


def advice(cause: Cause) -> str:
    """Say what is known of a cause that no finding speaks of, and what to do."""
    if cause.code == SIZES:
        return (
            "this compiles for fixed sizes, and the inputs have others: mark the axis that changes with "
            "`torch._dynamo.mark_dynamic`, or leave `dynamic` out"
        )
    if cause.breaks:
        return f"`{cause.subject}` broke the graph"
    if cause.evidence == "assignment":
        return (
            f"an assignment changes `{cause.subject}`: found by its name, so look whether it is this object's"
        )
    return f"this line reads `{cause.subject}`; nothing here shows what changes it"


def values(cause: Cause) -> str:
    """The values that compiled code was for: `0, 2, 4, ...`; empty where there are none."""
    shown = ", ".join(cause.values[:6])
    return shown + (", ..." if shown and len(cause.values) > 6 else "")


def unexplained(one: Recompiles, look: Look) -> str:
    """A recompile that no line was found for."""
    why = {
        "size": "another size of an input; `torch._dynamo.mark_dynamic` keeps one graph for all",
        "requires_grad": "an input that needs a gradient where the last one did not",
    }.get(one.kind, f"`{one.guard}` failed")
    return f"{counted(one.count, 'recompile')} of {frame_name(one.frame, look)} for `{one.source}`: {why}"


def budget(one: Budget) -> str:
    """A limit and what was seen."""
    if one.seen is None:
        return f"{one.key}: {one.allowed} allowed, and the log cannot tell"
    return f"{one.key}: {one.allowed} allowed, {one.seen} seen"


def broken(one: Break) -> str:
    """A break in one line, without its place."""
    whole = ", the whole function runs eagerly" if one.skips_frame else ""
    return f"{counted(one.count, 'graph break')} {one.id}{whole}: {one.reason}".replace("  ", " ")


def divergence(report: LogReport, look: Look) -> Iterator[str]:
    """For each rank that differs from the rank that most are like, what it compiled."""
    ranks = report.job.ranks
    usual = max(
        (one.frames for one in ranks.values()),
        key=lambda frames: sum(other.frames == frames for other in ranks.values()),
        default=(),
    )
    for number, one in ranks.items():
        if one.frames == usual:
            continue
        more = [entry for entry in one.frames if entry not in usual]
        told = ", ".join(
            f"{counted(count, 'recompile')} of {frame_name(frame, look)} for `{source}`"
            for frame, source, count in more[:4]
        )
        yield f"rank {number}: {told or 'none of the recompiles of the others'}"


def frame_name(frame: Frame, look: Look) -> str:
    """A frame as people name it: `forward` (a.py:11)."""
    name = f"`{frame.function}` " if frame.function else ""
    return f"{name}({look.place(frame.path, frame.line)})"


def counted(count: int, noun: str) -> str:
    """`1 recompile`, `7 recompiles`."""
    return f"{count} {noun}{'s' * (count != 1)}"
