"""Edits on notebooks: the source of a cell changes, and no other byte."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dynamo_lint.findings import Edit, Span
from dynamo_lint.fixes.bytes import CannotEdit
from dynamo_lint.fixes.cells import apply_to_cells, changed_cells
from tests.notebooks import COUNTER, notebook


def edit(text: str, line: int, column: int, end_line: int, end_column: int) -> Edit:
    return Edit(Span("a.ipynb", line, column, end_line, end_column), text)


def as_jupyter(text: str) -> str:
    return text


def with_tabs(text: str) -> str:
    return json.dumps(json.loads(text), indent="\t", ensure_ascii=False)


def on_one_line(text: str) -> str:
    return json.dumps(json.loads(text))


def in_ascii(text: str) -> str:
    return json.dumps(json.loads(text), indent=1)


def as_texts(text: str) -> str:
    document = json.loads(text)
    for cell in document["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(document, indent=4, sort_keys=True) + "\n\n"


def with_crlf(text: str) -> str:
    return "\ufeff" + text.replace("\n", "\r\n")


STYLES = (as_jupyter, with_tabs, on_one_line, in_ascii, as_texts, with_crlf)
TEXT = notebook("n = 0  # ü\nm = 1\nk = '\\n\"'", ("markdown", "# ü"), "%%time\nfor x in y:\n    n += 1")


@pytest.mark.parametrize("style", STYLES)
def test_a_notebook_without_edits_keeps_every_byte(style: Callable[[str], str]) -> None:
    for cells in (COUNTER, ("",), ("x = 1\n",), ()):
        stored = style(notebook(*cells)).encode()
        assert apply_to_cells(stored, []) == stored


@pytest.mark.parametrize("style", STYLES)
def test_an_edit_that_is_taken_back_leaves_every_byte_as_it_was(style: Callable[[str], str]) -> None:
    stored = style(TEXT).encode()
    changed = apply_to_cells(stored, [edit("22", 2, 5, 2, 6), edit("N", 6, 5, 6, 6)])
    assert [number for number, _, _ in changed_cells(stored, changed)] == [1, 3]
    assert apply_to_cells(changed, [edit("1", 2, 5, 2, 7), edit("n", 6, 5, 6, 6)]) == stored


@pytest.mark.parametrize("style", STYLES)
def test_only_the_source_of_the_changed_cell_is_another(style: Callable[[str], str]) -> None:
    stored = style(TEXT).encode()
    changed = apply_to_cells(stored, [edit("m = 2\nmore = 'ü'\n", 2, 1, 3, 1)])
    before, after = (json.loads(one.removeprefix(b"\xef\xbb\xbf")) for one in (stored, changed))
    assert "".join(after["cells"][0].pop("source")) == "n = 0  # ü\nm = 2\nmore = 'ü'\nk = '\\n\"'"
    del before["cells"][0]["source"]
    assert before == after
    assert changed.isascii() == stored.isascii()
    if style is not on_one_line and style is not as_texts:
        rows = stored.decode().splitlines()
        assert len([row for row in changed.decode().splitlines() if row not in rows]) == 2


def test_the_last_line_of_a_cell_goes_with_the_line_end_before_it() -> None:
    stored = notebook("a = 1\nb = 2", "c = 3").encode()
    assert [one[2] for one in changed_cells(stored, apply_to_cells(stored, [edit("", 2, 1, 3, 1)]))] == [
        "a = 1"
    ]
    assert [one[2] for one in changed_cells(stored, apply_to_cells(stored, [edit("", 3, 1, 4, 1)]))] == [""]
    added = apply_to_cells(stored, [edit("\nd = 4", 2, 6, 2, 6)])
    assert [one[2] for one in changed_cells(stored, added)] == ["a = 1\nb = 2\nd = 4"]
    assert json.loads(added)["cells"][0]["source"] == ["a = 1\n", "b = 2\n", "d = 4"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (edit("", 2, 1, 4, 2), "it would reach from one cell into another"),
        (edit("", 3, 1, 5, 1), "it would reach from one cell into another"),
        (edit("x", 3, 1, 99, 1), "it would reach from one cell into another"),
        (edit("import os\n", 4, 1, 4, 1), "it would change a line that is not Python"),
        (edit("x", 2, 99, 2, 99), "line 2 has no column 99"),
    ],
)
def test_an_edit_that_is_not_in_the_code_of_one_cell_is_refused(change: Edit, why: str) -> None:
    with pytest.raises(CannotEdit, match=why):
        apply_to_cells(TEXT.encode(), [change])


def test_a_notebook_without_code_takes_no_edit() -> None:
    with pytest.raises(CannotEdit, match="the notebook has no code"):
        apply_to_cells(notebook(("markdown", "x")).encode(), [edit("x", 1, 1, 1, 1)])


def test_an_empty_list_of_lines_becomes_text() -> None:
    stored = notebook("").encode()
    assert json.loads(apply_to_cells(stored, [edit("x = 1", 1, 1, 1, 1)]))["cells"][0]["source"] == "x = 1"


def test_text_that_is_no_unicode_stays_as_it_is() -> None:
    stored = notebook("a = 1\nb = 'x'").replace("'x'", "'\\ud800'").encode()
    with pytest.raises(CannotEdit, match="its text is no Unicode"):
        apply_to_cells(stored, [edit("2", 1, 5, 1, 6)])
