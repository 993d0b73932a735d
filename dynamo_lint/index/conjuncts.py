"""The single tests that a condition comes down to: what each says where the whole holds, or does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def conjuncts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Each test of a whole one, and whether it holds, where that tells: as `a and not b` does if it holds."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            yield from conjuncts(inner, not holds)
        case ast.BoolOp(operator, parts) if isinstance(operator, ast.And) is holds:
            for part in parts:
                yield from conjuncts(part, holds)
        case _:
            yield test, holds
