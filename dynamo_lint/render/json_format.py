"""The JSON output; scripts rely on these keys, so all of them are always there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamo_lint import __version__
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.pages import page_url
from dynamo_lint.render.escapes import json_text
from dynamo_lint.report import Report, Site

if TYPE_CHECKING:  # nothing that a cached run needs
    from dynamo_lint.regions.model import Skipped, Unresolved

SCHEMA_VERSION = 1


def render(report: Report) -> str:
    """The whole report as one JSON document."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "dynamo-lint", "version": __version__},
        "torch_version": ".".join(map(str, report.torch_version)),
        "summary": {
            "files": report.files,
            "regions": report.compiled.entries,
            "hot_functions": report.compiled.functions,
            "findings": len(report.findings),
            "suppressed": report.suppressed,
            "accepted": report.accepted,
        },
        "findings": [finding_object(finding) for finding in report.findings],
        "errors": [
            {"path": error.path, "line": error.line, "message": error.message} for error in report.errors
        ],
        "unresolved": [unresolved_object(site) for site in report.compiled.unresolved],
        "skipped": [skipped_object(site) for site in report.compiled.skipped],
    }
    return json_text(document, exact=True)


def skipped_object(site: Site | Skipped | Unresolved) -> dict[str, Any]:
    """A compile site that is no entry, with the reason."""
    return {"path": site.path, "line": site.line, "expression": site.expression, "why": site.why}


def unresolved_object(site: Site | Unresolved) -> dict[str, Any]:
    """A compile site whose target is unknown, with what it may mean."""
    return {**skipped_object(site), "candidates": list(site.candidates)}


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding with all keys of the contract."""
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "cost": finding.cost,
        "severity": finding.severity,
        # What is about the lint costs nothing at run time: the mildest effect, no times.
        "effect": finding.effect or "once",
        "entries": finding.entries if finding.effect else 0,
        "confidence": finding.confidence,
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "symbol": finding.symbol,
        "subject": finding.subject,
        "also": list(finding.also),
        "region": finding.region and {"path": finding.region[0], "line": finding.region[1]},
        "chain": [
            {"path": step.path, "line": step.line, "symbol": step.symbol, "note": step.note}
            for step in finding.chain
        ],
        "related": [
            {"path": place.path, "line": place.line, "column": place.column, "message": place.message}
            for place in finding.related
        ],
        "fix": finding.fix and _fix(finding.fix),
        "fingerprint": finding.fingerprint,
        "url": page_url(finding.code, finding.name),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability,
        "message": fix.message,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "path": edit.span.path,
        "start": {"line": edit.span.line, "column": edit.span.column},
        "end": {"line": edit.span.end_line, "column": edit.span.end_column},
        "replacement": edit.replacement,
    }
