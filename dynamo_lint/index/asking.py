"""What one test around a call says of the names in it: which are not None there, whose type it asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.index.conjuncts import conjuncts


class Asked(NamedTuple):
    """What a test says of names where it holds, or where it does not."""

    filled: tuple[str, ...]
    """Names that it shows not to be None."""
    on: tuple[str, ...]
    """These, and those that it tests for themselves."""
    empty: tuple[str, ...]
    """Names that it shows to be None."""
    judged: tuple[str, ...]
    """Names whose type it asks for, whatever the answer."""
    in_doubt: bool
    """It needs an attribute on that an object may not even have: `getattr(self, "fused", False)`."""


def asked(test: ast.expr, holds: bool) -> Asked:
    """What a test says where it holds, or where it does not."""
    filled: list[str] = []
    on: list[str] = []
    empty: list[str] = []
    in_doubt = False
    for one, held in conjuncts(test, holds):
        match one:
            case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as operator], [ast.Constant(None)]):
                if held is isinstance(operator, ast.Is):
                    empty.append(name)
                else:
                    filled.append(name)
                    on.append(name)
            case ast.Name(name) if held:
                on.append(name)
            case ast.Call(ast.Name("getattr"), [_, _, ast.Constant(literal)]) if held and not literal:
                in_doubt = True
    return Asked(tuple(filled), tuple(on), tuple(empty), tuple(_judged(test)), in_doubt)


def _judged(test: ast.expr) -> Iterator[str]:
    """The names whose type a test asks for: `isinstance(x, list)`."""
    match test:
        case ast.Call(ast.Name("isinstance"), [ast.Name(name), _]):
            yield name
        case ast.UnaryOp(ast.Not(), inner):
            yield from _judged(inner)
        case ast.BoolOp(_, parts):
            for part in parts:
                yield from _judged(part)
