"""The JSON output; scripts rely on these keys, so all of them are always there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dynamo_lint import __version__
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.pages import page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import json_text, picked
from dynamo_lint.report import Report, Site
from dynamo_lint.terminal import Look

if TYPE_CHECKING:  # nothing that a cached run needs
    from dynamo_lint.logs.costs import Costs
    from dynamo_lint.logs.model import Break, Budget, Cause, Limit, LogReport, Recompiles
    from dynamo_lint.logs.texts import Frame
    from dynamo_lint.regions.model import Skipped, Unresolved

SCHEMA_VERSION = 1
_AROUND, _LONGEST = 2, 20
"""Lines of source before and behind a finding, and of a long one itself."""
LOG_SCHEMA = "dynamo-lint/logs/1"


def render(report: Report, view: View) -> str:
    """The whole report as one JSON document."""
    look = view.look
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
            **(
                {} if report.since is None else {"since": picked(report.since, "revision", "commit", "older")}
            ),
        },
        "findings": [_shown(finding, view) for finding in report.findings],
        "errors": [placed(error, look, "message") for error in report.errors],
        "unresolved": [unresolved_object(site, look) for site in report.compiled.unresolved],
        "skipped": [skipped_object(site, look) for site in report.compiled.skipped],
    }
    return json_text(document, exact=True)


def lines(report: Report, view: View) -> str:
    """One JSON object a finding and a line, with the same keys: for streams and `jq`."""
    found = (_shown(finding, view) for finding in report.findings)
    return "".join(json_text(one, None, exact=True) for one in found)


def _shown(finding: Finding, view: View) -> dict[str, Any]:
    """One finding, with its source lines if they are wanted."""
    made = finding_object(finding, view.look)
    return {**made, "context": _context(finding, view)} if view.context else made


def _context(finding: Finding, view: View) -> dict[str, list[dict[str, Any]]]:
    """The lines of a finding with some around them, those of its chain, and the others that matter."""
    span = finding.span
    last = min(span.end_line, span.line + _LONGEST)
    around = [(span.path, line) for line in range(max(span.line - _AROUND, 1), last + _AROUND + 1)]
    return {
        "finding": _lines(around, view),
        "chain": _lines([(step.path, step.line) for step in finding.chain], view),
        "related": _lines([(place.path, place.line) for place in finding.related], view),
    }


def _lines(places: Iterable[tuple[str, int]], view: View) -> list[dict[str, Any]]:
    """Lines of source; one that a file does not have is left out."""
    return [
        {"path": path, "line": line, **cell_of(path, line, view.look), "text": view.sources.line(path, line)}
        for path, line in places
        if line <= view.sources.count(path)
    ]


def cell_of(path: str, line: int, look: Look) -> dict[str, int | None]:
    """The cell of a notebook that a line stands in, and its line there."""
    cell, cell_line = look.cell(path, line) or (None, None)
    return {"cell": cell, "cell_line": cell_line}


def placed(one: Any, look: Look, *names: str) -> dict[str, Any]:
    """Where something stands, with some of its attributes."""
    return {**picked(one, "path", "line"), **cell_of(one.path, one.line, look), **picked(one, *names)}


def skipped_object(site: Site | Skipped | Unresolved, look: Look) -> dict[str, Any]:
    """A compile site that is no entry, with the reason."""
    return placed(site, look, "expression", "why")


def unresolved_object(site: Site | Unresolved, look: Look) -> dict[str, Any]:
    """A place that was not followed to the end: of which kind, and what a compile site may mean."""
    return {**skipped_object(site, look), "candidates": list(site.candidates), "kind": site.kind}


def finding_object(finding: Finding, look: Look) -> dict[str, Any]:
    """One finding with all keys of the contract."""
    return {
        **picked(finding, "code", "name", "message", "cost", "severity"),
        # What is about the lint costs nothing at run time: the mildest effect, no times.
        "effect": finding.effect or "once",
        "entries": finding.entries if finding.effect else 0,
        "confidence": finding.confidence,
        **placed(finding.span, look, "column", "end_line", "end_column"),
        **picked(finding, "symbol", "subject", "also"),
        "region": finding.region and _region(*finding.region, look),
        "chain": [placed(step, look, "symbol", "note") for step in finding.chain],
        "related": [placed(place, look, "column", "message") for place in finding.related],
        "fix": finding.fix and _fix(finding.fix, look),
        "fingerprint": finding.fingerprint,
        "url": page_url(finding.code, finding.name),
    }


def _region(path: str, line: int, look: Look) -> dict[str, Any]:
    return {"path": path, "line": line, **cell_of(path, line, look)}


def _fix(fix: Fix, look: Look) -> dict[str, Any]:
    said = picked(fix, "kind", "applicability", "message", "reason")
    return {**said, "edits": [_edit(edit, look) for edit in fix.edits]}


def _edit(edit: Edit, look: Look) -> dict[str, Any]:
    span = edit.span
    return {
        "path": span.path,
        **cell_of(span.path, span.line, look),
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
        "replacement": edit.replacement,
    }


def log_document(report: LogReport, look: Look) -> str:
    """The whole account as one JSON document."""
    from dynamo_lint.logs.breakdown import by_package, by_reason

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
        "unexplained_breaks": [_break(one, look) for one in report.unexplained_breaks],
        "unseen": [
            {"path": look.place(one.span.path), "line": one.span.line, **picked(one, "code", "subject")}
            for one in report.unseen
        ],
        "breaks_by_reason": [picked(one, "name", "lines", "count") for one in by_reason(job)],
        "breaks_by_package": [picked(one, "name", "lines", "count") for one in by_package(job)],
        "trend": [picked(one, "what", "before", "after") for one in report.trend],
        "costs": job.costs and _costs(job.costs, look),
        "failures": [
            picked(one, "kind", "count", "ranks", "log", "line", "step", "detail") for one in job.failures
        ],
        "notes": job.notes,
        "budgets": [_budget(one, look) for one in report.budgets],
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


_COSTS = ("compiles", "graphs", "seconds", "guards", "guard_latency_us")


def _costs(costs: Costs, look: Look) -> dict[str, Any]:
    """The receipt of what compiling cost; a rank is null where there is one process."""
    return {
        "functions": [{**_frame(one.frame, look), **picked(one, *_COSTS)} for one in costs.functions],
        "ranks": [
            picked(one, "rank", "compiles", "seconds", "first_seconds", "last_compile") for one in costs.ranks
        ],
        "caches": {name: picked(one, "hits", "misses", "bypassed") for name, one in costs.caches.items()},
        "programs": costs.programs,
    }


def _budget(one: Budget, look: Look) -> dict[str, Any]:
    return {
        **picked(one, "key", "allowed", "seen", "exceeded"),
        "places": [[look.place(path), line] for path, line in one.places],
        "elsewhere": [[look.place(path), line] for path, line in one.elsewhere],
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
        "finding": None if one.finding is None else finding_object(one.finding, look),
    }
