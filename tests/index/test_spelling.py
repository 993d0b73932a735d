"""Code as text: numbers of any length."""

from __future__ import annotations

import ast

from dynamo_lint.index.spelling import spelled


def test_code_is_spelt_as_python_does() -> None:
    assert spelled(ast.parse("f(x)[ 1 ]", mode="eval")) == "f(x)[1]"


def test_a_number_of_more_digits_than_python_writes_out_is_left_out() -> None:
    assert spelled(ast.parse(f"f(0x{'f' * 6000})", mode="eval")) == "…"
