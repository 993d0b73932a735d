"""Reviewdog's format (reviewdog/reviewdog: proto/rdf/reviewdog.proto); its columns count UTF-8 bytes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from dynamo_lint import REPOSITORY
from dynamo_lint.findings import Edit, Finding
from dynamo_lint.pages import page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import explained, json_text, markdown
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report, view: View) -> str:
    """A diagnostic result; a fix becomes a suggestion that a reviewer can accept with a click."""
    severity = max(
        (finding.severity for finding in report.findings), key=list(SEVERITIES)[::-1].index, default=None
    )
    document = {
        "source": {"name": "dynamo-lint", "url": REPOSITORY},
        "severity": SEVERITIES[severity] if severity else "UNKNOWN_SEVERITY",
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
        "message": "\n".join(map(markdown, explained(finding))),
        "location": {
            "path": view.path(span.path),
            "range": {
                "start": _position(view.sources, span.path, span.line, span.column),
                "end": _position(view.sources, span.path, span.end_line, span.end_column),
            },
        },
        "severity": SEVERITIES[finding.severity],
        "code": {"value": finding.code, "url": page_url(finding.code, finding.name)},
        "suggestions": _suggestions(finding, view.sources),
        "related_locations": [
            {
                "message": markdown(place.message),
                "location": {
                    "path": view.path(place.path),
                    "range": {"start": _position(view.sources, place.path, place.line, place.column)},
                },
            }
            for place in finding.related
        ],
    }


def _position(sources: Sources, path: str, line: int, column: int) -> dict[str, int]:
    return {"line": line, "column": byte_column(sources, path, line, column)}


def _suggestions(finding: Finding, sources: Sources) -> list[dict[str, Any]]:
    """At most one, since half a fix is worse than none: the stretch from the first edit to the last.

    A suggestion can't reach into another file, so a fix that does is none here.
    """
    edits = sorted(finding.fix.edits if finding.fix else (), key=lambda edit: _start(edit))
    if not edits or any(edit.span.path != finding.span.path for edit in edits):
        return []
    path, first, last = finding.span.path, edits[0].span, edits[-1].span
    text = edits[0].replacement
    for before, edit in pairwise(edits):
        between = (before.span.end_line, before.span.end_column), _start(edit)
        text += sources.stretch(path, *between) + edit.replacement
    span = {
        "start": _position(sources, path, first.line, first.column),
        "end": _position(sources, path, last.end_line, last.end_column),
    }
    return [{"range": span, "text": text}]


def _start(edit: Edit) -> tuple[int, int]:
    return edit.span.line, edit.span.column
