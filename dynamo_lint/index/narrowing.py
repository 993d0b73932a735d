"""What a test says about the types of names: `isinstance(x, A)`, alone or in `and`, `or` and `not`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from dynamo_lint.index.facts import UNKNOWN, Choice, Expr, Name, Narrowed

TELLING = frozenset({ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp})
"""The tests that may say anything."""


def narrowings(
    test: ast.expr, read_type: Callable[[ast.expr], Expr | None], holds: bool = True
) -> Iterator[Narrowed]:
    """The names whose type is known where `test` is true, or where it is not if `holds` is false.

    `read_type` translates the types themselves.
    """
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), types]):
            yield Narrowed(Name(name), read_type(types) or UNKNOWN, holds)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]),
            ops=[ast.Is() | ast.Eq()],
            comparators=[types],
        ) if holds:
            yield Narrowed(Name(name), read_type(types) or UNKNOWN)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from narrowings(inner, read_type, not holds)
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is holds:
            # All of them are true, or all of them false.
            for value in values:
                yield from narrowings(value, read_type, holds)
        case ast.BoolOp(op=ast.Or(), values=values):
            found = [fact for value in values for fact in narrowings(value, read_type)]
            same = len({fact.value for fact in found}) == 1 and all(fact.holds for fact in found)
            if same and len(found) == len(values):
                yield Narrowed(found[0].value, Choice(tuple(fact.types for fact in found)))
