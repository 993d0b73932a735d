"""The outline of a file: its statements without the bodies of functions, which do not run with them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dynamo_lint.index.walking import nodes

Lines = tuple[int, int]
"""The first and the last of some lines."""


def outline(tree: ast.Module) -> tuple[Lines, ...]:
    """Empty the functions in the body of a file and of its classes; the lines of what is left."""
    return tuple(_statements(tree.body))


def _statements(body: list[ast.stmt]) -> Iterator[Lines]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield _head(node, [*node.bases, *node.keywords])
                yield from _statements(node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _head(node, [node.args, *([node.returns] if node.returns else [])])
                node.body[:] = [ast.copy_location(ast.Pass(), node)]
            case _:
                yield node.lineno, node.end_lineno or node.lineno


def _head(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, parts: Iterable[ast.AST]) -> Lines:
    """The lines from the decorators to the last parameter; with what stands beside it."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    ends = [getattr(inner, "end_lineno", None) or 0 for part in parts for inner in nodes(part)]
    return first, max([node.lineno, *ends])
