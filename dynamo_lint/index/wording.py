"""Texts of which only the run knows a part, where the rest names modules: `f"models.{name}"`."""

from __future__ import annotations

import ast
import re

_HERE = ("__name__", "__package__")
_MODULES = re.compile(r"([A-Za-z_]\w*|\.*)\.[\w.]*\{\}[\w.{}]*")


def modules_named(node: ast.expr) -> str | None:
    """Which modules a text may name, with `{}` for what only the run knows; None if it is no such text."""
    match node:
        case ast.JoinedStr(values=values):
            text = "".join(map(_piece, values))
        case ast.BinOp(
            left=ast.Constant(value=str() as left), op=ast.Add(), right=ast.Name() | ast.Attribute()
        ):
            text = f"{left}{{}}"
        case ast.BinOp(
            left=ast.Constant(value=str() as left), op=ast.Mod(), right=ast.Name() | ast.Attribute()
        ):
            text = left.replace("%s", "{}")
        case _:
            return None
    return text if _MODULES.fullmatch(text) else None


def _piece(part: ast.expr) -> str:
    match part:
        case ast.Constant(value=str() as text):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)) if name in _HERE:
            return ""  # what follows is relative to it: `f"{__package__}.{name}"`
    return "{}"
