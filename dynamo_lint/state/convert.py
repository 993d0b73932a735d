"""libcst expressions in the index's small language, for regions to evaluate."""

from __future__ import annotations

import ast
from functools import lru_cache

import libcst as cst

from dynamo_lint.index.ir import UNKNOWN, Attribute, Call, Constant, Element, Expr, Name, Subscript
from dynamo_lint.index.lower import LARGEST, MOST_LINKS


def to_expr(node: cst.BaseExpression, links: int = MOST_LINKS) -> Expr:
    """Names, attribute chains, calls, subscripts and literals; anything else, or deeper, is unknown."""
    if not links:
        return UNKNOWN
    match node:
        case cst.Name(value="True" | "False" | "None"):
            return Constant({"True": True, "False": False, "None": None}[node.value])
        case cst.Name(value=name):
            return Name(name)
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            return Attribute(to_expr(value, links - 1), name)
        case cst.Call():
            return to_call(node, links)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return Subscript(to_expr(value, links - 1), to_expr(index))
        case cst.SimpleString() | cst.Integer() | cst.Float():
            literal = literal_of(node)
            return Constant(literal) if isinstance(literal, str | int | float) else UNKNOWN
        case _:
            return UNKNOWN


def to_call(node: cst.Call, links: int = MOST_LINKS) -> Call:
    """A call; what is passed by `**` is left out."""
    named = [a for a in node.args if a.star != "**"]
    return Call(
        to_expr(node.func, links - 1),
        tuple(Element(to_expr(a.value)) if a.star else to_expr(a.value) for a in named if a.keyword is None),
        tuple((a.keyword.value, to_expr(a.value)) for a in named if a.keyword is not None),
    )


@lru_cache(maxsize=2048)
def _evaluated(text: str) -> object:
    # Compiling takes long, and the same few literals come again and again.
    value = ast.literal_eval(text)
    return ... if isinstance(value, int) and value >= LARGEST else value


def literal_of(node: cst.BaseExpression) -> object:
    """The Python value of a literal; `...` for anything that is not one."""
    match node:
        case cst.Name(value="True" | "False" | "None"):
            return {"True": True, "False": False, "None": None}[node.value]
        case cst.SimpleString(value=text) | cst.Integer(value=text) | cst.Float(value=text):
            return _evaluated(text)
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            value = literal_of(inner)
            return -value if isinstance(value, int | float) else ...
        case cst.ConcatenatedString(left=left, right=right):
            first, second = literal_of(left), literal_of(right)
            return first + second if isinstance(first, str) and isinstance(second, str) else ...
        case _:
            return ...
