"""The functions of a source file with their lines, so that a line of a log is of one of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from dynamo_lint import files


@cache
def functions(path: Path) -> tuple[tuple[str, int, int], ...]:
    """The functions of a file by qualified name, with first and last line; none if it cannot be read."""
    try:
        tree = ast.parse(files.read(path).decode("utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    found = []
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        outer, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{outer}.{child.name}" if outer else child.name
                pending.append((name, child))
                if not isinstance(child, ast.ClassDef):
                    found.append((name, child.lineno, child.end_lineno or child.lineno))
            else:
                pending.append((outer, child))
    return tuple(found)
