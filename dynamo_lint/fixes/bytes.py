"""Edits on the bytes of a file: whatever no edit names stays as it is, byte for byte."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Sequence

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.findings import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class CannotEdit(Exception):
    """The edits cannot be made on this file; the message says why."""


@dataclass(slots=True)
class Document:
    """A file's text with its own line ends, and where each line starts."""

    raw: bytes
    encoding: str
    mark: bytes
    """The byte order mark, if there is one."""
    text: str
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """The index into `text` of a 1-based line and column in code points."""
        if not 0 < line <= len(self.starts):
            raise CannotEdit(f"it has no line {line}")
        found = self.starts[line - 1] + column - 1
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        if column < 1 or found > end:
            raise CannotEdit(f"line {line} has no column {column}")
        return found

    def newline(self, offset: int) -> str:
        """The line end used around an offset: that of its own line, or of the line before the last one."""
        here = bisect_right(self.starts, offset)
        for line in (here, here - 1, 1):
            if 0 < line < len(self.starts):
                start, end = self.starts[line - 1], self.starts[line]
                found = _LINE_END.search(self.text, max(start, end - 2), end)
                if found:
                    return found[0]
        return "\n"


def read(raw: bytes) -> Document:
    """The document in these bytes; raises CannotEdit where they do not say what they are."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        mark = _BOM if raw.startswith(_BOM) else b""
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        text = raw[len(mark) :].decode(encoding)
    except (SyntaxError, ValueError, LookupError) as error:
        raise CannotEdit(f"it cannot be decoded: {error}") from None
    return Document(raw, encoding, mark, text)


def apply(raw: bytes, edits: Sequence[Edit]) -> bytes:
    """The bytes with all edits made; raises CannotEdit rather than change anything else."""
    return edited(read(raw), edits)


def edited(document: Document, edits: Sequence[Edit]) -> bytes:
    """The bytes of a document with all edits made; raises CannotEdit rather than change anything else."""
    spans = sorted((*_offsets(document, edit), edit.replacement) for edit in edits)
    kept: list[str] = []
    pieces: list[str] = []
    position = 0
    for start, end, replacement in spans:
        if start < position:
            raise CannotEdit("two edits overlap")
        kept += [document.text[position:start], document.text[start:end]]
        pieces += [document.text[position:start], replacement.replace("\n", document.newline(start))]
        position = end
    rest = document.text[position:]
    # An encoding with shift states can write the same text in other bytes; then nothing is certain.
    if document.mark + _encoded(document, [*kept, rest]) != document.raw:
        raise CannotEdit("its encoding does not survive being cut into pieces")
    result = _encoded(document, [*pieces, rest])
    if result.decode(document.encoding, "replace") != "".join([*pieces, rest]):
        raise CannotEdit("its encoding does not survive the edit")
    return document.mark + result


def parses(raw: bytes) -> bool:
    """Whether Python can parse these bytes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _offsets(document: Document, edit: Edit) -> tuple[int, int]:
    span = edit.span
    start = document.offset(span.line, span.column)
    end = document.offset(span.end_line, span.end_column)
    if end < start:
        raise CannotEdit("an edit ends before it starts")
    return start, end


def _encoded(document: Document, pieces: Sequence[str]) -> bytes:
    try:
        return b"".join(piece.encode(document.encoding) for piece in pieces)
    except UnicodeEncodeError:
        raise CannotEdit(f"the new text cannot be written in {document.encoding}") from None
