"""What arithmetic leaves of its operands: of numbers their kind, of lists what they hold."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dynamo_lint.index.facts import Choice, Constant, Display, Expr, Name, Typed


def of_operands(parts: Sequence[Expr], operators: Sequence[ast.operator], *, lists: bool) -> Expr | None:
    """The value of a chain of binary operators; None if it holds nothing that is followed.

    `[A()] + [B()]` and `[Block()] * n` still hold blocks, and so does `encoder + decoder` where `lists` says
    that a container of modules is made of it: else it is a sum of numbers, as a rule.
    """
    numbers = [p.value for p in parts if isinstance(p, Constant) and isinstance(p.value, int | float)]
    if len(numbers) == len(parts):
        # `1.0 / 8`: only its kind matters to anyone.
        real = any(isinstance(number, float) for number in numbers)
        real = real or any(isinstance(operator, ast.Div) for operator in operators)
        return Typed(Name("float" if real else "int"))
    if not lists and not any(isinstance(part, Display) for part in parts):
        return None
    return Choice(tuple(part for part in parts if lists or isinstance(part, Display)))
