"""The page of `confirm`: probes, the verdict on each finding, and what Dynamo did that none predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dynamo_lint.confirm.model import NOTHING, Receipt, relative
from dynamo_lint.confirm.run import Comparison
from dynamo_lint.confirm.verdicts import VERDICTS, ProbeReport, Verdict, explaining
from dynamo_lint.logs.texts import INTENDED
from dynamo_lint.render import receipt as text
from dynamo_lint.render.html.drawing import MOST_CELLS, Bar, Cell
from dynamo_lint.render.html.findings import card
from dynamo_lint.render.html.page import Facet, counted, counts, page
from dynamo_lint.render.receipt_json import costs, summary
from dynamo_lint.sources import Sources

COLOURS = {"confirmed": "error", "stale": "error", "refuted": "good", "unobserved": "note"}


def render(
    reports: Sequence[ProbeReport], sources: Sources, again: tuple[Sequence[Comparison], int] | None = None
) -> str:
    """The whole page; `again` has the probes on a fixed copy and the number of fixes."""
    numbers = summary(reports)
    told = [(one, report.name) for report in reports for one in report.verdicts]
    return page(
        "confirm.jinja",
        title=counted(len(reports), "probe") + " under torch",
        verdict=text.conclusion(reports).strip(),
        facts=tuple(_facts(reports)),
        tally=[(COLOURS.get(word, "warning"), word, numbers[word]) for word in numbers],
        colours=COLOURS,
        probes=[_probe(report, sources, number) for number, report in enumerate(reports, 1)],
        facets=(
            Facet("verdict", "Verdict", counts((one.verdict for one, _ in told), VERDICTS), buttons=True),
            Facet("code", "Rule", counts(one.finding.code for one, _ in told)),
            Facet("file", "File", counts(one.finding.span.path for one, _ in told)),
            Facet("probe", "Probe", counts(name for _, name in told)),
        ),
        total=len(told),
        again=again,
        costs=costs,
        outputs=text.OUTPUTS,
    )


def _facts(reports: Sequence[ProbeReport]) -> Iterator[tuple[str, str]]:
    receipts = [one.reply.receipt for one in reports if one.reply.receipt is not None]
    if receipts:
        yield "torch", receipts[0].torch_version
        yield "Backend", receipts[0].backend
    yield "Recompiles", f"{sum(len(one.recompiles) for one in receipts):,}"
    yield "Graph breaks", f"{sum(len(one.breaks) for one in receipts):,}"
    yield "Over the recompile limit", f"{sum(one.reply.hit_limit for one in reports):,}"


def _probe(report: ProbeReport, sources: Sources, number: int) -> dict[str, Any]:
    """A probe with all that came of it; what it did not observe stands at the end of its verdicts."""
    told = report.reply.receipt is not None
    receipt = report.reply.receipt or NOTHING
    verdicts = sorted(report.verdicts, key=lambda one: VERDICTS.index(one.verdict))
    return {
        "report": report,
        "costs": [*text.costs(report, receipt)] if told else [],
        "strip": _strip(report, receipt),
        "verdicts": [
            (one, card(one.finding, sources, f"p{number}f{index}"), _evidence(one, receipt, sources.root))
            for index, one in enumerate(verdicts, 1)
        ],
        "told": sum(one.verdict != "unobserved" for one in verdicts),
        "surprises": [
            (f"{relative(path, sources.root)}:{line}", what, why)
            for (path, line), what, why, _ in text.surprises(report, receipt)
        ],
        "intended": [
            f"{relative(one.path, sources.root)}:{one.line}" for one in receipt.breaks if one.id in INTENDED
        ],
        "problems": (*report.reply.problems, *receipt.problems),
    }


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


def _evidence(one: Verdict, receipt: Receipt, root: Path) -> list[str]:
    """The guards that failed and the break that came, which bear a verdict out."""
    found = (explaining(one.finding, receipt.recompiles[index], root) for index in one.recompiles)
    return text.guards(found) + [receipt.breaks[index].reason for index in one.breaks[:1]]
