"""The JSON output; scripts rely on these keys, so all of them are always there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamo_lint import __version__
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.pages import page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import json_text, picked
from dynamo_lint.report import Report, Site
from dynamo_lint.terminal import Look

if TYPE_CHECKING:  # nothing that a cached run needs
    from dynamo_lint.logs.model import Break, Cause, Limit, LogReport, Recompiles
    from dynamo_lint.logs.texts import Frame
    from dynamo_lint.regions.model import Skipped, Unresolved

SCHEMA_VERSION = 1
LOG_SCHEMA = "dynamo-lint/logs/1"


def render(report: Report, _: View) -> str:
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
            "elsewhere": list(report.compiled.elsewhere),
        },
        "findings": [finding_object(finding) for finding in report.findings],
        "errors": [picked(error, "path", "line", "message") for error in report.errors],
        "unresolved": [unresolved_object(site) for site in report.compiled.unresolved],
        "skipped": [skipped_object(site) for site in report.compiled.skipped],
    }
    return json_text(document, exact=True)


def lines(report: Report, _: View) -> str:
    """One JSON object a finding and a line, with the same keys: for streams and `jq`."""
    return "".join(json_text(finding_object(finding), None, exact=True) for finding in report.findings)


def skipped_object(site: Site | Skipped | Unresolved) -> dict[str, Any]:
    """A compile site that is no entry, with the reason."""
    return picked(site, "path", "line", "expression", "why")


def unresolved_object(site: Site | Unresolved) -> dict[str, Any]:
    """A place that was not followed to the end: of which kind, and what a compile site may mean."""
    return {**skipped_object(site), "candidates": list(site.candidates), "kind": site.kind}


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding with all keys of the contract."""
    return {
        **picked(finding, "code", "name", "message", "cost", "severity"),
        # What is about the lint costs nothing at run time: the mildest effect, no times.
        "effect": finding.effect or "once",
        "entries": finding.entries if finding.effect else 0,
        "confidence": finding.confidence,
        **picked(finding.span, "path", "line", "column", "end_line", "end_column"),
        **picked(finding, "symbol", "subject", "also"),
        "region": finding.region and {"path": finding.region[0], "line": finding.region[1]},
        "chain": [picked(step, "path", "line", "symbol", "note") for step in finding.chain],
        "related": [picked(place, "path", "line", "column", "message") for place in finding.related],
        "fix": finding.fix and _fix(finding.fix),
        "fingerprint": finding.fingerprint,
        "url": page_url(finding.code, finding.name),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {**picked(fix, "applicability", "message"), "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "path": edit.span.path,
        "start": {"line": edit.span.line, "column": edit.span.column},
        "end": {"line": edit.span.end_line, "column": edit.span.end_column},
        "replacement": edit.replacement,
    }


def log_document(report: LogReport, look: Look) -> str:
    """The whole account as one JSON document."""
    job = report.job
    several = bool(job.ranks)
    document: dict[str, Any] = {
        "schema": LOG_SCHEMA,
        "proof": job.proof,
        "torch": job.torch,
        "compiles": job.compiles,
        "recompiles": [_recompiles(one, look) for one in job.recompiles],
        "breaks": [_break(one, look) for one in job.breaks],
        "limits": [_limit(one, several, look) for one in job.limits],
        "causes": [_cause(one, look) for one in report.causes],
        "ranks": {
            str(number): picked(one, "recompiles", "breaks", "limits", "compiles")
            for number, one in job.ranks.items()
        },
        "unexplained": [
            {**_frame(one.frame, look), **picked(one, "source", "kind", "count")}
            for one in report.unexplained
        ],
        "unseen": [
            {"path": look.place(one.span.path), "line": one.span.line, **picked(one, "code", "subject")}
            for one in report.unseen
        ],
        "notes": job.notes,
        "budgets": [picked(one, "key", "allowed", "seen", "exceeded") for one in report.budgets],
    }
    return json_text(document, exact=True)


def _frame(one: Frame, look: Look) -> dict[str, Any]:
    return {"path": look.place(one.path), **picked(one, "line", "function")}


def _recompiles(one: Recompiles, look: Look) -> dict[str, Any]:
    return {**_frame(one.frame, look), **picked(one, "source", "kind", "guard", "count", "values")}


def _break(one: Break, look: Look) -> dict[str, Any]:
    return {
        "path": look.place(one.path),
        **picked(one, "line", "function", "id", "reason", "count", "skips_frame"),
        "stack": [[look.place(frame.path), frame.line] for frame in one.stack],
    }


def _limit(one: Limit, several: bool, look: Look) -> dict[str, Any]:
    """A limit; its rank only where there are several."""
    rank = ("rank",) if several else ()
    return {**_frame(one.frame, look), **picked(one, "limit", "value", "source", *rank)}


def _cause(one: Cause, look: Look) -> dict[str, Any]:
    return {
        "path": look.place(one.path),
        **picked(one, "line", "code", "subject", "recompiles", "breaks", "limits", "evidence", "masked"),
        "frames": [_frame(frame, look) for frame in one.frames],
        "finding": None if one.finding is None else finding_object(one.finding),
    }
