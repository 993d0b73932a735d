"""Texts with holes: f-strings and concatenations of names."""

from __future__ import annotations

import ast
import re

_HERE = ("__name__", "__package__")
_MODULES = re.compile(r"([A-Za-z_]\w*|\.*)\.[\w.]*\{\}[\w.{}]*")
_PATHS = re.compile(r"[~.]?/[^\s{}]*\{\}[^\s]*")
_ATTRIBUTES = re.compile(r"[A-Za-z_]\w*(\{\}\w*)+|\{\}_\w+")


def open_name(node: ast.expr) -> str | None:
    """A name of a module or attribute, or a path, with `{}` for what only the run knows; None for others."""
    match node:
        case ast.JoinedStr(values=values):
            text = "".join(map(_piece, values))
        case ast.BinOp(left=ast.Constant(value=str() as left), op=ast.Add(), right=right) if _is_open(right):
            text = f"{left}{{}}"
        case ast.BinOp(left=ast.BinOp() as left, op=ast.Add(), right=ast.Constant(value=str() as right)):
            text = f"{open_name(left) or ''}{right}"  # `"models." + name + "_model"`
        case ast.BinOp(
            left=ast.Constant(value=str() as left), op=ast.Mod(), right=ast.Name() | ast.Attribute()
        ):
            text = left.replace("%s", "{}")
        case _:
            return None
    return text if any(one.fullmatch(text) for one in (_MODULES, _ATTRIBUTES, _PATHS)) else None


def _is_open(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return True
    return isinstance(node, ast.Name | ast.Attribute)


def _piece(part: ast.expr) -> str:
    match part:
        case ast.Constant(value=str() as text):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)) if name in _HERE:
            return ""  # what follows is relative to it: `f"{__package__}.{name}"`
    return "{}"
