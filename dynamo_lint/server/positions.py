"""Positions: columns in code points from 1 here, offsets in code units from 0 in the protocol."""

from __future__ import annotations

from lsprotocol import types

from dynamo_lint.index.notebooks import LINE_END

UTF8, UTF16, UTF32 = (kind.value for kind in types.PositionEncodingKind)
"""How a client and a server may agree to count the units of a line."""


def unit_offset(line: str, column: int, encoding: str) -> int:
    """The code units before a column of a line."""
    return _units(line[: column - 1], encoding)


def column_at(line: str, units: int, encoding: str) -> int:
    """The column that stands behind so many code units; the end of the line if it is shorter."""
    if line.isascii() or encoding == UTF32:
        return min(units, len(line)) + 1
    passed = 0
    for column, char in enumerate(line, 1):
        if passed >= units:
            return column
        passed += _units(char, encoding)
    return len(line) + 1


def text_offset(text: str, position: types.Position, encoding: str) -> int:
    """The index into a text that a position stands for; its end if the text has no such line."""
    start = 0
    for _ in range(position.line):
        if (end := LINE_END.search(text, start)) is None:
            return len(text)
        start = end.end()
    end = LINE_END.search(text, start)
    line = text[start : end.start() if end is not None else len(text)]
    return start + column_at(line, position.character, encoding) - 1


def changed(text: str, change: types.TextDocumentContentChangeEvent, encoding: str) -> str:
    """The text after a change of a part of it, or of the whole."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    start = text_offset(text, change.range.start, encoding)
    end = text_offset(text, change.range.end, encoding)
    return text[:start] + change.text + text[end:]


def _units(text: str, encoding: str) -> int:
    if text.isascii() or encoding == UTF32:
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
