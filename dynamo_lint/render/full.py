"""The default output: for each finding the line, the way Dynamo gets there, the cost and the fix."""

from __future__ import annotations

from dynamo_lint.calls.model import Step
from dynamo_lint.findings import Finding, Related
from dynamo_lint.render.frame import frame
from dynamo_lint.render.prose import applicable, sentence
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, clean, clipped, text_width

COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}


def render(report: Report, sources: Sources, look: Look) -> str:
    """All findings, separated by blank lines; what was said just above is not said again."""
    blocks: list[str] = []
    costs: dict[tuple[str, str], str] = {}
    previous: Finding | None = None
    for finding in report.findings:
        message = sentence(finding.message)
        lines = [_header(finding, look), look.wrapped(message[:1].upper() + message[1:])]
        if code := frame(finding.span, sources, look):
            lines += ["", *code, ""]
        lines += _places(finding, previous, sources, look)
        lines += _advice(finding, costs, look)
        blocks.append("\n".join(lines) + "\n")
        previous = finding
    return "\n".join(blocks)


def _header(finding: Finding, look: Look) -> str:
    place = look.place(finding.span.path, finding.span.line, finding.span.column)
    severity = look.paint(finding.severity, fg=COLOURS[finding.severity], bold=True)
    doubt = "" if finding.confidence == "certain" else f" ({finding.confidence})"
    rule = f"{look.paint(finding.code, bold=True)} {finding.name}"
    return f"{look.paint(place, bold=True)}: {severity} {rule}{doubt}"


def _places(finding: Finding, previous: Finding | None, sources: Sources, look: Look) -> list[str]:
    """A table of the lines that lead here, and of the others that matter."""
    steps = [
        step for step in finding.chain if (step.path, step.line) != (finding.span.path, finding.span.line)
    ]
    known = previous is not None and bool(steps) and _way(previous) == _way(finding)
    rows: list[Step | Related] = [*([] if known else steps), *finding.related]
    lines = ["  compiled and called as in the finding above"] if known else []
    if not rows:
        return lines
    here = finding.span.path
    cells = [
        (
            f"line {row.line}" if row.path == here else look.brief(row.path, row.line),
            clean(row.note if isinstance(row, Step) else row.message),
        )
        for row in rows
    ]
    # A cell that is longer than this pushes its own row only.
    first = min(max(text_width(place) for place, _ in cells), 36)
    second = min(max(text_width(note) for _, note in cells), 20)
    for row, (place, note) in zip(rows, cells, strict=True):
        head = f"  {place:<{first}}  {note:<{second}}  "
        source = clean(sources.line(row.path, row.line)).strip().expandtabs(4)
        room = max(look.width - text_width(head), 20)
        lines.append(f"{head}{look.paint(clipped(source, room), dim=True)}".rstrip())
    return lines


def _advice(finding: Finding, costs: dict[tuple[str, str], str], look: Look) -> list[str]:
    here = f"as at {look.place(finding.span.path, finding.span.line)}"
    said = costs.setdefault((finding.code, finding.cost), here)
    cost = said if said != here and len(said) < len(finding.cost) else finding.cost
    lines = [_labelled("cost", cost, look)]
    if finding.fix is not None:
        lines.append(_labelled("fix", finding.fix.message + applicable(finding.fix, ""), look))
    return lines


def _labelled(label: str, text: str, look: Look) -> str:
    indent = " " * 8
    paragraph = look.wrapped(text, indent, indent)
    return "  " + look.paint(f"{label + ':':<6}", bold=True) + paragraph[len(indent) :]


def _way(finding: Finding) -> tuple[str, tuple[Step, ...]]:
    here = (finding.span.path, finding.span.line)
    return finding.symbol, tuple(step for step in finding.chain if (step.path, step.line) != here)
