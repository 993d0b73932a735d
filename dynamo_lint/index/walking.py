"""The parts of an expression in the index's language: what is evaluated with it, annotations left out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Expr

_LEAVES = frozenset({int, str, type(None)})
"""What most fields of nodes hold that are no nodes: places and names."""


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and everything in it, outermost first."""
    pending = [expr]
    while pending:
        part = pending.pop()
        yield part
        pending += reversed(parts(part))


def nodes(root: ast.AST) -> Iterator[ast.AST]:
    """A node of a syntax tree and all below it, as `ast.walk` gives them in three times as long."""
    found = [root]
    for node in found:
        yield node
        found += children(node)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes of a syntax tree right below one."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        kind = value.__class__
        if kind is list:
            found += [part for part in value if isinstance(part, ast.AST)]
        elif kind not in _LEAVES and isinstance(value, ast.AST):
            found.append(value)
    return found


def arguments_of(call: ir.Call) -> tuple[Expr, ...]:
    """The arguments of a call, by position and by keyword."""
    return parts(call)[1:]


def itself(value: Expr, methods: Collection[str]) -> Expr:
    """`Model()` of `Model().to(device).eval()`, where these methods give back their own object."""
    while isinstance(value, ir.Call) and isinstance(value.function, ir.Attribute):
        if value.function.name not in methods:
            break
        value = value.function.value
    return value


def untested(value: Expr) -> Expr:
    """An expression without what tests around it say of its value."""
    while isinstance(value, ir.Narrowed):
        value = value.value
    return value


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions right inside one."""
    match expr:
        case ir.Attribute(inner) | ir.Element(inner) | ir.Narrowed(inner):
            return (inner,)
        case ir.Call(function, arguments, keywords):
            return (function, *arguments, *(given for _, given in keywords))
        case ir.Subscript(inner, index):
            return (inner, index)
        case ir.Display(_, items, over=over):
            return (*items, *over)
        case ir.Choice(options):
            return options
    return ()
