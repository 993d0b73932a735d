"""Code as text, however large the numbers in it are."""

from __future__ import annotations

import ast

_LEFT_OUT = "…"


def spelled(node: ast.AST) -> str:
    """A node as `ast.unparse` spells it; `…` if a number in it has more digits than Python writes out."""
    try:
        return ast.unparse(node)
    except ValueError:  # see `sys.set_int_max_str_digits`
        return _LEFT_OUT
