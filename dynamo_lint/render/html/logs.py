"""The page of `logs`: the lines to change, frames against their limits, ranks, breaks and time."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dynamo_lint import files
from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.costs import CACHES
from dynamo_lint.logs.failures import LIMIT
from dynamo_lint.logs.model import Break, Budget, Cause, Job, Limit, LogReport, Rank, Recompiles
from dynamo_lint.logs.texts import Frame
from dynamo_lint.render import log_text
from dynamo_lint.render.formats import View
from dynamo_lint.render.html import words
from dynamo_lint.render.html.drawing import bar, timeline
from dynamo_lint.render.html.findings import Excerpt, card, excerpt
from dynamo_lint.render.html.page import Facet, counted, counts, page

T = TypeVar("T")
LIMITS = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
"""Torch's own, where the log does not tell."""


def render_log(report: LogReport, view: View, name: str = "") -> str:
    """The whole page, with paths from the linted root; `name` says what was read."""
    job = report.job
    view = replace(view, look=replace(view.look, cwd=view.look.root, colour=False))
    causes = [_cause(cause, f"c{number}", job, view) for number, cause in enumerate(report.causes, 1)]
    return page(
        "logs.jinja",
        title=_title(job),
        name=name,
        verdict=_verdict(report),
        facts=tuple(_facts(job)),
        facets=_facets(report.causes, report.unseen),
        total=len(causes) + len(report.unseen),
        job=job,
        causes=causes,
        frames=sorted(_frames(job), key=lambda one: (-len(one["hits"]), -one["compiles"])),
        divergences=[*_divergences(job.ranks)],
        ranks=[*_alike(job)],
        breaks=[*_breaks(job, causes, view)],
        timeline=timeline(job.moments),
        budgets=[(budget, _standing(budget)) for budget in report.budgets],
        unexplained=report.unexplained,
        unseen=[card(one, view.sources, f"u{number}") for number, one in enumerate(report.unseen, 1)],
        log_text=log_text,
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
        yield "error", log_text.silence(job)
    if "ranks-diverge" in job.notes:
        yield "error", "The ranks did not compile the same code. That is told first below."
    if job.limits:
        functions = list(dict.fromkeys(one.frame.function for one in job.limits))
        named = ", ".join(f"`{name}`" for name in functions[:4]) + ("…" if len(functions) > 4 else "")
        yield "error", f"{named} ran into a limit and is compiled no more: it has run eagerly since."
    if over := [one for one in report.budgets if one.exceeded]:
        yield "error", f"{counted(len(over), 'budget is', 'budgets are')} exceeded."
    for failure in job.failures:
        if failure.kind != LIMIT:
            yield "error", f"{log_text.failed(failure, failure.detail)}"
    if report.causes:
        yield "", f"{counted(len(report.causes), 'line')} of the sources to change."
    if report.unexplained:
        count = sum(one.count for one in report.unexplained)
        yield "", f"For {counted(count, 'recompile')} no line was found."
    if job.proof == "text":
        yield "", f"This is {log_text.PROOFS['text']}. What is not in it may have happened all the same."
    if not report.linted:
        yield "", "No sources were read, so no line is named."


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    unknown = "not in this log"
    yield "torch", job.torch or unknown
    yield "Compiles", f"{job.compiles:,}" if job.compiles is not None else unknown
    if job.costs is not None:
        yield "Seconds of compiling", f"{sum(rank.seconds for rank in job.costs.ranks):,.1f}"
        for name, cache in job.costs.caches.items():
            yield f"Hits of the {CACHES[name]}", f"{cache.hits:,} of {cache.hits + cache.misses:,}"
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


def _facets(causes: Iterable[Cause], unseen: Iterable[Finding]) -> tuple[Facet, ...]:
    findings = [*(one.finding for one in causes if one.finding is not None), *unseen]
    codes = [*(one.code for one in causes), *(one.code for one in unseen)]
    files = [*(one.path for one in causes), *(one.span.path for one in unseen)]
    effects = (one.effect for one in findings if one.effect)
    return (
        Facet("code", "Rule", counts(filter(None, codes))),
        Facet("effect", "Effect", counts(effects, list(words.EFFECTS))),
        Facet("file", "File", counts(files)),
    )


def _cause(cause: Cause, anchor: str, job: Job, view: View) -> dict[str, Any]:
    """A line to change, with what is known of it; its excerpt only if its finding does not bring the same."""
    finding = cause.finding
    own = finding is not None and (finding.span.path, finding.span.line) == (cause.path, cause.line)
    return {
        "cause": cause,
        "anchor": anchor,
        "cost": log_text.cost(cause, job, view.look) or "nothing in this log",
        "excerpt": None if own else _excerpt(cause.path, cause.line, 2, view),
        "card": card(finding, view.sources, anchor) if finding is not None else None,
    }


def _breaks(
    job: Job, causes: Iterable[dict[str, Any]], view: View
) -> Iterator[tuple[Break, str, Excerpt | None]]:
    """The lines that broke graphs, each with the anchor of the cause that stands for it, or an excerpt."""
    told = {
        (frame.path, frame.line): one["anchor"]
        for one in causes
        for frame in log_text.broken_at(one["cause"])
    }
    for one in job.breaks:
        shown_at = told.get((one.path, one.line), "")
        yield one, shown_at, None if shown_at else _excerpt(one.path, one.line, 1, view)


def _excerpt(path: str, line: int, around: int, view: View) -> Excerpt | None:
    """The lines around one that a log names; None outside the linted sources, whatever the log says."""
    root = view.sources.root
    whole = os.path.normpath(root / path)
    inside = Path(whole).is_relative_to(root) and whole.endswith((".py", ".pyi"))
    if not inside or not files.inside(whole, [os.path.realpath(root)]):
        return None
    return excerpt(Span(os.path.relpath(whole, root), line, 1, line, 0), view.sources, around)


def _frames(job: Job) -> Iterator[dict[str, Any]]:
    """The compiled frames against their limits: of several ranks as on the one that compiled it most."""
    reasons: dict[Frame, list[Recompiles]] = defaultdict(list)
    for one in job.recompiles:
        reasons[one.frame].append(one)
    hits: dict[Frame, list[Limit]] = defaultdict(list)
    for hit in job.limits:
        hits[hit.frame].append(hit)
    most: Counter[Frame] = Counter()
    for rank in job.ranks.values():
        here: Counter[Frame] = Counter()
        for frame, _, count in rank.frames:
            here[frame] += count
        most |= here
    for frame in dict.fromkeys([*reasons, *hits]):
        all_ranks = sum(one.count for one in reasons[frame])
        compiles = (most[frame] or all_ranks) + 1
        told = next((hit for hit in hits[frame]), None)
        limit = (told and (told.value or LIMITS.get(told.limit))) or LIMITS["recompile_limit"]
        if told is not None and not all_ranks:
            compiles = limit  # the recompiles before it were not logged
        yield {
            "frame": frame,
            "compiles": compiles,
            "limit": limit,
            "assumed": told is None or told.value is None,
            "hits": hits[frame],
            "bar": bar(compiles, limit),
            "reasons": reasons[frame],
        }


def _divergences(ranks: Mapping[int, Rank]) -> Iterator[tuple[Frame, str, list[tuple[int, str]]]]:
    """The checks that ranks did not fail alike: numbers of recompiles, and the ranks that had so many."""
    seen: dict[tuple[Frame, str], Counter[int]] = defaultdict(Counter)
    for number, rank in sorted(ranks.items()):
        for frame, source, count in rank.frames:
            seen[frame, source][number] += count
    for (frame, source), counts_by_rank in seen.items():
        alike = _grouped(counts_by_rank)
        if len(counts_by_rank) < len(ranks):
            alike[0] = [number for number in sorted(ranks) if number not in counts_by_rank]
        if len(alike) > 1:
            yield frame, source, [(count, _listed(alike[count])) for count in sorted(alike, reverse=True)]


def _alike(job: Job) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Ranks that cost the same, and their compiles, recompiles, limits hit and graph breaks."""
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
    for same, numbers in _grouped(figures).items():
        yield _listed(numbers), same


def _grouped(values: Mapping[int, T]) -> dict[T, list[int]]:
    """The ranks that have the same value, by that value."""
    groups: dict[T, list[int]] = defaultdict(list)
    for number, value in values.items():
        groups[value].append(number)
    return groups


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
