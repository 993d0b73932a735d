"""Edits on a notebook: the sources of the cells that they name, and nothing else in its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dynamo_lint.findings import Edit
from dynamo_lint.fixes.bytes import CannotEdit, Document, edited
from dynamo_lint.index.notebooks import LINE_END, Cell, Notebook, literals, read

_LAST_END = re.compile(r"(?:\r\n|\r|\n)\Z")


def apply_to_cells(stored: bytes, edits: Sequence[Edit]) -> bytes:
    """The notebook with all edits made; raises CannotEdit for one that is not in the code of one cell."""
    notebook = read(stored)
    changes: dict[int, list[Edit]] = {}
    for edit in edits:
        cell, change = _in_cell(notebook, edit)
        changes.setdefault(cell.number, []).append(change)
    text = notebook.text
    for cell in reversed(notebook.cells):  # what stands above keeps its place
        if cell.number in changes:
            source = _source(cell, changes[cell.number])
            text = text[: cell.start] + _as_json(notebook.text, cell, source) + text[cell.end :]
    return text.encode()


def changed_cells(before: bytes, after: bytes) -> Iterable[tuple[int, str, str]]:
    """The numbers of the cells that differ between two states of a notebook, each with its sources."""
    for old, new in zip(read(before).cells, read(after).cells, strict=True):
        if old.source != new.source:
            yield old.number, old.source, new.source


def _in_cell(notebook: Notebook, edit: Edit) -> tuple[Cell, Edit]:
    """The cell that an edit changes, and the edit in the lines of that cell."""
    span = edit.span
    cell = notebook.cell_at(span.line)
    if cell is None:
        raise CannotEdit("the notebook has no code")
    source, code = LINE_END.split(cell.source), cell.code.split("\n")
    first, last, end = span.line - cell.first + 1, span.end_line - cell.first + 1, span.end_column
    if last == len(source) + 1 and end == 1 and first < last:
        # The end of its last line, behind which the module has a line end and the cell has none.
        last, end = len(source), len(source[-1]) + 1
    if last > len(source):
        raise CannotEdit("it would reach from one cell into another")
    if source[first - 1 : last] != code[first - 1 : last]:
        raise CannotEdit("it would change a line that is not Python")
    return cell, replace(edit, span=replace(span, line=first, end_line=last, end_column=end))


def _source(cell: Cell, edits: Sequence[Edit]) -> str:
    try:
        raw = cell.source.encode()
    except UnicodeEncodeError:
        raise CannotEdit("its text is no Unicode") from None
    source = edited(Document(raw, "utf-8", b"", cell.source), edits).decode()
    # Without its last line a cell ends as it did: with no line end.
    return source if _LAST_END.search(cell.source) else _LAST_END.sub("", source)


def _as_json(text: str, cell: Cell, source: str) -> str:
    """A source as the JSON of a notebook writes it; lines that stay are written as they were."""
    former = list(literals(text, cell))
    known = {one.text: text[one.start : one.end] for one in former}
    ascii_only = text.isascii() and "\\u" in text

    def written(line: str) -> str:
        return known.get(line) or json.dumps(line, ensure_ascii=ascii_only)

    if text[cell.start] == '"' or not former:
        return written(source)
    lines = source.splitlines(keepends=True)
    opened = text[cell.start : former[0].start]
    between = text[former[0].end : former[1].start] if len(former) > 1 else f",{opened[1:]}"
    return opened + between.join(map(written, lines)) + text[former[-1].end : cell.end]
