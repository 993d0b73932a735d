"""The functions of a source file, by the lines that they span: which of them a frame is known to have run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Body(NamedTuple):
    """A function of a file, from its first line to its last."""

    first: int
    last: int
    parameters: frozenset[str]

    def holds(self, line: int) -> bool:
        """Whether a line is one of its lines."""
        return self.first <= line <= self.last


@lru_cache(maxsize=64)
def bodies(text: str) -> tuple[Body, ...]:
    """The functions of a file, the outer ones first; none where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = [
        Body(node.lineno, node.end_lineno or node.lineno, _parameters(node.args))
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return tuple(sorted(found, key=lambda one: (one.first, -one.last)))


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return frozenset(one.arg for one in (*every, arguments.vararg, arguments.kwarg) if one is not None)


def around(text: str, lines: Iterable[int]) -> list[Body]:
    """The innermost function around each of some lines."""
    every = bodies(text)
    innermost = (max((one for one in every if one.holds(line)), default=None) for line in lines)
    return [*dict.fromkeys(one for one in innermost if one is not None)]
