"""What a condition is worth while Dynamo traces: which branches are eager-only."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

# torch.compiler's own, and what projects call their own way to ask it: `is_torchdynamo_compiling`.
_TRUE_WHEN_COMPILING = re.compile(r"_*is_(\w+_)?compiling")
# Dynamo folds these to False (torch/_dynamo/trace_rules.py, torch/compiler/__init__.py).
_FALSE_WHEN_COMPILING = frozenset({"is_scripting", "is_tracing", "is_in_onnx_export", "is_exporting"})
_TELLING = frozenset({ast.Call, ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BoolOp})
"""The tests that may say anything, so that most are told by one look."""


def truth_when_compiling(test: ast.expr, aliases: Mapping[str, bool]) -> bool | None:
    """The value of `test` while compiling, or None if it depends on anything else.

    `aliases` maps local names to the value of the test they were assigned.
    """
    if test.__class__ not in _TELLING:
        return None
    match test:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            if name.endswith("compiling") and _TRUE_WHEN_COMPILING.fullmatch(name):
                return True
            return False if name in _FALSE_WHEN_COMPILING else None
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.Name(id=name):
            return aliases.get(name)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth_when_compiling(operand, aliases)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            settling = isinstance(op, ast.Or)
            known = [truth_when_compiling(value, aliases) for value in values]
            if settling in known:
                return settling
            return None if None in known else not settling
    return None


def exits(body: list[ast.stmt]) -> bool:
    """Whether control never runs past the end of the block."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def last_line(body: Sequence[ast.stmt]) -> int:
    """The line that a block ends on."""
    return (body[-1].end_lineno or body[-1].lineno) if body else 0


def condition_of(tests: list[tuple[ast.expr, bool]], call: ast.Call) -> str | None:
    """Source of what decides whether a call compiles: the innermost `if` test and a `disable=` argument."""
    innermost = [test if holds else ast.UnaryOp(ast.Not(), test) for test, holds in tests[-1:]]
    switches = [
        f"disable={ast.unparse(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg == "disable" and not isinstance(keyword.value, ast.Constant)
    ]
    return ", ".join([*map(ast.unparse, innermost), *switches]) or None
