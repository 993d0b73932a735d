"""The page of `check`: rules by what they cost, and each finding with its line, the way there and the fix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.pages import page_url
from dynamo_lint.render import summary
from dynamo_lint.render.html import words
from dynamo_lint.render.html.facets import Facet, counts
from dynamo_lint.render.html.findings import Card, card
from dynamo_lint.render.html.page import counted, page
from dynamo_lint.render.view import View
from dynamo_lint.report import Report

MANY = 1_000
"""Findings; a page with more has less source around each, and draws a chain where it is met first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding in its group."""

    card: Card
    shown_at: str
    """The anchor of a finding whose chain is drawn and is the same; empty where it is drawn here."""


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one rule with one effect."""

    code: str
    name: str
    url: str
    severity: str
    effect: str
    cost: str
    """Of most of them; the others say their own."""
    entries: tuple[Entry, ...]


def render(report: Report, view: View) -> str:
    """The whole page."""
    groups = tuple(_groups(report.findings, view))
    severities = Counter(finding.severity for finding in report.findings)
    return page(
        "check.jinja",
        title=_title(report),
        verdict=summary.verdict(report),
        facts=tuple(_facts(report, view)),
        severities=[(word, severities[word]) for word in reversed(SEVERITIES)],
        groups=groups,
        facets=_facets(report.findings),
        total=len(report.findings),
        report=report,
        words=words,
    )


def _title(report: Report) -> str:
    if report.findings:
        return f"{counted(len(report.findings), 'finding')} about compiled code"
    return "No findings" if report.compiled.functions else "Nothing was checked"


def _facts(report: Report, view: View) -> Iterator[tuple[str, str]]:
    yield "Exit status", f"{int(report.fails(view.fail_level))} (fails from {view.fail_level} on)"
    yield "torch", ".".join(map(str, report.torch_version))
    yield "Files", f"{report.files:,}"
    yield "Compile entries", f"{report.compiled.entries:,}"
    yield "Compiled functions", f"{report.compiled.functions:,}"
    yield "Least confidence", view.min_confidence
    if report.suppressed:
        yield "Silenced by comments", f"{report.suppressed:,}"
    if report.accepted:
        yield "Accepted by the baseline", f"{report.accepted:,}"


def _facets(findings: Sequence[Finding]) -> tuple[Facet, ...]:
    severities = [one.severity for one in findings]
    effects = [one.effect for one in findings if one.effect]
    return (
        Facet("severity", "Severity", counts(severities, SEVERITIES[::-1]), buttons=True),
        Facet("code", "Rule", counts(one.code for one in findings)),
        Facet("effect", "Effect", counts(effects, list(words.EFFECTS))),
        Facet("file", "File", counts(one.span.path for one in findings)),
    )


def _groups(findings: Iterable[Finding], view: View) -> Iterator[Group]:
    """The most expensive first."""
    grouped: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.code, finding.severity, finding.effect].append(finding)
    ranked = sorted(grouped.values(), key=_rank)
    thrifty = sum(map(len, ranked)) > MANY
    drawn: dict[object, str] = {}
    number = 0
    for group in ranked:
        entries = []
        cost = Counter(finding.cost for finding in group).most_common(1)[0][0]
        for finding in sorted(group, key=lambda one: -(one.entries or 0)):
            number += 1
            entry = card(finding, view.sources, f"f{number}", around=0 if thrifty else 2)
            way = finding.chain[:-1]
            first = drawn.setdefault(way, entry.anchor) if thrifty and len(way) > 1 else entry.anchor
            entries.append(
                Entry(
                    replace(entry, cost="") if finding.cost == cost else entry,
                    "" if first == entry.anchor else first,
                )
            )
        one = group[0]
        url = page_url(one.code, one.name)
        yield Group(one.code, one.name, url, one.severity, one.effect, cost, tuple(entries))


def _rank(group: Sequence[Finding]) -> tuple[int, int, int, str]:
    one = group[0]
    effects = list(words.EFFECTS)
    effect = effects.index(one.effect) if one.effect in effects else len(effects)
    return -SEVERITIES.index(one.severity), effect, -len(group), one.code
