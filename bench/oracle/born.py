"""Which attributes an object has from birth: whoever makes it decides what they hold, for good."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path


def from_birth(owner: str, attribute: str, root: Path) -> bool:
    """Whether only constructors store an attribute, in the file of the class that holds it.

    `owner` is dotted, from the package whose folder is `root`.
    """
    _, *parts = owner.split(".")
    for length in range(len(parts) - 1, 0, -1):
        path = root.joinpath(*parts[:length]).with_suffix(".py")
        if path.is_file():
            return _storing(path).get(attribute) == frozenset({"__init__"})
    return False


@lru_cache
def _storing(path: Path) -> dict[str, frozenset[str]]:
    """By attribute, the names of the functions that store it."""
    found: dict[str, frozenset[str]] = {}
    for name, attribute in _stores(ast.parse(path.read_text()), ""):
        found[attribute] = found.get(attribute, frozenset()) | {name}
    return found


def _stores(tree: ast.AST, function: str) -> Iterator[tuple[str, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield function, node.attr
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _stores(node, inner)
