"""Receipts for scripts: one JSON document with all probes, as the interface spells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynamo_lint import __version__
from dynamo_lint.confirm.automatic import MadeProbe
from dynamo_lint.confirm.model import NOTHING, Cause, GraphBreak, Recompile, relative
from dynamo_lint.confirm.run import Comparison
from dynamo_lint.confirm.shape import Difference
from dynamo_lint.confirm.verdicts import VERDICTS, ProbeReport, Verdict, overall
from dynamo_lint.render.prose import json_text, picked

SCHEMA_VERSION = 1


def render(
    reports: Sequence[ProbeReport],
    root: Path,
    fixed: dict[str, Any] | None = None,
    between: Difference | None = None,
    made: dict[str, Any] | None = None,
) -> str:
    """The whole document; `fixed` is what the fixes bring, `between` two probes, where that was asked for.

    `made` tells of the regions, where probes were made for them.
    """
    receipts = [one.reply.receipt for one in reports if one.reply.receipt is not None]
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "dynamo-lint", "version": __version__},
        "torch_version": receipts[0].torch_version.partition("+")[0] if receipts else None,
        "probes": [_probe(report, root) for report in reports],
        "summary": summary(reports),
        **({"fixed": fixed} if fixed is not None else {}),
        **({"regions": made} if made is not None else {}),
        **({"comparison": _difference(between, root)} if between is not None else {}),
    }
    return json_text(document, exact=True)


def summary(reports: Sequence[ProbeReport]) -> dict[str, int]:
    """How many findings have each verdict, the best over all probes, and how much was not predicted."""
    counts = Counter(one.verdict for one in overall(reports))
    missed = sum(len(one.unpredicted_recompiles) + len(one.unpredicted_breaks) for one in reports)
    failed = sum(bool(one.reply.error) for one in reports)
    return {**{word: counts[word] for word in VERDICTS}, "unpredicted": missed, "failed": failed}


def fixed(comparisons: Sequence[Comparison], applied: int) -> dict[str, Any]:
    """The effect of the fixes, probe by probe."""
    return {
        "applied": applied,
        "probes": [
            {
                "name": one.before.name,
                "before": costs(one.before),
                "after": costs(one.after),
                "error": one.after.reply.error or None,
                **picked(one, "same_outputs", "graphs"),
            }
            for one in comparisons
        ],
    }


def regions(built: int, unmade: Sequence[MadeProbe]) -> dict[str, Any]:
    """The regions for which a probe was made and run, and the reasons where there is none."""
    return {
        "built": built,
        "not_built": [
            {"name": one.name, **picked(one.entry, "path", "line", "target"), "why": list(one.gaps)}
            for one in unmade
        ],
    }


def _difference(between: Difference, root: Path) -> dict[str, Any]:
    """A table of what only one of two probes has; each pair is of the first and the second."""
    return {
        **picked(between, "names", "differs", "graphs", "breaks"),
        **{
            key: [
                {"path": relative(one.path, root), **picked(one, "line", "function", "id", "reason")}
                for one in getattr(between, key)
            ]
            for key in ("breaks_removed", "breaks_added")
        },
        **picked(between, "operators_removed", "operators_added"),
    }


def costs(report: ProbeReport) -> dict[str, int]:
    """How often a probe compiled, compiled again and broke a graph."""
    receipt = report.reply.receipt or NOTHING
    return {
        "compiles": len(receipt.compiles),
        "recompiles": len(receipt.recompiles),
        "graph_breaks": len(receipt.breaks),
    }


def _probe(report: ProbeReport, root: Path) -> dict[str, Any]:
    reply, receipt = report.reply, report.reply.receipt or NOTHING
    limit = picked(reply, "hit_limit", "recompile_limit")
    return {
        **picked(report, "name", "path", "line"),
        "error": reply.error or None,
        "detail": reply.detail or None,
        "backend": receipt.backend or None,
        "calls": receipt.calls,
        "compiles": len(receipt.compiles),
        **(limit if reply.receipt is not None else dict.fromkeys(limit)),
        "matches_eager": receipt.matches_eager,
        "mismatch": receipt.mismatch or None,
        "calls_since_last_compile": report.flat_since,
        "failure": receipt.failure and picked(receipt.failure, "call", "type", "message"),
        "recompiles": [_recompile(one, root) for one in receipt.recompiles],
        "graph_breaks": [_break(one, root) for one in receipt.breaks],
        "findings": [_verdict(one) for one in report.verdicts],
        "unpredicted": report.unpredicted_recompiles,
        "unpredicted_breaks": report.unpredicted_breaks,
        "problems": [*reply.problems, *receipt.problems],
        **({"made": picked(report.way, "origin", "varied", "guessed")} if report.way is not None else {}),
    }


def _recompile(one: Recompile, root: Path) -> dict[str, Any]:
    first = one.causes[0][0] if one.causes and one.causes[0] else None
    about = _cause(first, root) if first else {}
    return {
        "function": f"{relative(one.path, root)}::{one.function}",
        "call": one.call,
        **{key: about.get(key) for key in ("guard", "owner", "attribute", "expected", "actual")},
        "cause": ("sole" if len(one.causes[0]) == 1 else "joint") if first else None,
        "path": about.get("path"),
        "line": first.line if first and first.path else None,
        "alternatives": [[_cause(cause, root) for cause in joint] for joint in one.causes],
        "reasons": list(one.reasons),
    }


def _cause(cause: Cause, root: Path) -> dict[str, Any]:
    return {
        **picked(cause, "kind", "guard"),
        "owner": cause.owner or None,
        "attribute": cause.attribute,
        "inside": cause.inside or None,
        **picked(cause, "expected", "actual"),
        "path": relative(cause.path, root) if cause.path else None,
        "line": cause.line or None,
    }


def _break(one: GraphBreak, root: Path) -> dict[str, Any]:
    path = relative(one.path, root)
    return {
        "function": f"{path}::{one.function}",
        "path": path,
        "line": one.line,
        "id": one.id or None,
        **picked(one, "reason", "skips_frame", "call", "count"),
    }


def _verdict(one: Verdict) -> dict[str, Any]:
    return {
        **picked(one.finding, "fingerprint", "code", "subject"),
        **picked(one.finding.span, "path", "line"),
        **picked(one, "verdict", "why"),
        "evidence": list(one.recompiles),
        "evidence_breaks": list(one.breaks),
    }
