"""The account of a job's logs as JSON; scripts rely on these keys, so all of them are always there."""

from __future__ import annotations

from typing import Any

from dynamo_lint.logs.model import Break, Cause, Limit, LogReport, Recompiles
from dynamo_lint.logs.texts import Frame
from dynamo_lint.render.json_format import finding_object
from dynamo_lint.render.prose import json_text, picked
from dynamo_lint.terminal import Look

SCHEMA = "dynamo-lint/logs/1"


def render(report: LogReport, look: Look) -> str:
    """The whole account as one JSON document."""
    job = report.job
    several = bool(job.ranks)
    document: dict[str, Any] = {
        "schema": SCHEMA,
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
