"""The code frame: one source line with carets under the part that matters."""

from __future__ import annotations

from dynamo_lint.findings import Span
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, char_width, clean

TAB = "    "


def frame(span: Span, sources: Sources, look: Look) -> list[str]:
    """The first line of `span` and its carets; nothing if the line cannot be read."""
    source = sources.line(span.path, span.line)
    if not source.strip():
        return []
    gutter = f"{span.line:>6} | "
    cells = [TAB if char == "\t" else char for char in clean(source)]
    widths = [len(TAB) if cell == TAB else char_width(cell) for cell in cells]
    start = min(span.column - 1, len(cells))
    end = min(span.end_column - 1, len(cells)) if span.end_line == span.line else len(source.rstrip())
    end = max(end, start + 1)

    room = look.width - len(gutter)
    left, right = _window(widths, start, end, room)
    shown = "".join(cells[left:right])
    before = sum(widths[left:start])
    if left:
        shown, before = "…" + shown, before + 1
    if right < len(cells):
        shown += "…"
    carets = "^" * max(1, sum(widths[start : min(end, right)]))
    blank = " " * (len(gutter) - 2) + "| "
    return [
        look.paint(gutter, dim=True) + shown.rstrip(),
        look.paint(blank, dim=True) + " " * before + look.paint(carets, fg="red", bold=True),
    ]


def _window(widths: list[int], start: int, end: int, room: int) -> tuple[int, int]:
    """The slice of a line to show: all of it if it fits, else as much as fits around `start`."""
    if sum(widths) <= room:
        return 0, len(widths)
    room -= 2  # the ellipses
    left = 0
    if sum(widths[:end]) > room:
        # A quarter of the room for what stands before, so that the line can still be recognised.
        left = start
        while left and sum(widths[left - 1 : start]) <= room // 4:
            left -= 1
    right = left
    while right < len(widths) and sum(widths[left : right + 1]) <= room:
        right += 1
    return left, right
