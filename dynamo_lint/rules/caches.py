"""Caches that compiled code bypasses: `lru_cache` and its kin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynamo_lint.index.ir import Call
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.refs import FunctionRef, Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import Claim, region
from dynamo_lint.state.provenance import Tables

COMPILING = re.compile(r"\bis_\w*(compiling|scripting|tracing|exporting)\b|\bcompiling\b")
"""A test that tells eager code from code that is compiled, scripted or exported."""
MEMOS = frozenset({"lru_cache", "cache"})


def bypassed(tables: Tables) -> Iterator[tuple[CompiledFunction, Position, Claim]]:
    """Hot functions with a memo, at their definition.

    Dynamo inlines `__wrapped__` and warns (`WrapperUserFunctionVariable` in torch/_dynamo/variables).
    """
    for hot in tables.regions.hot:
        function = tables.project.function(hot.function)
        marks = (d.function if isinstance(d, Call) else d for d in function.decorators)
        memo = next((name for mark in marks if (name := terminal_name(mark)) in MEMOS), None)
        if memo is None:
            continue
        name, where = function.qualname.rpartition(".")[2], region(tables, hot)
        claim = Claim(
            message=f"the `{memo}` of `{name}` is bypassed in the compiled `{where}`: Dynamo traces the "
            "function itself and neither reads nor fills the cache",
            cost="every compiled call computes its result again, and the cache stays as eager code left it",
            effect="stale",
            severity="note",
            subject=f"{function.qualname}.{memo}",
            advice=f"call `{name}` outside the compiled code and pass its result in",
            step=f"bypasses the cache of `{name}`",
        )
        yield hot, Position(function.line, 1, function.line, 1), claim


def eager_business(tables: Tables, ref: FunctionRef, attribute: str) -> bool:
    """The function reads it too, and always where compiled code never runs: a cache of eager code."""
    nodes = [node for statement in tables.bodies.of(ref) or [] for node in ast.walk(statement)]
    passed_over = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If | ast.BoolOp)
        and COMPILING.search(ast.unparse(node.test if isinstance(node, ast.If) else node))
        for inner in ast.walk(node)
    }
    reads = [
        node
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
    ]
    return bool(reads) and all(id(read) in passed_over for read in reads)
