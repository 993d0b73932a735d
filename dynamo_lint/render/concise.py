"""One line a finding, for editors, `grep` and people who know the rules."""

from __future__ import annotations

from dynamo_lint.render.full import COLOURS
from dynamo_lint.report import Report
from dynamo_lint.terminal import Look, clean


def render(report: Report, look: Look) -> str:
    """`path:line:column: severity CODE [effect] message`."""
    lines = []
    for finding in report.findings:
        place = look.place(finding.span.path, finding.span.line, finding.span.column)
        effect = f" [{finding.effect}]" if finding.effect else ""
        message = clean(finding.message.replace("\n", " "))
        severity = look.paint(finding.severity, fg=COLOURS[finding.severity])
        lines.append(f"{place}: {severity} {look.paint(finding.code, bold=True)}{effect} {message}\n")
    return "".join(lines)
