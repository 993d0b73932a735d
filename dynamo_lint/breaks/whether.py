"""What a test in compiled code is worth, where the code itself says."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection
from typing import Any

from dynamo_lint.breaks.values import MISSING, Values
from dynamo_lint.index.compiling import truth_when_compiling

Truth = frozenset[bool] | None
"""Whether a test holds; both, if it does at times; None where that is not known."""
_BOTH: Truth = frozenset({True, False})
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def truth(test: ast.expr, values: Values, counters: Collection[str]) -> Truth:
    """What a test comes to while a model is trained and evaluated; `counters` count the rounds of loops."""
    known = truth_when_compiling(test, {})
    if known is not None:
        return frozenset({known})
    match test:
        case ast.Attribute(ast.Name(name), "training") if name == values.own:
            return _BOTH
        case ast.UnaryOp(ast.Not(), operand):
            inner = truth(operand, values, counters)
            return inner and frozenset(not one for one in inner)
        case ast.BoolOp(op, parts):
            return _joined([truth(part, values, counters) for part in parts], isinstance(op, ast.Or))
        case ast.Compare(ast.Name(name), [_], [ast.Constant()]) if name in counters:
            return _BOTH
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            pair = values.constant(left), values.constant(right)
            if MISSING in pair:
                return None
            try:
                return frozenset({bool(_OPERATORS[type(op)](*pair))})
            except TypeError:
                return None
        case ast.Attribute():
            value = values.constant(test)
            return None if value is MISSING else frozenset({bool(value)})
    return None


def _joined(parts: list[Truth], settling: bool) -> Truth:
    """`a or b` (settled by what holds) and `a and b`."""
    if frozenset({settling}) in parts:
        return frozenset({settling})
    if None in parts:
        return None
    some = any(settling in part for part in parts if part is not None)
    return frozenset({settling, not settling}) if some else frozenset({not settling})
