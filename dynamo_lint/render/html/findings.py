"""A finding as it stands on a page: its line among its neighbours, the way there, and the fix as a diff."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Edit, Finding, Related, Span
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import numbered

LONGEST_LINE = 300
"""Characters of a source line that are shown around its mark."""
MOST_LINES = 8
"""Of what is marked."""
WIDE = 88
"""Characters that fit beside a chain on a large screen."""
TAB = "    "


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few lines of a file with a stretch of them marked."""

    numbers: str
    above: str
    before: str
    """What stands on the first marked line before the mark."""
    marked: str
    after: str
    below: str
    wide: bool
    """It may have to be scrolled, for which it must be reached by keyboard."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that an edit takes out and puts in."""

    place: str
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A finding with what its entry on the page shows of the sources."""

    finding: Finding
    anchor: str
    cost: str
    related: tuple[Related, ...]
    excerpt: Excerpt | None
    hunks: tuple[Hunk, ...]
    code: Callable[[str, int], str]
    """The text of a line by its path and number."""
    place: Callable[[str, int], str]
    """A line as it is named, by its path and number."""


def card(finding: Finding, sources: Sources, anchor: str, around: int = 2) -> Card:
    """The entry of a finding, with so many lines of source around its own."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return Card(
        finding=finding,
        anchor=anchor,
        cost=finding.cost,
        related=finding.related,
        excerpt=excerpt(finding.span, sources, around),
        hunks=tuple(hunks(edits, sources)),
        code=lambda path, line: _cut(sources.line(path, line).strip()),
        place=named(sources),
    )


def named(sources: Sources) -> Callable[[str, int], str]:
    """Return what names a line by its path and number: `path:line`, or `path:cell 3:line`."""
    return lambda path, line: f"{path}:{numbered(sources.cell(path, line), line)}"


def excerpt(span: Span, sources: Sources, around: int = 2) -> Excerpt | None:
    """The lines around a span, less what all of them are indented by; None where they cannot be read."""
    last = min(max(span.end_line, span.line), span.line + MOST_LINES - 1)
    if not sources.line(span.path, span.line).strip():
        return None
    first, end = max(1, span.line - around), last + around
    lines = {number: sources.line(span.path, number).rstrip() for number in range(first, end + 1)}
    cells = {number: sources.cell(span.path, number) or (0, number) for number in lines}
    near = [number for number, (cell, _) in cells.items() if cell == cells[span.line][0]]
    shown = [number for number in near if lines[number] or first < number < end]
    while not lines[shown[0]]:  # an empty line at either end shows nothing
        del shown[0]
    while not lines[shown[-1]]:
        del shown[-1]
    margin = min(len(line) - len(line.lstrip(" ")) for number in shown if (line := lines[number]))
    start, stop = max(span.column - 1, margin), span.end_column - 1
    if last != span.end_line or stop <= 0:
        stop = len(lines[last])
    if last == span.line:
        stop = max(stop, start + 1)
    middle = lines[span.line][start:stop] if last == span.line else lines[span.line][start:]
    rest = [lines[number][margin:] for number in range(span.line + 1, last)]
    if last != span.line:
        rest.append(lines[last][margin:stop])
    return Excerpt(
        numbers="\n".join(str(cells[number][1]) for number in shown),
        above="".join(_cut(lines[number][margin:]) + "\n" for number in shown if number < span.line),
        before=_cut(lines[span.line][margin:start], last=True),
        marked="\n".join(map(_cut, (middle, *rest))),
        after=_cut(lines[last][stop:]),
        below="\n".join(_cut(lines[number][margin:]) for number in shown if number > last),
        wide=any(len(lines[number]) - margin > WIDE for number in shown),
    )


def hunks(edits: Sequence[Edit], sources: Sources) -> Iterator[Hunk]:
    """The lines that some edits change, before and after; edits of the same lines are one."""
    groups: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.path, edit.span.line, edit.span.column)):
        near = groups[-1][-1].span if groups else None
        if near is not None and near.path == edit.span.path and edit.span.line <= near.end_line:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    for group in groups:
        path, first, last = group[0].span.path, group[0].span.line, group[-1].span.end_line
        end = len(sources.line(path, last)) + 1
        old = sources.stretch(path, (first, 1), (last, end)).split("\n")
        text, at = "", (first, 1)
        for edit in group:
            text += sources.stretch(path, at, (edit.span.line, edit.span.column)) + edit.replacement
            at = edit.span.end_line, edit.span.end_column
        new = (text + sources.stretch(path, at, (last, end))).split("\n")
        while old and new and old[0] == new[0]:
            del old[0], new[0]
            first += 1
        while old and new and old[-1] == new[-1]:
            del old[-1], new[-1]
        if old or new:
            margin = min((len(one) - len(one.lstrip(" ")) for one in (*old, *new) if one.strip()), default=0)
            place = named(sources)(path, first)
            yield Hunk(place, *(tuple(_cut(one[margin:]) for one in part) for part in (old, new)))


def _cut(line: str, last: bool = False) -> str:
    """A line of source, its tabs as blanks; of a very long one the beginning, or the end."""
    if len(line) > LONGEST_LINE:
        line = "…" + line[-LONGEST_LINE:] if last else line[:LONGEST_LINE] + "…"
    return line.replace("\t", TAB)
