"""A single expression in the index's language, away from its scope: what it names, and nothing is noted."""

from __future__ import annotations

import ast

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import MOST_LINKS
from dynamo_lint.index.facts import Expr


def as_fact(node: ast.expr, links: int = MOST_LINKS) -> Expr:
    """An expression in the index's language, as far as it names an object that not too many links lead to."""
    if not links:
        return facts.UNKNOWN
    match node:
        case ast.Name(id=name):
            return facts.Name(name)
        case ast.Attribute(value=value, attr=attr):
            return facts.Attribute(as_fact(value, links - 1), attr)
        case ast.Call(func=func, args=args):
            return facts.Call(as_fact(func, links - 1), tuple(as_fact(a) for a in args), line=node.lineno)
        case ast.Subscript(value=value, slice=index):
            return facts.Subscript(as_fact(value, links - 1), as_fact(index))
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return facts.Constant(value)
        case _:
            return facts.UNKNOWN
