"""The text beside a finding: what happens, the way to the line, the cost, the fix, and the rule's page."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from dynamo_lint.findings import Finding
from dynamo_lint.pages import as_measured, load_pages
from dynamo_lint.render.prose import markdown
from dynamo_lint.server.places import Places


def hover(findings: Iterable[Finding], places: Places, torch_version: tuple[int, int]) -> types.Hover | None:
    """The hover on some findings that share a place; None without any."""
    shown = list(findings)
    if not shown:
        return None
    parts = [_about(finding, places) for finding in shown]
    known = load_pages()
    codes = dict.fromkeys(finding.code for finding in shown)
    parts += [as_measured(known[code], torch_version).body for code in codes if code in known]
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
    return types.Hover(text, places.location(shown[0].span).range)


def covers(finding: Finding, line: int, column: int) -> bool:
    """Whether a place is in a finding, or at its end."""
    span = finding.span
    return (
        (span.line, span.column) <= (line, column) <= (span.end_line, max(span.end_column, span.column + 1))
    )


def _about(finding: Finding, places: Places) -> str:
    kinds = (finding.severity, finding.effect, finding.confidence)
    about = ", ".join(kind for kind in kinds if kind and kind != "certain")
    lines = [f"**{finding.code} {finding.name}** ({about})", "", markdown(finding.message), ""]
    rows = [(step.path, step.line, step.note) for step in finding.chain]
    rows += [(other.path, other.line, other.message) for other in finding.related]
    for path, line, note in rows:
        location = places.line(path, line)
        number = location.range.start.line + 1
        lines.append(f"- [{markdown(path)}:{number}](<{location.uri}#L{number}>) {markdown(note)}")
    lines += ["", f"Cost: {markdown(finding.cost)}"]
    if finding.fix is not None:
        lines += ["", f"Fix: {markdown(finding.fix.message)}"]
    return "\n".join(lines)
