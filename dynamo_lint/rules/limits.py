"""The values that code gives the limits of recompiles: numbers, and sums with what a limit was before.

It takes over the reading of values from `raised_limit`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from dynamo_lint.index.ir import Call, Constant, Expr, Name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.provenance import Tables

DEFAULTS = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
"""The limits, and their values in torch/_dynamo/config.py."""
OLDER = {
    "cache_size_limit": "recompile_limit",
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
}


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // (other or 1),
    ast.LShift: lambda one, other: one << min(max(other, 0), 64),
    ast.Pow: lambda one, other: one ** min(max(other, 0), 64),
}
_RAISING = (ast.Add, ast.Mult, ast.LShift, ast.Pow)


def number_of(project: Project, value: Expr, where: FunctionRef) -> int | None:
    """The number that a value is, or is at least: `max(config.recompile_limit, 64)`."""
    if isinstance(value, Call) and value.function == Name("max"):
        found = [number_of(project, one, where) for one in value.arguments]
        return max((one for one in found if one is not None), default=None)
    known = constant(project, value, where)
    if isinstance(known, Constant) and isinstance(known.value, int) and not isinstance(known.value, bool):
        return known.value
    return None


def statement_of(
    tables: Tables, where: FunctionRef, line: int, name: str
) -> ast.Assign | ast.AugAssign | None:
    """The assignment to a setting on a line."""
    for node in (inner for one in tables.bodies.of(where) or () for inner in ast.walk(one)):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno == line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Attribute) and one.attr == name for one in targets):
                return node
    return None


def _value_of(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    """The value that an assignment leaves: `limit + 8` for `limit += 8`."""
    if isinstance(statement, ast.Assign):
        return statement.value
    return ast.BinOp(statement.target, statement.op, statement.value)


def computed(tables: Tables, where: FunctionRef, statement: ast.Assign | ast.AugAssign) -> int | None:
    """The number that an assignment gives or may give, where a limit that it reads is that of torch."""
    return _computed(tables, where, _value_of(statement))


def _computed(tables: Tables, where: FunctionRef, node: ast.expr) -> int | None:
    """The number that an expression gives or may give, where a limit that it reads is that of torch."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return number_of(tables.project, Name(name), where)
        case ast.Attribute(attr=name):
            return DEFAULTS.get(OLDER.get(name, name))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            numbers = [_computed(tables, where, one) for one in (left, right)]
            known = [one for one in numbers if one is not None]
            return _OPERATORS[type(op)](*known) if len(known) == len(numbers) else None
        case ast.IfExp(body=body, orelse=orelse):
            return max(filter(None, (_computed(tables, where, one) for one in (body, orelse))), default=None)
        case ast.Call(func=ast.Name(id="max"), args=args):
            return max(filter(None, (_computed(tables, where, one) for one in args)), default=None)
    return None


def added_by(statement: ast.Assign | ast.AugAssign | None) -> str:
    """The text of a number that only a run knows, and that is added to a limit; empty for none."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, _RAISING):
        return ast.unparse(statement.value)
    return ""
