"""What a client has open stands in for what is on the disk."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from dynamo_lint.index.notebooks import read
from dynamo_lint.server.documents import Document, Documents, encoded, notebook_bytes


def item(uri: str, text: str, language: str = "python") -> types.TextDocumentItem:
    return types.TextDocumentItem(uri, language, 1, text)


def cell(uri: str, kind: types.NotebookCellKind = types.NotebookCellKind.Code) -> types.NotebookCell:
    return types.NotebookCell(kind, uri)


def test_a_text_has_the_bytes_that_its_first_line_declares() -> None:
    assert encoded("# coding: latin-1\nx = 'é'\n").endswith(b"'\xe9'\n")
    assert encoded("x = 'é'\n") == "x = 'é'\n".encode()
    assert encoded("# coding: ascii\nx = 'é'\n").endswith("'é'\n".encode())


def test_cells_become_a_notebook_with_their_numbers() -> None:
    markdown = Document("b", 1, "# text", "markdown")
    shell = Document("c", 1, "ls", "shellscript")
    notebook = read(notebook_bytes([markdown, Document("a", 1, "x = '😋'\n"), shell, Document("d", 1, "y")]))
    assert [(one.number, one.source) for one in notebook.cells] == [(2, "x = '😋'\n"), (4, "y")]


def test_texts_without_a_file_and_in_other_languages_are_left_out() -> None:
    documents = Documents()
    documents.open(item("untitled:Untitled-1", "x"))
    documents.open(item("file:///p/readme.md", "x", "markdown"))
    documents.open(item("file:///p/a%20b.py", "x"))
    assert list(documents.overlay().files) == [Path("/p/a b.py")]
    documents.close("file:///p/a%20b.py")
    assert not documents.overlay().files


def test_cells_come_go_and_change() -> None:
    documents = Documents()
    notebook = types.NotebookDocument("file:///n.ipynb", "jupyter-notebook", 1, [cell("c:1"), cell("c:2")])
    documents.open_notebook(
        types.DidOpenNotebookDocumentParams(notebook, [item("c:1", "a"), item("c:2", "b")])
    )
    structure = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(0, 1, [cell("c:3"), cell("c:4", types.NotebookCellKind.Markup)]),
        [item("c:3", "d"), item("c:4", "text", "markdown")],
        [types.TextDocumentIdentifier("c:1")],
    )
    content = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, "c:2"), [types.TextDocumentContentChangeWholeDocument("e")]
    )
    documents.change_notebook(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, "file:///n.ipynb"),
            types.NotebookDocumentChangeEvent(
                cells=types.NotebookDocumentCellChanges(structure=structure, text_content=[content])
            ),
        )
    )
    (file,) = documents.overlay().files.values()
    assert [(one.text, one.language) for one in file.parts] == [
        ("d", "python"), ("text", "markdown"), ("e", "python"),
    ]  # fmt: skip
    assert documents.owner("c:3") == Path("/n.ipynb")
