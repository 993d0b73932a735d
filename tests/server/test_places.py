"""Where findings are for a client: in files, in cells, and in notebooks that it does not show."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from dynamo_lint.findings import Span
from dynamo_lint.server.documents import Document, OpenFile
from dynamo_lint.server.places import Places
from dynamo_lint.sources import Sources
from tests.notebooks import notebook

CELLS = (("markdown", "# text"), "x = 1\ny = '😋'; z = 2", "w = 3")


def test_a_line_of_an_open_notebook_is_in_its_cell(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text(notebook(*CELLS), encoding="utf-8")
    parts = tuple(Document(f"cell:{number}", 1, "") for number in range(3))
    places = Places(
        tmp_path, Sources(tmp_path), {tmp_path / "n.ipynb": OpenFile("file:///n", parts)}, "utf-16"
    )
    location = places.location(Span("n.ipynb", 2, 10, 2, 11))
    assert location == types.Location("cell:1", types.Range(types.Position(1, 10), types.Position(1, 11)))
    assert places.position("n.ipynb", "cell:1", types.Position(1, 10)) == (2, 10)
    assert places.location(Span("n.ipynb", 3, 1, 3, 2)).uri == "cell:2"
    assert places.position("n.ipynb", "cell:2", types.Position(0, 0)) == (3, 1)
    assert places.position("n.ipynb", "cell:0", types.Position(0, 0)) is None


def test_a_line_of_a_notebook_that_is_not_open_is_one_of_its_json(tmp_path: Path) -> None:
    text = notebook(*CELLS)
    (tmp_path / "n.ipynb").write_text(text, encoding="utf-8")
    location = Places(tmp_path, Sources(tmp_path), {}, "utf-16").location(Span("n.ipynb", 3, 1, 3, 2))
    assert location.uri == (tmp_path / "n.ipynb").as_uri()
    assert "w = 3" in text.split("\n")[location.range.start.line]
