"""Formats that services for continuous integration and review read: GitHub, GitLab, JUnit, reviewdog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from dynamo_lint import REPOSITORY
from dynamo_lint.findings import Edit, Finding
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.pages import page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import (
    command_data,
    command_property,
    json_text,
    markdown,
    markdown_code,
)
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import clean

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}

SHOWN = 10
"""Annotations of one kind that GitHub shows for a step; it drops the others without a word."""

SUMMARY_BYTES = 900_000
"""A step summary may have 1 MiB, and other steps' tools may write to the same page."""

_GITLAB = {"error": "critical", "warning": "major", "note": "minor"}

_RDJSON = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def github(report: Report, view: View) -> str:
    """Annotations for GitHub Actions: one workflow command a finding.

    All of them, since those without an annotation stay in the log.
    """
    return "".join(_command(finding, view) for finding in report.findings)


def overflow(report: Report, view: View) -> str:
    """Markdown with the findings that get no annotation; empty if all of them do."""
    seen: Counter[str] = Counter()
    hidden = []
    for finding in report.findings:
        seen[finding.severity] += 1
        if seen[finding.severity] > SHOWN:
            hidden.append(finding)
    return _page(hidden, len(report.findings), view) if hidden else ""


def _page(hidden: Iterable[Finding], total: int, view: View) -> str:
    rows = [_row(finding, view) for finding in hidden]
    head = (
        f"### dynamo-lint: {len(rows)} of {total} findings without an annotation\n\n"
        f"GitHub shows {SHOWN} annotations of a kind for a step. These are the others:\n\n"
        "| place | rule | finding |\n|---|---|---|\n"
    )
    kept: list[str] = []
    size = len(head)
    for row in rows:
        size += len(row.encode(errors="replace"))
        if size > SUMMARY_BYTES:
            kept.append(f"\n{len(rows) - len(kept)} more are in the log of the step.\n")
            break
        kept.append(row)
    return head + "".join(kept) + "\n"


def _row(finding: Finding, view: View) -> str:
    spot = view.look.spot(finding.span.path, finding.span.line)
    place = markdown_code(f"{view.path(finding.span.path)}:{spot}")
    rule = f"[{finding.code}]({page_url(finding.code, finding.name)})"
    return f"| {place} | {rule} | {markdown(' '.join(view.explained(finding)))} |\n"


def _command(finding: Finding, view: View) -> str:
    span = finding.span
    first, last = view.line(span.path, span.line), view.line(span.path, span.end_line)
    where = {"file": view.path(span.path), "line": first, "endLine": last}
    if span.line == span.end_line and not is_notebook(span.path):
        # GitHub refuses columns where a range has several lines.
        where |= {"col": span.column, "endColumn": span.end_column}
    where["title"] = f"{finding.code} {finding.name}"
    properties = ",".join(f"{key}={command_property(str(value))}" for key, value in where.items())
    told = command_data("\n".join(view.explained(finding)))
    return f"::{_GITHUB[finding.severity]} {properties}::{told}\n"


def gitlab(report: Report, view: View) -> str:
    """GitLab's code quality report (docs.gitlab.com/ci/testing/code_quality, "report format").

    The widget shows the description only, so it carries code, cost and way out.
    """
    issues = [
        {
            "description": f"{finding.code}: {' '.join(view.explained(finding))}",
            "check_name": finding.code,
            "fingerprint": finding.fingerprint,
            "severity": _GITLAB[finding.severity],
            "location": {
                "path": view.path(finding.span.path),
                "lines": {
                    "begin": view.line(finding.span.path, finding.span.line),
                    "end": view.line(finding.span.path, finding.span.end_line),
                },
            },
        }
        for finding in report.findings
    ]
    return json_text(issues)


def junit(report: Report, view: View) -> str:
    """JUnit XML, which most CI services can show: a suite for each file, a test for each finding.

    A test has failed where its finding fails the run.
    One more test stands for a run without findings, since some services refuse an empty report; it has failed
    where something ought to be compiled.
    """
    from xml.etree import ElementTree

    more = report.lacks_entries or not report.findings
    total = len(report.findings) + more
    failures = str(sum(map(report.is_failure, report.findings)) + report.lacks_entries)
    suites = ElementTree.Element(
        "testsuites", name="dynamo-lint", tests=str(total), failures=failures, errors="0"
    )
    for path, group in groupby(report.findings, key=lambda finding: finding.span.path):
        findings = list(group)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=clean(view.path(path)),
            tests=str(len(findings)),
            failures=str(sum(map(report.is_failure, findings))),
            errors="0",
        )
        for finding in findings:
            _case(suite, finding, view, report.is_failure(finding))
    if more:
        failed = str(int(report.lacks_entries))
        suite = ElementTree.SubElement(
            suites, "testsuite", name="dynamo-lint", tests="1", failures=failed, errors="0"
        )
        name = "something is compiled" if report.lacks_entries else "no findings"
        case = ElementTree.SubElement(suite, "testcase", name=name, classname="dynamo-lint")
        if report.lacks_entries:
            ElementTree.SubElement(case, "failure", message="nothing in the project is compiled")
    ElementTree.indent(suites)
    # In ASCII it is the same document whatever encoding stdout has.
    text = ElementTree.tostring(suites, encoding="us-ascii").decode("ascii")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(suite: Element, finding: Finding, view: View, failed: bool) -> None:
    from xml.etree.ElementTree import SubElement

    span = finding.span
    path, spot = clean(view.path(span.path)), view.look.spot(span.path, span.line, span.column)
    case = SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name} at {spot}",
        classname=path.removesuffix(".py").replace("/", "."),
        file=path,
        line=str(view.line(span.path, span.line)),
    )
    text = f"{path}:{spot}\n" + "\n".join(map(clean, view.explained(finding)))
    kind = f"{finding.severity} {finding.effect}".strip()
    # XML can't carry control characters at all, not even escaped.
    if failed:
        SubElement(case, "failure", message=clean(finding.message), type=kind).text = text
    else:
        SubElement(case, "system-out").text = f"{kind}: {clean(finding.message)}\n{text}"


def rdjson(report: Report, view: View) -> str:
    """Reviewdog's format (reviewdog/reviewdog: proto/rdf/reviewdog.proto); its columns count UTF-8 bytes.

    A fix becomes a suggestion that a reviewer can accept with a click.
    """
    severity = max(
        (finding.severity for finding in report.findings), key=list(_RDJSON)[::-1].index, default=None
    )
    document = {
        "source": {"name": "dynamo-lint", "url": REPOSITORY},
        "severity": _RDJSON[severity] if severity else "UNKNOWN_SEVERITY",
        "diagnostics": [_diagnostic(finding, view) for finding in report.findings],
    }
    return json_text(document)


def byte_column(sources: Sources, path: str, line: int, column: int) -> int:
    """A column in bytes, from 1; where the line can't be read, as many bytes as characters."""
    text = sources.line(path, line)[: column - 1]
    return column + len(text.encode(errors="surrogatepass")) - len(text)


def _diagnostic(finding: Finding, view: View) -> dict[str, Any]:
    span = finding.span
    return {
        "message": "\n".join(map(markdown, view.explained(finding))),
        "location": {
            "path": view.path(span.path),
            "range": {
                "start": _position(view, span.path, span.line, span.column),
                "end": _position(view, span.path, span.end_line, span.end_column),
            },
        },
        "severity": _RDJSON[finding.severity],
        "code": {"value": finding.code, "url": page_url(finding.code, finding.name)},
        "suggestions": _suggestions(finding, view),
        "related_locations": [
            {
                "message": markdown(place.message),
                "location": {
                    "path": view.path(place.path),
                    "range": {"start": _position(view, place.path, place.line, place.column)},
                },
            }
            for place in finding.related
        ],
    }


def _position(view: View, path: str, line: int, column: int) -> dict[str, int]:
    """A place in a file; of a notebook the line alone, since its JSON has other columns."""
    if is_notebook(path):
        return {"line": view.line(path, line)}
    return {"line": line, "column": byte_column(view.sources, path, line, column)}


def _suggestions(finding: Finding, view: View) -> list[dict[str, Any]]:
    """At most one, since half a fix is worse than none: the stretch from the first edit to the last.

    A suggestion can't reach into another file, nor be the text of a cell, so a fix that does is none here.
    """
    sources = view.sources
    edits = sorted(finding.fix.edits if finding.fix else (), key=lambda edit: _start(edit))
    if not edits or is_notebook(finding.span.path):
        return []
    if any(edit.span.path != finding.span.path for edit in edits):
        return []
    path, first, last = finding.span.path, edits[0].span, edits[-1].span
    text = edits[0].replacement
    for before, edit in pairwise(edits):
        between = (before.span.end_line, before.span.end_column), _start(edit)
        text += sources.stretch(path, *between) + edit.replacement
    span = {
        "start": _position(view, path, first.line, first.column),
        "end": _position(view, path, last.end_line, last.end_column),
    }
    return [{"range": span, "text": text}]


def _start(edit: Edit) -> tuple[int, int]:
    return edit.span.line, edit.span.column
