"""Findings as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from dynamo_lint.findings import Finding
from dynamo_lint.pages import page_url
from dynamo_lint.server.places import Places
from dynamo_lint.terminal import clean

SOURCE = "dynamo-lint"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}

ByDocument = dict[str, list[types.Diagnostic]]
"""Diagnostics by the URI of a file or a cell."""


def diagnostics(findings: Iterable[Finding], places: Places) -> ByDocument:
    """The diagnostics of each document that has some, in the order of the findings."""
    documents: ByDocument = {}
    for finding in findings:
        location = places.location(finding.span)
        documents.setdefault(location.uri, []).append(_diagnostic(finding, location.range, places))
    return documents


def diagnostic(finding: Finding, places: Places) -> types.Diagnostic:
    """One finding as a diagnostic."""
    return _diagnostic(finding, places.location(finding.span).range, places)


def _diagnostic(finding: Finding, where: types.Range, places: Places) -> types.Diagnostic:
    doubt = "" if finding.confidence == "certain" else f" ({finding.confidence})"
    lines = [finding.message + doubt, f"cost: {finding.cost}"]
    if finding.fix is not None:
        lines.append(f"fix: {finding.fix.message}")
    return types.Diagnostic(
        range=where,
        message="\n".join(map(clean, lines)),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(page_url(finding.code, finding.name)),
        source=SOURCE,
        related_information=[*_related(finding, places)],
        data=finding.fingerprint,
    )


def _related(finding: Finding, places: Places) -> Iterator[types.DiagnosticRelatedInformation]:
    """The lines from the compile entry to the finding, and the others that matter."""
    here = finding.span.path, finding.span.line
    for step in finding.chain:
        if (step.path, step.line) != here:
            column = _indent(places, step.path, step.line)
            location = places.line(step.path, step.line, column)
            yield types.DiagnosticRelatedInformation(location, clean(step.note))
    for other in finding.related:
        location = places.line(other.path, other.line, other.column)
        yield types.DiagnosticRelatedInformation(location, clean(other.message))


def _indent(places: Places, path: str, line: int) -> int:
    """The column of the first character of a line that is no blank."""
    text = places.sources.line(path, line)
    return len(text) - len(text.lstrip()) + 1
