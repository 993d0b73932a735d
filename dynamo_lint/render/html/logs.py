"""The page of `logs`: the lines to change, frames against their limits, ranks, breaks and time."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.findings import Span
from dynamo_lint.logs.model import Break, Budget, Cause, Frame, Job, Limit, LogReport, Rank, Recompiles
from dynamo_lint.render import log_words
from dynamo_lint.render.html import words
from dynamo_lint.render.html.drawing import Bar, bar, timeline
from dynamo_lint.render.html.facets import Facet, counts
from dynamo_lint.render.html.findings import Card, Excerpt, card, excerpt
from dynamo_lint.render.html.page import counted, page
from dynamo_lint.render.prose import sentence
from dynamo_lint.render.view import View

LIMITS = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
"""Torch's own, where the log does not tell."""


@dataclass(frozen=True, slots=True)
class CauseView:
    """A line to change, with what is known of it."""

    cause: Cause
    anchor: str
    url: str
    effect: str
    cost: str
    values: str
    why: str
    excerpt: Excerpt | None
    """Of a line that is not its finding's; the finding brings its own."""
    card: Card | None


@dataclass(frozen=True, slots=True)
class BreakView:
    """A line at which graphs broke."""

    broken: Break
    shown_at: str
    """The anchor of the cause that stands for it; empty where none does."""
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class FrameView:
    """A compiled frame against its limit."""

    frame: Frame
    compiles: int
    """At least, on the rank that compiled it most."""
    limit: int
    assumed: bool
    """The log does not tell the limit."""
    hits: tuple[Limit, ...]
    bar: Bar
    reasons: tuple[Recompiles, ...]


@dataclass(frozen=True, slots=True)
class Divergence:
    """A check for which some ranks compiled again and others did not, or not as often."""

    frame: Frame
    source: str
    numbers: tuple[tuple[int, str], ...]
    """Numbers of recompiles, most first, and the ranks that had so many."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Ranks that cost the same."""

    ranks: str
    figures: tuple[str, ...]
    """Compiles, recompiles, limits hit and graph breaks."""


def render_log(report: LogReport, view: View, name: str = "") -> str:
    """The whole page, with paths from the linted root; `name` says what was read."""
    job = report.job
    view = replace(view, look=replace(view.look, cwd=view.look.root, colour=False))
    causes = tuple(_cause(cause, f"c{number}", job, view) for number, cause in enumerate(report.causes, 1))
    frames = tuple(sorted(_frames(job), key=lambda one: (-len(one.hits), -one.compiles)))
    unseen = tuple(card(one, view.sources, f"u{number}") for number, one in enumerate(report.unseen, 1))
    return page(
        "logs.jinja",
        title=_title(job),
        name=name,
        verdict=_verdict(report),
        facts=tuple(_facts(job)),
        facets=_facets(causes, unseen),
        total=len(causes) + len(unseen),
        job=job,
        linted=report.linted,
        causes=causes,
        frames=frames,
        divergences=tuple(_divergences(job.ranks)),
        ranks=tuple(_alike(job)),
        breaks=tuple(_breaks(job, causes, view)),
        timeline=timeline(job.moments),
        budgets=[(budget, _standing(budget)) for budget in report.budgets],
        unexplained=report.unexplained,
        unseen=unseen,
        words=words,
        log_words=log_words,
        look=view.look,
    )


def _title(job: Job) -> str:
    if job.proof == "none":
        return "This log proves nothing"
    recompiles = sum(one.count for one in job.recompiles)
    if not (recompiles or job.breaks or job.limits):
        return "No recompile and no graph break in this log"
    told = [
        counted(recompiles, "recompile") if recompiles else "",
        counted(len(job.limits), "limit hit") if job.limits else "",
        counted(sum(one.count for one in job.breaks), "graph break") if job.breaks else "",
    ]
    return ", ".join(filter(None, told))


def _verdict(report: LogReport) -> Iterator[tuple[str, str]]:
    """Severity and sentence of what decides about the job, the worst first."""
    job = report.job
    if job.proof == "none":
        yield "error", log_words.NOTES["no-log-lines"]
    if "ranks-diverge" in job.notes:
        yield "error", "The ranks did not compile the same code. That is told first below."
    if job.limits:
        functions = list(dict.fromkeys(one.frame.function for one in job.limits))
        named = ", ".join(f"`{name}`" for name in functions[:4]) + ("…" if len(functions) > 4 else "")
        yield "error", f"{named} ran into a limit and is compiled no more: it has run eagerly since."
    if over := [one for one in report.budgets if one.exceeded]:
        yield "error", f"{counted(len(over), 'budget is', 'budgets are')} exceeded."
    if report.causes:
        yield "", f"{counted(len(report.causes), 'line')} of the sources to change."
    if report.unexplained:
        count = sum(one.count for one in report.unexplained)
        yield "", f"For {counted(count, 'recompile')} no line was found."
    if job.proof == "text":
        yield "", f"This is {log_words.PROOFS['text']}. What is not in it may have happened all the same."
    if not report.linted:
        yield "", "No sources were read, so no line is named."


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    unknown = "not in this log"
    yield "torch", job.torch or unknown
    yield "Compiles", f"{job.compiles:,}" if job.compiles is not None else unknown
    yield "Recompiles", _number(sum(one.count for one in job.recompiles), job)
    yield "Frames compiled again", f"{len({one.frame for one in job.recompiles}):,}"
    yield "Limits hit", f"{len(job.limits):,}"
    yield "Graph breaks", _number(sum(one.count for one in job.breaks), job)
    if len(job.ranks) > 1:
        yield "Ranks", f"{len(job.ranks):,}"
    yield "Read from", {"trace": "a trace", "text": "a text log"}.get(job.proof, "nothing of torch")


def _number(count: int, job: Job) -> str:
    """A count; none in a text log may be none that was logged."""
    return f"{count:,}" if count or job.proof == "trace" else "none logged"


def _facets(causes: Sequence[CauseView], unseen: Sequence[Card]) -> tuple[Facet, ...]:
    codes = [one.cause.code for one in causes] + [one.code for one in unseen]
    files = [one.cause.path for one in causes] + [one.file for one in unseen]
    effects = [one.effect for one in causes] + [one.effect for one in unseen]
    return (
        Facet("code", "Rule", counts(filter(None, codes))),
        Facet("effect", "Effect", counts(filter(None, effects), list(words.EFFECTS))),
        Facet("file", "File", counts(files)),
    )


def _cause(cause: Cause, anchor: str, job: Job, view: View) -> CauseView:
    finding = cause.finding
    shown = card(finding, view.sources, anchor) if finding is not None else None
    near = None
    if finding is None or (finding.span.path, finding.span.line) != (cause.path, cause.line):
        near = _excerpt(cause.path, cause.line, 2, view)
    why = sentence(log_words.advice(cause))
    return CauseView(
        cause,
        anchor,
        words.rule_url(cause.code),
        finding.effect if finding is not None else "",
        log_words.cost(cause, job, view.look) or "nothing in this log",
        log_words.values(cause),
        shown.message if shown is not None else why[:1].upper() + why[1:],
        near,
        shown,
    )


def _breaks(job: Job, causes: Iterable[CauseView], view: View) -> Iterator[BreakView]:
    told = {log_words.place(one.cause): one.anchor for one in causes if one.cause.breaks}
    for one in job.breaks:
        shown_at = told.get((one.path, one.line), "")
        yield BreakView(one, shown_at, None if shown_at else _excerpt(one.path, one.line, 1, view))


def _excerpt(path: str, line: int, around: int, view: View) -> Excerpt | None:
    """The lines around one that a log names; None outside the linted sources, whatever the log says."""
    root = view.sources.root
    whole = os.path.normpath(root / path)
    inside = Path(whole).is_relative_to(root) and whole.endswith((".py", ".pyi"))
    if not inside or not files.inside(whole, [os.path.realpath(root)]):
        return None
    return excerpt(Span(os.path.relpath(whole, root), line, 1, line, 0), view.sources, around)


def _frames(job: Job) -> Iterator[FrameView]:
    reasons: dict[Frame, list[Recompiles]] = defaultdict(list)
    for one in job.recompiles:
        reasons[one.frame].append(one)
    hits: dict[Frame, list[Limit]] = defaultdict(list)
    for hit in job.limits:
        hits[hit.frame].append(hit)
    for frame in dict.fromkeys([*reasons, *hits]):
        by_rank = [
            sum(count for of, _, count in rank.frames if of == frame) for rank in job.ranks.values()
        ] or [0]
        all_ranks = sum(one.count for one in reasons[frame])
        compiles = (max(by_rank) or all_ranks) + 1
        told = next((hit for hit in hits[frame]), None)
        limit = (told and (told.value or LIMITS.get(told.limit))) or LIMITS["recompile_limit"]
        if told is not None and not all_ranks:
            compiles = limit  # the recompiles before it were not logged
        yield FrameView(
            frame,
            compiles,
            limit,
            told is None or told.value is None,
            tuple(hits[frame]),
            bar(compiles, limit),
            tuple(reasons[frame]),
        )


def _divergences(ranks: Mapping[int, Rank]) -> Iterator[Divergence]:
    seen: dict[tuple[Frame, str], dict[int, int]] = {}
    for number, rank in ranks.items():
        for frame, source, count in rank.frames:
            seen.setdefault((frame, source), dict.fromkeys(sorted(ranks), 0))[number] += count
    for (frame, source), numbers in seen.items():
        if len(set(numbers.values())) > 1:
            ranked = sorted(set(numbers.values()), reverse=True)
            yield Divergence(
                frame, source, tuple((number, _listed(_where(numbers, number))) for number in ranked)
            )


def _alike(job: Job) -> Iterator[Alike]:
    recompiles = any(rank.recompiles for rank in job.ranks.values())
    breaks = any(rank.breaks for rank in job.ranks.values())
    figures = {
        number: (
            "not logged" if rank.compiles is None else f"{rank.compiles:,}",
            f"{rank.recompiles:,}" if recompiles else _number(0, job),
            f"{rank.limits:,}",
            f"{rank.breaks:,}" if breaks else _number(0, job),
        )
        for number, rank in sorted(job.ranks.items())
    }
    for same in dict.fromkeys(figures.values()):
        yield Alike(_listed(_where(figures, same)), same)


def _where(values: Mapping[int, object], value: object) -> list[int]:
    return [number for number, one in values.items() if one == value]


def _listed(ranks: Sequence[int]) -> str:
    """Numbers in order, runs of them by their ends: `0–6, 8`."""
    runs: list[tuple[int, int]] = []
    for number in ranks:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def _standing(budget: Budget) -> tuple[str, str]:
    """How it stands with a budget, as a colour and in words."""
    if budget.seen is None:
        return "warning", "this log cannot tell"
    return ("error", "exceeded") if budget.exceeded else ("good", "kept")
