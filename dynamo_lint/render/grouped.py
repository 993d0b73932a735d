"""Findings below the name of their file, for reading through one file after the other."""

from __future__ import annotations

from itertools import groupby

from dynamo_lint.report import Report
from dynamo_lint.terminal import Look, clean


def render(report: Report, look: Look) -> str:
    """A heading for each file, then `line:column CODE [effect] message`."""
    blocks = []
    for path, group in groupby(report.findings, key=lambda finding: finding.span.path):
        findings = list(group)
        places = [f"{finding.span.line}:{finding.span.column}" for finding in findings]
        width = max(map(len, places))
        lines = [look.paint(f"{look.place(path)}:", bold=True)]
        for place, finding in zip(places, findings, strict=True):
            effect = f" [{finding.effect}]" if finding.effect else ""
            message = clean(finding.message.replace("\n", " "))
            lines.append(f"  {place:<{width}}  {look.paint(finding.code, bold=True)}{effect} {message}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)
