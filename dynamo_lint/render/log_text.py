"""The account of a job's logs for people: what cost most, the line to change, and what is not known.

First the whole of it as text, and as findings for the formats that annotate lines; then its sentences, which
the page has too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.breakdown import by_package, by_reason
from dynamo_lint.logs.costs import CACHES, Costs, FunctionCosts
from dynamo_lint.logs.failures import LIMIT, Failure
from dynamo_lint.logs.model import Break, Budget, Cause, Job, Limit, LogReport, Recompiles, Share
from dynamo_lint.logs.texts import Frame
from dynamo_lint.render.prose import applicable, claim
from dynamo_lint.report import Compiled, Report
from dynamo_lint.terminal import Look, clean, counted

_MOST_UNSEEN = 8
_MOST_PLACES = 12
_MOST_FUNCTIONS = 8
_MOST_SHARES = 8

NOTES = {
    "masked": "Dynamo's first reason is not the cause: it names the first failed check of its guard tree; "
    "others fail in the reasons of further entries.",
    "sizes": "Some recompiles are for another size of an input, which no state of the program explains.",
    "no-log-lines": "Not one line of Dynamo is in these logs, which proves nothing. Run the job with "
    "TORCH_LOGS=recompiles,graph_breaks, or with TORCH_TRACE set to a folder.",
    "not-recorded": "No process of the command compiled anything with torch, or TORCH_TRACE did not reach "
    "the one that did, which proves nothing.",
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


FAILED = {
    "limit": ("limit hit", "limits hit"),
    "autotune": ("choice failed in autotuning", "choices failed in autotuning"),
    "watchdog": ("kill by the watchdog of NCCL", "kills by the watchdog of NCCL"),
    "disk": ("time no space was left for compiled code", "times no space was left for compiled code"),
    "data-pointer": ("kernel was given a tensor without data", "kernels were given a tensor without data"),
    "nan": ("loss that is NaN after a limit was hit", "losses that are NaN after a limit was hit"),
}
"""Each class of failures, as one and as several."""

ADVICE = {
    "autotune": "The best of the other choices is used, which may be slower, and another one on each rank.",
    "watchdog": "Ranks that wait for one that compiles look the same as a hang: raise the timeout.",
    "disk": "The cache of the compiler is full, which is no fault of the model: see `dynamo-lint doctor`.",
    "data-pointer": "Dynamo traced into a kernel: make it an operator with a fake (DYN405, DYN516).",
    "nan": "A rank that runs eagerly may not use the parameters that others use: look at the ranks first.",
}
"""What each class of failures means, and what to do."""


def render(report: LogReport, look: Look) -> str:
    """All of it, in sections that are left out where they are empty."""
    apart = "ranks-diverge" in report.job.notes
    differences = [look.wrapped(line, "  ", "    ") for line in divergence(report, look)] if apart else []
    unknown = [look.wrapped(unexplained(one, look), "  ", "    ") for one in report.unexplained]
    sections = [
        [look.wrapped(counts(report.job), "", "  ")],
        [look.paint("The ranks did not compile alike", fg="red", bold=True), *differences] if apart else [],
        *([_cause(one, report, look)] for one in report.causes),
        _titled("No line of the sources explains", unknown, look),
        _titled("Other graph breaks", _breaks(report, look), look),
        _titled("Graph breaks by reason and package", _breakdown(report.job, look), look),
        _titled("What has changed since the older recording", _trend(report), look),
        _titled("What compiling cost", costs(report.job.costs, look) if report.job.costs else [], look),
        _titled("What else these logs say", _failures(report, look), look),
        _titled("Findings of `check` that this job did not bear out", _unseen(report, look), look),
        _titled("Budgets", _budgets(report, look), look),
        _notes(report, look),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _titled(title: str, lines: list[str], look: Look) -> list[str]:
    return [look.paint(title, bold=True), *lines] if lines else []


def _cause(cause: Cause, report: LogReport, look: Look) -> str:
    finding = cause.finding
    colour = "red" if cause.limits or (finding and finding.effect in ("eager", "storm")) else "yellow"
    place = look.paint(look.place(cause.path, cause.line), bold=True)
    rule = look.paint(cause.code, bold=True) + (f" {finding.name}" if finding else "")
    what = look.paint(clean(cost(cause, report.job, look)), fg=colour)
    lines = [f"{place}: {rule}".rstrip(": "), look.line(what, "  ")]
    if seen := values(cause):
        lines.append(look.wrapped(f"compiled for {cause.subject} = {seen}", "  ", "    "))
    lines.append(look.wrapped(claim(finding.message if finding else advice(cause))))
    if finding is not None and finding.fix is not None:
        lines.append(
            look.wrapped(f"fix:  {finding.fix.message}{applicable(finding.fix, '')}", "  ", "        ")
        )
    if cause.masked:
        lines.append(
            look.wrapped("Dynamo's first reason named another check, which alone does not explain this.")
        )
    return "\n".join(lines)


def _breaks(report: LogReport, look: Look) -> list[str]:
    """The breaks that no cause stands for."""
    return [
        look.wrapped(f"{look.place(one.path, one.line)}: {broken(one)}", "  ", "    ")
        for one in report.unexplained_breaks
    ]


def _failures(report: LogReport, look: Look) -> list[str]:
    """A line for each class of failures; limits that a cause stands for have been told."""
    lines = []
    for failure in report.job.failures:
        limits = report.unexplained_limits
        if failure.kind != LIMIT or limits:
            detail = "; ".join(limit_hit(limit, look) for limit in limits[:3])
            told = failed(failure, detail if failure.kind == LIMIT else failure.detail)
            lines.append(look.beside(f"  {look.paint(f'{failure.kind:<12}', fg='red')} ", clean(told)))
    return lines


def _breakdown(job: Job, look: Look) -> list[str]:
    """The graph breaks in groups; nothing where there is one line only."""
    if len({(one.path, one.line) for one in job.breaks}) < 2:
        return []
    reasons, packages = list(by_reason(job)), list(by_package(job))
    shown = [f"{_share(one)}: {one.name}" for one in reasons[:_MOST_SHARES]]
    more = len(reasons) - len(shown)
    shown += [f"and {counted(more, 'reason')} more"] if more else []
    told = ", ".join(f"{one.name} {one.lines}" for one in packages[:_MOST_SHARES])
    return [look.wrapped(clean(line), "  ", "    ") for line in (*shown, f"lines by package: {told}")]


def _share(one: Share) -> str:
    again = f", {one.count} breaks" if one.count != one.lines else ""
    return f"{counted(one.lines, 'line')}{again}"


def _trend(report: LogReport) -> list[str]:
    """The figures that have changed, and those of the whole job."""
    lines = []
    for change in report.trend:
        before, after = ("not told" if one is None else f"{one:g}" for one in (change.before, change.after))
        lines.append(
            f"  {clean(change.what)}: {before}" + (f" → {after}" if before != after else ", as before")
        )
    return lines


def _unseen(report: LogReport, look: Look) -> list[str]:
    shown = [
        look.wrapped(f"{look.place(one.span.path, one.span.line)} {one.code} {one.subject}", "  ", "    ")
        for one in report.unseen[:_MOST_UNSEEN]
    ]
    more = len(report.unseen) - len(shown)
    return [*shown, f"  and {more} more"] if more else shown


def _budgets(report: LogReport, look: Look) -> list[str]:
    lines = []
    for one in report.budgets:
        known = ("over", "red") if one.exceeded else ("ok", "green")
        word, colour = ("unproved", "yellow") if one.seen is None else known
        lines.append(look.beside(f"  {look.paint(f'{word:<8}', fg=colour, bold=True)} ", clean(budget(one))))
    return lines


def _notes(report: LogReport, look: Look) -> list[str]:
    told = [note for note in report.job.notes if note != "masked"]
    lines = [look.wrapped(NOTES[note]) for note in told if note in NOTES]
    if not report.linted:
        lines.append(look.wrapped("No sources were read, so no line is named."))
    proof = f"proof: {PROOFS[report.job.proof]}"
    if report.job.proof == "text" and report.job.compiles is None:
        proof += "; compiles are not logged"
    return [*lines, look.line(look.paint(proof, dim=True), "", "  ")]


def as_report(report: LogReport, look: Look, torch_version: tuple[int, int]) -> Report:
    """A report with one finding for each cause: the linter's own where it has one, with what it has cost."""
    found = tuple(_finding(one, report, look) for one in report.causes)
    return Report(
        root=look.root, torch_version=torch_version, files=0, compiled=Compiled(0, 0), findings=found
    )


def _finding(cause: Cause, report: LogReport, look: Look) -> Finding:
    told = cost(cause, report.job, look)
    severity = "error" if cause.limits else "warning"
    if cause.finding is not None:
        stronger = "error" if "error" in (severity, cause.finding.severity) else severity
        return replace(cause.finding, severity=stronger, cost=f"This job: {told}. {cause.finding.cost}")
    return Finding(
        code=cause.code or "DYN000",
        name="logged",
        span=Span(cause.path, cause.line, 1, cause.line, 1),
        message=advice(cause),
        cost=f"This job: {told}",
        severity=severity,
        effect="break" if cause.breaks else "storm",
        confidence="certain",
        symbol="",
        subject=cause.subject,
    )


def silence(job: Job) -> str:
    """Why logs that hold nothing of Dynamo prove nothing."""
    return NOTES["not-recorded" if "not-recorded" in job.notes else "no-log-lines"]


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
        hit = cause.limit
        name = LIMITS.get(hit.limit, hit.limit) if hit else "limit"
        value = f" ({hit.value})" if hit and hit.value is not None else ""
        who = "" if cause.recompiles else f"{names}: "
        ranks = f" on {cause.limits} ranks" if cause.limits > 1 and job.ranks else ""
        parts.append(f"{who}{'then its' if cause.recompiles else 'the'} {name}{value}{ranks}: eager since")
    if cause.breaks:
        whole = ", and the whole function runs eagerly" if cause.skips_frame else ""
        parts.append(f"{counted(cause.breaks, 'graph break')}{whole}")
    return ", ".join(parts)


def broken_at(cause: Cause) -> tuple[Frame, ...]:
    """The lines at which a cause broke graphs."""
    return tuple(one for one in cause.frames if not one.function) if cause.breaks else ()


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
    word = "wanted" if one.at_least else "allowed"
    if one.seen is None:
        which = ": a trace tells compiles, and no recording calls" if "-after " in one.key else ""
        return f"{one.key}: {one.allowed:g} {word}, and the log cannot tell{which}"
    shown = f" ({_places(one.places, one.key)})" if one.exceeded and one.places else ""
    idle = f"; it counts nothing: islands break graphs at {_places(one.elsewhere)}" if one.elsewhere else ""
    return f"{one.key}: {one.allowed:g} {word}, {one.seen:g} seen{shown}{idle}"


def _places(places: tuple[tuple[str, int], ...], key: str = "") -> str:
    """Some lines: `lines 15, 16` where the key of a budget names their file, else `net.py:15, net.py:16`."""
    ordered = sorted(dict.fromkeys(places))
    path = key.partition(" ")[2].partition(":")[0]
    inside = bool(path) and all(f"/{place[0]}".endswith(f"/{path}") for place in ordered)
    shown = [str(line) if inside else f"{path}:{line}" for path, line in ordered[:_MOST_PLACES]]
    more = f" and {len(ordered) - _MOST_PLACES} more" if len(ordered) > _MOST_PLACES else ""
    word = "" if not inside else "line " if len(ordered) == 1 else "lines "
    return word + ", ".join(shown) + more


def broken(one: Break) -> str:
    """A break in one line, without its place."""
    whole = ", the whole function runs eagerly" if one.skips_frame else ""
    return f"{counted(one.count, 'graph break')} {one.id}{whole}: {one.reason}".replace("  ", " ")


def divergence(report: LogReport, look: Look) -> Iterator[str]:
    """For each rank that differs from the rank that most are like, what it compiled."""
    ranks = report.job.ranks
    often = Counter(one.frames for one in ranks.values()).most_common(1)
    usual, common = (often[0][0], set(often[0][0])) if often else ((), set())
    for number, one in ranks.items():
        if one.frames == usual:
            continue
        more = [entry for entry in one.frames if entry not in common]
        told = ", ".join(
            f"{counted(count, 'recompile')} of {frame_name(frame, look)} for `{source}`"
            for frame, source, count in more[:4]
        )
        yield f"rank {number}: {told or 'none of the recompiles of the others'}"


def failed(failure: Failure, detail: str = "") -> str:
    """A class of failures in one line: how often, on which ranks, where first, and what is known of it."""
    ranks = ", ".join(map(str, failure.ranks[:8])) + (", …" if len(failure.ranks) > 8 else "")
    word = "rank" if len(failure.ranks) == 1 else "ranks"
    log = f" of {failure.log}" if failure.log else ""
    step = f" behind step {failure.step}" if failure.step is not None else ""
    first = f", first in line {failure.line}{log}{step}" if failure.line is not None else ""
    what = counted(failure.count, *FAILED[failure.kind])
    advice = f". {ADVICE[failure.kind]}" if failure.kind in ADVICE else ""
    return f"{what}{f' on {word} {ranks}' if ranks else ''}{first}{f': {detail}' if detail else ''}{advice}"


def costs(told: Costs, look: Look) -> list[str]:
    """The receipt of what compiling cost, one line for each function and each rank."""
    lines = [
        look.wrapped(_function_costs(one, look), "  ", "    ") for one in told.functions[:_MOST_FUNCTIONS]
    ]
    if len(told.functions) > _MOST_FUNCTIONS:
        seconds = sum(one.seconds for one in told.functions[_MOST_FUNCTIONS:])
        lines.append(f"  and {len(told.functions) - _MOST_FUNCTIONS} more functions: {_time(seconds)}")
    for rank in told.ranks:
        alone = "in all" if len(told.ranks) == 1 else "one process"
        who = alone if rank.rank is None else f"rank {rank.rank}"
        last = (
            f", the last one {_time(rank.last_compile)} after the first record"
            if rank.last_compile is not None
            else ""
        )
        first = f"{_time(rank.first_seconds)} of it for first versions, as in a first step"
        lines.append(look.wrapped(f"{who}: {_time(rank.seconds)}, {first}{last}", "  ", "    "))
    for name, cache in told.caches.items():
        bypassed = f", {cache.bypassed} bypassed" if cache.bypassed else ""
        lines.append(
            f"  {CACHES[name]}: {counted(cache.hits, 'hit')}, "
            f"{counted(cache.misses, 'miss', 'misses')}{bypassed}"
        )
    if told.programs is not None:
        lines.append(f"  {counted(told.programs, 'program')} that differ in text or sizes")
    return lines


def _function_costs(one: FunctionCosts, look: Look) -> str:
    guards = f", {counted(one.guards, 'guard')}" if one.guards is not None else ""
    latency = f" ({one.guard_latency_us:g} µs a call)" if one.guard_latency_us is not None else ""
    graphs = f"{counted(one.compiles, 'compile')}, {counted(one.graphs, 'graph')}"
    return f"{frame_name(one.frame, look)}: {_time(one.seconds)}, {graphs}{guards}{latency}"


def _time(seconds: float) -> str:
    """`24.7 s`, or `12 min 5 s` for long ones."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def limit_hit(limit: Limit, look: Look) -> str:
    """A limit, with the function as it was logged and the check that failed last."""
    name = LIMITS.get(limit.limit, limit.limit)
    value = f" ({limit.value})" if limit.value is not None else ""
    reason = f", last because `{limit.reason}` failed" if limit.reason else ""
    return f"{frame_name(limit.frame, look)} hit its {name}{value}{reason}"


def frame_name(frame: Frame, look: Look) -> str:
    """A frame as people name it: `forward` (a.py:11)."""
    name = f"`{frame.function}` " if frame.function else ""
    return f"{name}({look.place(frame.path, frame.line)})"
