"""The causes of a job's costs as findings, for the formats that annotate lines."""

from __future__ import annotations

from dataclasses import replace

from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.model import Cause, LogReport
from dynamo_lint.render import log_words as words
from dynamo_lint.report import Compiled, Report
from dynamo_lint.terminal import Look


def as_report(report: LogReport, look: Look, torch_version: tuple[int, int]) -> Report:
    """A report with one finding for each cause: the linter's own where it has one, with what it has cost."""
    found = tuple(_finding(one, report, look) for one in report.causes)
    return Report(
        root=look.root, torch_version=torch_version, files=0, compiled=Compiled(0, 0), findings=found
    )


def _finding(cause: Cause, report: LogReport, look: Look) -> Finding:
    cost = words.cost(cause, report.job, look)
    severity = "error" if cause.limits else "warning"
    if cause.finding is not None:
        stronger = "error" if "error" in (severity, cause.finding.severity) else severity
        return replace(cause.finding, severity=stronger, cost=f"This job: {cost}. {cause.finding.cost}")
    return Finding(
        code=cause.code or "DYN000",
        name="logged",
        span=Span(cause.path, cause.line, 1, cause.line, 1),
        message=words.advice(cause),
        cost=f"This job: {cost}",
        severity=severity,
        effect="break" if cause.breaks else "storm",
        confidence="certain",
        symbol="",
        subject=cause.subject,
    )
