"""The texts and notebooks that a client has open, as it edits them."""

from __future__ import annotations

import io
import json
import os
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.discovery import CODE
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.server.positions import changed


@dataclass(frozen=True, slots=True)
class Document:
    """An open text: a file, or the cell of a notebook."""

    uri: str
    version: int | None
    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is open, and the documents that its text stands in: itself, or its cells in order."""

    uri: str
    parts: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Overlay:
    """All that is open at one time."""

    files: Mapping[Path, OpenFile]

    def texts(self) -> dict[Path, bytes]:
        """The content of each file, as it would be on the disk."""
        return {
            path: notebook_bytes(file.parts) if is_notebook(path.name) else encoded(file.parts[0].text)
            for path, file in self.files.items()
        }

    def below(self, paths: Iterable[Path]) -> Overlay:
        """The part of it that concerns some files."""
        return Overlay({path: self.files[path] for path in paths})


@dataclass(slots=True)
class Documents:
    """All that is open now; each of these methods is one notification of the protocol."""

    encoding: str = "utf-16"
    _texts: dict[str, Document] = field(default_factory=dict)
    _notebooks: dict[str, list[types.NotebookCell]] = field(default_factory=dict)
    _in_notebook: dict[str, str] = field(default_factory=dict)
    """The notebook of each cell."""

    def open(self, item: types.TextDocumentItem) -> None:
        """A text is open."""
        self._texts[item.uri] = Document(item.uri, item.version, item.text, item.language_id)

    def change(
        self,
        document: types.VersionedTextDocumentIdentifier,
        changes: Iterable[types.TextDocumentContentChangeEvent],
    ) -> None:
        """A text has changed; one that was never opened stays unknown."""
        known = self._texts.get(document.uri)
        if known is None:
            return
        text = known.text
        for change in changes:
            text = changed(text, change, self.encoding)
        self._texts[document.uri] = replace(known, version=document.version, text=text)

    def close(self, uri: str) -> None:
        """A text is closed: what is on the disk counts."""
        self._texts.pop(uri, None)
        self._in_notebook.pop(uri, None)

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook is open, with its cells."""
        self._notebooks[params.notebook_document.uri] = list(params.notebook_document.cells)
        for item in params.cell_text_documents:
            self.open(item)
            self._in_notebook[item.uri] = params.notebook_document.uri

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Cells have come, gone, moved or changed."""
        uri, change = params.notebook_document.uri, params.change.cells
        cells = self._notebooks.get(uri)
        if cells is None or change is None:
            return
        if change.structure is not None:
            array = change.structure.array
            cells[array.start : array.start + array.delete_count] = array.cells or []
            for closed in change.structure.did_close or ():
                self.close(closed.uri)
            for item in change.structure.did_open or ():
                self.open(item)
                self._in_notebook[item.uri] = uri
        for cell in change.data or ():
            cells[:] = [cell if cell.document == one.document else one for one in cells]
        for content in change.text_content or ():
            self.change(content.document, content.changes)

    def close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """A notebook is closed, with its cells."""
        self._notebooks.pop(params.notebook_document.uri, None)
        for cell in params.cell_text_documents:
            self.close(cell.uri)

    def overlay(self) -> Overlay:
        """All that is open now, by path."""
        open_files: dict[Path, OpenFile] = {}
        for uri, document in self._texts.items():
            path = path_of(uri)
            if uri not in self._in_notebook and path is not None and _is_code(path, document):
                open_files[path] = OpenFile(uri, (document,))
        for uri, cells in self._notebooks.items():
            if (path := path_of(uri)) is not None and is_notebook(path.name):
                open_files[path] = OpenFile(uri, tuple(map(self._cell, cells)))
        return Overlay(open_files)

    def owner(self, uri: str) -> Path | None:
        """The file that a text stands in: its own, or the notebook of a cell."""
        return path_of(self._in_notebook.get(uri, uri))

    def _cell(self, cell: types.NotebookCell) -> Document:
        text = self._texts.get(cell.document, Document(cell.document, None, ""))
        return text if cell.kind == types.NotebookCellKind.Code else replace(text, language="markdown")


def path_of(uri: str) -> Path | None:
    """The path of a document on this machine; None for one that is in no file, such as a new one."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(os.path.normpath(path)) if path else None


def _is_code(path: Path, document: Document) -> bool:
    """Whether a text is Python: by its name, or because the client says so."""
    return path.suffix != ".ipynb" and (path.name.endswith(CODE) or document.language == "python")


def encoded(text: str) -> bytes:
    """The bytes of a text in the encoding that its first lines declare."""
    raw = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(raw).readline)[0].removesuffix("-sig"))
    except (SyntaxError, ValueError, LookupError):
        return raw


def notebook_bytes(cells: Iterable[Document]) -> bytes:
    """A notebook with these cells, as it would be on the disk."""
    made = [_markdown(cell) if cell.language == "markdown" else _code(cell) for cell in cells]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(document, ensure_ascii=True).encode("ascii")


def _markdown(cell: Document) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": cell.text}


def _code(cell: Document) -> dict[str, Any]:
    # As editors write it for a cell in another language than that of the notebook.
    about = {} if cell.language == "python" else {"vscode": {"languageId": cell.language}}
    made: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}
    return made | {"metadata": about, "source": cell.text}
