"""Searches of files for words: what a remark says is no code."""

from __future__ import annotations

import pytest

from dynamo_lint.searches import SEARCHES


@pytest.mark.parametrize(
    "text",
    [
        "x = y.half()",
        "# first\nx.half()  # last",
        '"""A text."""\nx = "half"',
        'def f():\n    """A text."""; half()',
        "x = ('a'\n     'half')",
        "if half: # )",
        "half = (  # unfinished",
        "x = 'a # half'",
        'é = """half""" + x  # more',
    ],
)
def test_a_word_of_the_code_is_found(text: str) -> None:
    assert SEARCHES["word in code"](b"half", text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # half",
        "# half\nx = 1",
        '"""The first half\nand the other half."""  # half\nx = 1',
        'def f():\n    """Keeps half."""\n    return 1',
        'class A:\n    é = 1  # half\n    """half"""\n',
        "x = halves",
    ],
)
def test_a_word_of_a_comment_or_a_docstring_is_not(text: str) -> None:
    assert not SEARCHES["word in code"](b"half", text.encode())
