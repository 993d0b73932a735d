"""Places of a verdict as the client knows them: documents instead of paths, ranges instead of lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Span
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.server.documents import Document, OpenFile
from dynamo_lint.server.positions import column_at, unit_offset
from dynamo_lint.sources import Sources

_FAR = 1_000_000
"""More columns than a line has: the end of it."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files below a root, as they were judged, and which of them are open."""

    root: Path
    sources: Sources
    open_files: Mapping[Path, OpenFile]
    encoding: str

    def file(self, path: str) -> OpenFile | None:
        """The open file at a path below the root."""
        return self.open_files.get(self.root / path)

    def uri(self, path: str) -> str:
        """The document that a file is, spelled as the client does."""
        file = self.file(path)
        return file.uri if file is not None else from_fs_path(str(self.root / path)) or ""

    def document(self, path: str, line: int) -> Document | None:
        """The open document that a line stands in: a file or a cell."""
        file = self.file(path)
        if file is None:
            return None
        cell = self.sources.cell(path, line) if is_notebook(path) else (1, line)
        return file.parts[cell[0] - 1] if cell is not None and cell[0] <= len(file.parts) else None

    def location(self, span: Span) -> types.Location:
        """Where a span is; of a notebook that is not open the line of its JSON."""
        path = span.path
        if is_notebook(path) and self.file(path) is None:
            return types.Location(self.uri(path), self._in_json(path, span.line))
        document = self.document(path, span.line)
        shift = self._shift(path, span.line)
        return types.Location(
            document.uri if document is not None else self.uri(path),
            types.Range(
                types.Position(span.line - 1 - shift, self._units(path, span.line, span.column)),
                types.Position(span.end_line - 1 - shift, self._units(path, span.end_line, span.end_column)),
            ),
        )

    def line(self, path: str, line: int, column: int = 1) -> types.Location:
        """Where the rest of a line is, from a column on."""
        return self.location(Span(path, line, column, line, _FAR))

    def position(self, path: str, uri: str, position: types.Position) -> tuple[int, int] | None:
        """The line and the column of a file that a position in a document is; None in what is no code."""
        file = self.file(path)
        if file is None:
            return None
        line = position.line + 1
        if is_notebook(path):
            number = next((at for at, part in enumerate(file.parts, 1) if part.uri == uri), 0)
            cell = next((one for one in self.sources.notebook(path).cells if one.number == number), None)
            if cell is None:
                return None
            line += cell.first - 1
        return line, column_at(self.sources.line(path, line), position.character, self.encoding)

    def _shift(self, path: str, line: int) -> int:
        """The lines of a notebook's module before the cell of a line; none in a file."""
        cell = self.sources.cell(path, line)
        return line - cell[1] if cell is not None else 0

    def _units(self, path: str, line: int, column: int) -> int:
        return unit_offset(self.sources.line(path, line), column, self.encoding)

    def _in_json(self, path: str, line: int) -> types.Range:
        number = self.sources.notebook(path).line_of_json(line) - 1
        return types.Range(types.Position(number, 0), types.Position(number + 1, 0))
