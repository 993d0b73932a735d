"""Positions count code units of a line, as the client and the server have agreed."""

from __future__ import annotations

import pytest
from lsprotocol import types

from dynamo_lint.server.positions import changed, column_at, text_offset, unit_offset

LINE = "\t'é😋' + x"


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 9), ("utf-16", 6), ("utf-32", 5)])
def test_a_column_behind_letters_of_several_units_is_counted_in_units(encoding: str, units: int) -> None:
    assert unit_offset(LINE, 6, encoding) == units
    assert column_at(LINE, units, encoding) == 6


def test_units_beyond_a_line_are_its_end() -> None:
    assert column_at(LINE, 99, "utf-16") == len(LINE) + 1
    assert column_at("abc", 99, "utf-16") == 4


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_end_where_those_of_python_do(newline: str) -> None:
    text = newline.join(["a\x0cb\u2028c", "x = 1", ""])
    assert text[text_offset(text, types.Position(1, 4), "utf-16")] == "1"
    assert text_offset(text, types.Position(0, 99), "utf-16") == 5
    assert text_offset(text, types.Position(9, 0), "utf-16") == len(text)


def test_a_change_replaces_a_range_or_everything() -> None:
    where = types.Range(types.Position(0, 2), types.Position(1, 1))
    assert changed("😋a\nbc", types.TextDocumentContentChangePartial(where, "-"), "utf-16") == "😋-c"
    assert changed("abc", types.TextDocumentContentChangeWholeDocument("x"), "utf-16") == "x"
