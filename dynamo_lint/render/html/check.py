"""The page of `check`: rules by what they cost, and each finding with its line, the way there and the fix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.render.formats import View
from dynamo_lint.render.html import words
from dynamo_lint.render.html.findings import Card, card, named
from dynamo_lint.render.html.page import Facet, counted, counts, page
from dynamo_lint.render.regions import place
from dynamo_lint.render.text import verdict
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources

LARGEST = 4_800_000
"""Bytes of a page; a larger one is made again with less around each finding."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of each finding a page shows."""

    around: int | None
    """Lines of source before and after its own; None shows no source at all."""
    every_chain: bool
    """Chains are drawn at each finding, not only where they are met first."""
    edits: bool
    told: str = ""
    """What the reader should know about it."""


_LONG = "This page is long, so "
DETAILS = (
    Detail(2, True, True),
    Detail(1, False, True, f"{_LONG}a chain of calls is drawn at the first finding that it leads to."),
    Detail(
        0,
        False,
        False,
        f"{_LONG}it shows one line of source for each finding, a chain of calls at the "
        "first finding that it leads to, and no edits: `--diff` prints those.",
    ),
    Detail(
        None,
        False,
        False,
        f"{_LONG}it shows no source and no edits, and a chain of calls at the first "
        "finding that it leads to. Lint folder by folder to see more.",
    ),
)


def render(report: Report, view: View) -> str:
    """The whole page, with as much of each finding as a page of reasonable size can show."""
    text = ""
    for detail in DETAILS:
        text = _page(report, view, detail)
        if len(text.encode()) <= LARGEST:
            break
    return text


def _page(report: Report, view: View, detail: Detail) -> str:
    severities = Counter(finding.severity for finding in report.findings)
    return page(
        "check.jinja",
        title=_title(report),
        verdict=verdict(report),
        facts=tuple(_facts(report, view)),
        severities=[(word, severities[word]) for word in reversed(SEVERITIES)],
        groups=tuple(_groups(report.findings, view.sources, detail)),
        facets=_facets(report.findings),
        total=len(report.findings),
        told=detail.told,
        named=named(view.sources),
        report=report,
        account=view.account,
        moving=[one for one in view.account.rows if not one.about.is_settled] if view.account else [],
        place=place,
        told_at=lambda path, line: view.look.place(path, int(line)),
    )


def _title(report: Report) -> str:
    if report.findings:
        return f"{counted(len(report.findings), 'finding')} about compiled code"
    return "No findings" if report.compiled.functions else "Nothing was checked"


def _facts(report: Report, view: View) -> Iterator[tuple[str, str]]:
    yield "Exit status", f"{int(report.fails)} (fails from {report.fail_level} on)"
    yield "torch", ".".join(map(str, report.torch_version))
    yield "Files", f"{report.files:,}"
    yield "Compile entries", f"{report.compiled.entries:,}"
    yield "Compiled functions", f"{report.compiled.functions:,}"
    yield "Least confidence", view.min_confidence
    if report.suppressed:
        yield "Silenced by comments", f"{report.suppressed:,}"
    if report.accepted:
        yield "Accepted by the baseline", f"{report.accepted:,}"
    if report.since is not None:
        yield f"Not new since {report.since.revision}", f"{report.since.older:,}"


def _facets(findings: Sequence[Finding]) -> tuple[Facet, ...]:
    severities = [one.severity for one in findings]
    effects = [one.effect for one in findings if one.effect]
    return (
        Facet("severity", "Severity", counts(severities, SEVERITIES[::-1]), buttons=True),
        Facet("code", "Rule", counts(one.code for one in findings)),
        Facet("effect", "Effect", counts(effects, list(words.EFFECTS))),
        Facet("file", "File", counts(one.span.path for one in findings)),
    )


def _groups(findings: Iterable[Finding], sources: Sources, detail: Detail) -> Iterator[dict[str, Any]]:
    """The findings of each rule with one effect, the most expensive first.

    An entry is a card and the anchor at which its chain is drawn, if that is not its own. The cost of a group
    is that of most of its findings; the others say their own.
    """
    grouped: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.code, finding.severity, finding.effect].append(finding)
    drawn: dict[object, str] = {}
    number = 0
    for group in sorted(grouped.values(), key=_rank):
        entries = []
        cost = Counter(finding.cost for finding in group).most_common(1)[0][0]
        for finding in sorted(group, key=lambda one: -(one.entries or 0)):
            number += 1
            entry = _card(finding, sources, f"f{number}", detail)
            first = entry.anchor
            if not detail.every_chain and finding.chain:
                first = drawn.setdefault((finding.symbol, finding.chain[:-1]), first)
            shown_at = first if first != entry.anchor else ""
            entries.append((replace(entry, cost="") if finding.cost == cost else entry, shown_at))
        yield {"about": group[0], "cost": cost, "entries": entries}


def _card(finding: Finding, sources: Sources, anchor: str, detail: Detail) -> Card:
    made = card(finding, sources, anchor, detail.around or 0)
    if detail.around is None:
        made = replace(made, excerpt=None, related=())
    return made if detail.edits else replace(made, hunks=())


def _rank(group: Sequence[Finding]) -> tuple[int, int, int, str]:
    one = group[0]
    effects = list(words.EFFECTS)
    effect = effects.index(one.effect) if one.effect in effects else len(effects)
    return -SEVERITIES.index(one.severity), effect, -len(group), one.code
