"""The causes of a job's costs as findings, for the formats that annotate lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.model import Cause, LogReport
from dynamo_lint.render import log_words as words
from dynamo_lint.report import Compiled, Report


def as_report(report: LogReport, root: Path, torch_version: tuple[int, int]) -> Report:
    """A report with one finding for each cause: the linter's own where it has one, with what it has cost."""
    found = tuple(_finding(one, report, root) for one in report.causes)
    return Report(root=root, torch_version=torch_version, files=0, compiled=Compiled(0, 0), findings=found)


def _finding(cause: Cause, report: LogReport, root: Path) -> Finding:
    cost = words.cost(cause, report.job)
    severity = "error" if cause.limits else "warning"
    if cause.finding is not None:
        stronger = "error" if "error" in (severity, cause.finding.severity) else severity
        return replace(cause.finding, severity=stronger, cost=f"This job: {cost}. {cause.finding.cost}")
    whole = Path.cwd() / cause.path
    path = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else cause.path
    return Finding(
        code=cause.code or "DYN000",
        name="logged",
        span=Span(path, cause.line, 1, cause.line, 1),
        message=words.advice(cause),
        cost=f"This job: {cost}",
        severity=severity,
        effect="break" if cause.breaks else "storm",
        confidence="certain",
        symbol="",
        subject=cause.subject,
    )
