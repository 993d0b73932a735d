"""The text of a function around the regions as a syntax tree, walked once for all of its calls."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Function
from dynamo_lint.index.walking import nodes

Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One function, or the top level of a file."""

    tree: ast.AST
    shift: int
    """How many lines of the file come before it."""
    nodes: tuple[ast.AST, ...]
    """All of the tree, outer before inner."""
    calls: dict[int, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    """By the line of the tree that they begin on."""
    loops: dict[ast.AST, list[Loop]] = field(default_factory=lambda: defaultdict(list))
    """The loops that hold a call, outer before inner."""
    bound: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    """The expressions assigned to a name, anywhere in the function."""
    growing: list[tuple[str, ast.expr]] = field(default_factory=list)
    """The expressions added to a name by `+=`."""
    outer: set[str] = field(default_factory=set)
    """Names that belong to the code around."""

    def call(self, wanted: ir.Call) -> ast.Call | None:
        """The node of a call, at columns that are true for the file."""
        line = wanted.line - self.shift
        return next((node for node in self.calls.get(line, ()) if _same(node, wanted)), None)


def body_of(function: Function, source: str) -> Body | None:
    """The function in the text of its file; None if that cannot be parsed."""
    if function.key == MODULE_KEY:
        return _body(source, 0, 0)
    return _body(source, function.first_line, function.end_line)


@lru_cache(maxsize=64)
def _body(source: str, first: int, last: int) -> Body | None:
    """Kept, because the calls of one function are asked for one after the other."""
    text, shift = source, 0
    if last:
        text, shift = "\n".join(_lines(source)[first - 1 : last]), first - 1
        if text[:1] in {" ", "\t"}:
            text, shift = f"if 1:\n{text}", shift - 1
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    body = Body(tree, shift, tuple(nodes(tree)))
    for node in body.nodes:
        match node:
            case ast.Call():
                body.calls[node.lineno].append(node)
            case ast.For() | ast.While():
                for inner in nodes(node):
                    if isinstance(inner, ast.Call):
                        body.loops[inner].append(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                body.bound[name].append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                body.growing.append((name, value))
            case ast.Nonlocal(names=names) | ast.Global(names=names):
                body.outer.update(names)
    return body


@lru_cache(maxsize=4)
def _lines(source: str) -> list[str]:
    return source.splitlines()


def _same(node: ast.Call, call: ir.Call) -> bool:
    """The call of the tree is the one of the index: it passes as much, to a callee of the same name."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
    known = getattr(call.function, "id", getattr(call.function, "name", None))
    return (
        name == known
        and len(node.args) == len(call.arguments)
        and [keyword.arg for keyword in node.keywords] == [keyword for keyword, _ in call.keywords]
    )
