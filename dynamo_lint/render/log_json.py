"""The account of a job's logs as JSON; scripts rely on these keys, so all of them are always there."""

from __future__ import annotations

from typing import Any

from dynamo_lint.logs.model import Break, Cause, Frame, Limit, LogReport, Recompiles
from dynamo_lint.render.escapes import json_text
from dynamo_lint.render.json_format import finding_object
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
            str(number): {
                "recompiles": one.recompiles,
                "breaks": one.breaks,
                "limits": one.limits,
                "compiles": one.compiles,
            }
            for number, one in job.ranks.items()
        },
        "unexplained": [
            {**_frame(one.frame, look), "source": one.source, "kind": one.kind, "count": one.count}
            for one in report.unexplained
        ],
        "unseen": [
            {
                "path": look.place(one.span.path),
                "line": one.span.line,
                "code": one.code,
                "subject": one.subject,
            }
            for one in report.unseen
        ],
        "notes": list(job.notes),
        "budgets": [
            {"key": one.key, "allowed": one.allowed, "seen": one.seen, "exceeded": one.exceeded}
            for one in report.budgets
        ],
    }
    return json_text(document, exact=True)


def _frame(one: Frame, look: Look) -> dict[str, Any]:
    return {"path": look.place(one.path), "line": one.line, "function": one.function}


def _recompiles(one: Recompiles, look: Look) -> dict[str, Any]:
    return {
        **_frame(one.frame, look),
        "source": one.source,
        "kind": one.kind,
        "guard": one.guard,
        "count": one.count,
        "values": list(one.values),
    }


def _break(one: Break, look: Look) -> dict[str, Any]:
    return {
        "path": look.place(one.path),
        "line": one.line,
        "function": one.function,
        "id": one.id,
        "reason": one.reason,
        "count": one.count,
        "skips_frame": one.skips_frame,
        "stack": [[look.place(path), line] for path, line in one.stack],
    }


def _limit(one: Limit, several: bool, look: Look) -> dict[str, Any]:
    """A limit; its rank only where there are several."""
    rank = {"rank": one.rank} if several else {}
    return {**_frame(one.frame, look), "limit": one.limit, "value": one.value, "source": one.source, **rank}


def _cause(one: Cause, look: Look) -> dict[str, Any]:
    return {
        "path": look.place(one.path),
        "line": one.line,
        "code": one.code,
        "subject": one.subject,
        "recompiles": one.recompiles,
        "breaks": one.breaks,
        "limits": one.limits,
        "evidence": one.evidence,
        "masked": one.masked,
        "frames": [_frame(frame, look) for frame in one.frames],
        "finding": None if one.finding is None else finding_object(one.finding),
    }
