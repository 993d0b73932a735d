"""Expressions of which a function asks nothing but whether they are true."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from dynamo_lint.index.walking import nodes


def only_tested(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """The expressions that decide a test themselves, or by the name that they are assigned to."""
    below = [node for statement in body for node in nodes(statement)]
    tested = [one for node in below for one in _tested(node)]
    yield from tested
    asked = {id(one) for one in tested}
    loads: dict[str, list[ast.Name]] = defaultdict(list)
    for node in below:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            loads[node.id].append(node)
    for node in below:
        match node:
            case ast.Assign([ast.Name(name)], value) if all(id(one) in asked for one in loads[name]):
                yield value


def _tested(node: ast.AST) -> Iterator[ast.expr]:
    """The operands whose truth alone a node asks for."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from _operands(test)
        case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.Call(func=ast.Name("bool"), args=[inner]):
            yield from _operands(inner)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _operands(value)
        case _:
            yield test
