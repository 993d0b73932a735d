"""Edits on bytes: whatever no edit names stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_lint.findings import Edit, Span
from dynamo_lint.fixes.bytes import CannotEdit, apply, parses


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Span("a.py", line, column, end_line, end_column), text)


def test_columns_count_code_points_and_a_byte_order_mark_counts_as_nothing():
    raw = "\ufeffé = '𝄞'; n = 0\r\n".encode()
    assert apply(raw, [edit(1, 14, 1, 15, "7")]) == "\ufeffé = '𝄞'; n = 7\r\n".encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_new_line_ends_like_the_lines_around_it(end):
    raw = f"a = 1{end}b = 2{end}".encode()
    assert apply(raw, [edit(1, 6, 1, 6, "\nx = 0")]) == f"a = 1{end}x = 0{end}b = 2{end}".encode()


def test_a_file_without_a_final_newline_keeps_none():
    assert apply(b"a = 1\r\nb = 2", [edit(2, 5, 2, 6, "3\nc = 4")]) == b"a = 1\r\nb = 3\r\nc = 4"


def test_tabs_and_form_feeds_are_columns_like_any_other():
    assert apply(b"\x0cif x:\n\ty = 1\x0c\n", [edit(2, 6, 2, 7, "2")]) == b"\x0cif x:\n\ty = 2\x0c\n"


def test_line_separators_of_unicode_end_no_line():
    raw = "a = '\u2028'\x0b\nb = 1\n".encode()
    assert apply(raw, [edit(2, 5, 2, 6, "2")]) == "a = '\u2028'\x0b\nb = 2\n".encode()


def test_declared_encoding_is_kept():
    raw = "# -*- coding: latin-1 -*-\nname = 'é'; n = 0\n".encode("latin-1")
    assert apply(raw, [edit(2, 17, 2, 18, "'ü'")]) == raw[:-2] + "'ü'\n".encode("latin-1")


def test_text_that_the_encoding_cannot_say_is_refused():
    with pytest.raises(CannotEdit, match="cannot be written in iso-8859-1"):
        apply(b"# coding: latin-1\nn = 0\n", [edit(2, 5, 2, 6, "'名'")])


def test_an_encoding_with_shift_states_is_refused_rather_than_guessed():
    raw = "# coding: iso2022_jp\nname = '名前'\nn = 0\n".encode("iso2022_jp")
    with pytest.raises(CannotEdit):
        apply(raw, [edit(2, 9, 2, 10, "x")])


@pytest.mark.parametrize("bad", [(9, 1, 9, 1), (1, 9, 1, 9), (1, 3, 1, 2), (1, 0, 1, 1)])
def test_places_that_do_not_exist_are_refused(bad):
    with pytest.raises(CannotEdit):
        apply(b"abc\n", [edit(*bad, "x")])


def test_overlapping_edits_are_refused():
    with pytest.raises(CannotEdit, match="overlap"):
        apply(b"abcdef\n", [edit(1, 1, 1, 4, "x"), edit(1, 3, 1, 5, "y")])


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(CannotEdit, match="cannot be decoded"):
        apply(b"n = '\xff'\n", [])
    assert not parses(b"n = '\xff'\n")


LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=8), min_size=1, max_size=6
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.data())
def test_bytes_outside_an_edit_never_change(lines, end, marked, data):
    text = end.join(lines)
    raw = (b"\xef\xbb\xbf" if marked else b"") + text.encode()
    line = data.draw(st.integers(1, len(lines)))
    start = data.draw(st.integers(0, len(lines[line - 1])))
    stop = data.draw(st.integers(start, len(lines[line - 1])))
    try:
        done = apply(raw, [edit(line, start + 1, line, stop + 1, "<new>")])
    except CannotEdit:
        return  # what looks like a coding line can declare anything
    before = end.join([*lines[: line - 1], lines[line - 1][:start]]).encode()
    after = end.join([lines[line - 1][stop:], *lines[line:]]).encode()
    if not lines[0].startswith("\ufeff"):
        assert done == raw[:3] * marked + before + b"<new>" + after
