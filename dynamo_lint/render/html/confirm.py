"""The page of `confirm`: probes, the verdict on each finding, and what Dynamo did that none predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.confirm.fixed import Comparison
from dynamo_lint.confirm.receipt import Receipt, relative
from dynamo_lint.confirm.verdicts import VERDICTS, ProbeReport, Verdict, explaining
from dynamo_lint.logs.break_text import INTENDED
from dynamo_lint.render import fixed as fixed_text
from dynamo_lint.render import receipt as text
from dynamo_lint.render.html import words
from dynamo_lint.render.html.drawing import MOST_CELLS, Bar, Cell
from dynamo_lint.render.html.facets import Facet, counts
from dynamo_lint.render.html.findings import Card, card
from dynamo_lint.render.html.page import counted, page
from dynamo_lint.render.receipt_json import summary
from dynamo_lint.sources import Sources

COLOURS = {"confirmed": "error", "stale": "error", "refuted": "good", "unobserved": "note"}


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A finding and what the probe says of it."""

    card: Card
    verdict: str
    colour: str
    why: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surprise:
    """A recompile or a break that no finding predicted."""

    place: str
    what: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbeView:
    """A probe with all that came of it."""

    name: str
    place: str
    error: str
    detail: str
    costs: tuple[str, ...]
    strip: Bar | None
    """Its calls, and in which of them something was compiled."""
    verdicts: tuple[VerdictView, ...]
    """What it did not observe stands at the end."""
    told: int
    """Verdicts on what it did observe."""
    surprises: tuple[Surprise, ...]
    intended: tuple[str, ...]
    """Places at which the code asks for a break."""
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A probe before and after the fixes."""

    name: str
    error: str
    rows: tuple[tuple[str, int, int], ...]
    outputs: str
    graphs: tuple[str, ...]


def render(
    reports: Sequence[ProbeReport], sources: Sources, again: tuple[Sequence[Comparison], int] | None = None
) -> str:
    """The whole page; `again` has the probes on a fixed copy and the number of fixes."""
    numbers = summary(reports)
    probes = tuple(_probe(report, sources, number) for number, report in enumerate(reports, 1))
    told = [(one, probe.name) for probe in probes for one in probe.verdicts]
    return page(
        "confirm.jinja",
        title=counted(len(reports), "probe") + " under torch",
        verdict=text.conclusion(reports).strip(),
        facts=tuple(_facts(reports)),
        tally=[(COLOURS.get(word, "warning"), word, numbers[word]) for word in numbers],
        probes=probes,
        facets=(
            Facet("verdict", "Verdict", counts((one.verdict for one, _ in told), VERDICTS), buttons=True),
            Facet("code", "Rule", counts(one.card.code for one, _ in told)),
            Facet("file", "File", counts(one.card.file for one, _ in told)),
            Facet("probe", "Probe", counts(name for _, name in told)),
        ),
        total=len(told),
        changes=tuple(map(_change, again[0])) if again else (),
        applied=again[1] if again else 0,
        words=words,
    )


def _facts(reports: Sequence[ProbeReport]) -> Iterator[tuple[str, str]]:
    receipts = [one.reply.receipt for one in reports if one.reply.receipt is not None]
    if receipts:
        yield "torch", receipts[0].torch_version
        yield "Backend", receipts[0].backend
    yield "Recompiles", f"{sum(len(one.recompiles) for one in receipts):,}"
    yield "Graph breaks", f"{sum(len(one.breaks) for one in receipts):,}"
    yield "Over the recompile limit", f"{sum(one.reply.hit_limit for one in reports):,}"


def _probe(report: ProbeReport, sources: Sources, number: int) -> ProbeView:
    receipt = report.reply.receipt
    verdicts = sorted(report.verdicts, key=lambda one: VERDICTS.index(one.verdict))
    breaks = receipt.breaks if receipt is not None else ()
    return ProbeView(
        name=report.name,
        place=f"{report.path}:{report.line}",
        error=report.reply.error,
        detail=report.reply.detail if report.reply.error else "",
        costs=tuple(text.costs(report, receipt)) if receipt is not None else (),
        strip=_strip(report, receipt) if receipt is not None else None,
        verdicts=tuple(
            _verdict(one, receipt, sources, f"p{number}f{index}") for index, one in enumerate(verdicts, 1)
        ),
        told=sum(one.verdict != "unobserved" for one in verdicts),
        surprises=tuple(_surprises(report, receipt, sources.root)) if receipt is not None else (),
        intended=tuple(
            f"{relative(one.path, sources.root)}:{one.line}" for one in breaks if one.id in INTENDED
        ),
        problems=(*report.reply.problems, *(receipt.problems if receipt is not None else ())),
    )


def _strip(report: ProbeReport, receipt: Receipt) -> Bar | None:
    if not 0 < receipt.calls <= MOST_CELLS:
        return None
    compiled = {one.call for one in receipt.compiles}
    again = {one.call for one in receipt.recompiles}
    eager = set(report.reply.eager_calls)
    kinds = (
        "again" if call in again else "first" if call in compiled else "over" if call in eager else "free"
        for call in range(receipt.calls)
    )
    return Bar(tuple(Cell(call * 12, 10, kind) for call, kind in enumerate(kinds)), 0, receipt.calls * 12 - 2)


def _verdict(one: Verdict, receipt: Receipt | None, sources: Sources, anchor: str) -> VerdictView:
    evidence: list[str] = []
    if receipt is not None:
        found = (explaining(one.finding, receipt.recompiles[index], sources.root) for index in one.recompiles)
        evidence = text.guards(found) + [receipt.breaks[index].reason for index in one.breaks[:1]]
    why = one.why + (", always together with other state" if one.joint else "")
    shown = card(one.finding, sources, anchor)
    return VerdictView(shown, one.verdict, COLOURS.get(one.verdict, ""), why, tuple(evidence))


def _surprises(report: ProbeReport, receipt: Receipt, root: Path) -> Iterator[Surprise]:
    missed = [receipt.recompiles[index] for index in report.unpredicted_recompiles]
    for count, one, cause in text.grouped(missed):
        where = (cause.path, cause.line) if cause is not None and cause.path else (one.path, one.first_line)
        joint = one.causes[0][: text.MOST_VALUES] if cause is not None else ()
        why = tuple(map(text.met, joint)) or one.reasons[:1]
        what = f"{counted(count, 'recompile')} of `{one.function}`, first in call {one.call + 1}"
        yield Surprise(f"{relative(where[0], root)}:{where[1]}", what, why)
    for index in report.unpredicted_breaks:
        broken = receipt.breaks[index]
        what = "the function runs eagerly" if broken.skips_frame else "graph break"
        ident = f" ({broken.id})" if broken.id else ""
        place = f"{relative(broken.path, root)}:{broken.line}"
        yield Surprise(place, f"{what} in `{broken.function}`{ident}", (broken.reason,))


def _change(one: Comparison) -> Change:
    before, after = fixed_text.costs(one.before), fixed_text.costs(one.after)
    rows = tuple((name.replace("_", " "), before[name], after[name]) for name in before)
    outputs = fixed_text.OUTPUTS[one.same_outputs]
    return Change(one.before.name, one.after.reply.error, rows, outputs, one.graphs)
