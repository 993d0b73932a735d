"""Annotations for GitHub Actions, and Markdown for those that GitHub would not show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dynamo_lint.findings import Finding
from dynamo_lint.pages import page_url
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import command_data, command_property, explained, markdown, markdown_code
from dynamo_lint.report import Report

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}

SHOWN = 10
"""Annotations of one kind that GitHub shows for a step; it drops the others without a word."""

SUMMARY_BYTES = 900_000
"""A step summary may have 1 MiB, and other steps' tools may write to the same page."""


def render(report: Report, view: View) -> str:
    """One workflow command a finding; all of them, since those without an annotation stay in the log."""
    return "".join(_command(finding, view) for finding in report.findings)


def overflow(report: Report, view: View) -> str:
    """Markdown with the findings that get no annotation; empty if all of them do."""
    seen: Counter[str] = Counter()
    hidden = []
    for finding in report.findings:
        seen[finding.severity] += 1
        if seen[finding.severity] > SHOWN:
            hidden.append(finding)
    return _page(hidden, len(report.findings), view) if hidden else ""


def _page(hidden: Iterable[Finding], total: int, view: View) -> str:
    rows = [_row(finding, view) for finding in hidden]
    head = (
        f"### dynamo-lint: {len(rows)} of {total} findings without an annotation\n\n"
        f"GitHub shows {SHOWN} annotations of a kind for a step. These are the others:\n\n"
        "| place | rule | finding |\n|---|---|---|\n"
    )
    kept: list[str] = []
    size = len(head)
    for row in rows:
        size += len(row.encode(errors="replace"))
        if size > SUMMARY_BYTES:
            kept.append(f"\n{len(rows) - len(kept)} more are in the log of the step.\n")
            break
        kept.append(row)
    return head + "".join(kept) + "\n"


def _row(finding: Finding, view: View) -> str:
    place = markdown_code(f"{view.path(finding.span.path)}:{finding.span.line}")
    rule = f"[{finding.code}]({page_url(finding.code, finding.name)})"
    return f"| {place} | {rule} | {markdown(' '.join(explained(finding)))} |\n"


def _command(finding: Finding, view: View) -> str:
    span = finding.span
    where = {"file": view.path(span.path), "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:
        # GitHub refuses columns where a range has several lines.
        where |= {"col": span.column, "endColumn": span.end_column}
    where["title"] = f"{finding.code} {finding.name}"
    properties = ",".join(f"{key}={command_property(str(value))}" for key, value in where.items())
    return f"::{COMMANDS[finding.severity]} {properties}::{command_data(chr(10).join(explained(finding)))}\n"
