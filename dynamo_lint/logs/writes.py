"""Finds the assignments that change what Dynamo checks, by reading: for what no finding speaks of.

A name is all that a log tells of an attribute, so these are candidates, ordered by how near they are to the
frame; a finding, which knows the object, always comes first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

GROWTH = frozenset(
    ("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove")
)
"""Methods that change a container in place."""


@dataclass(frozen=True, slots=True)
class Write:
    """A statement that gives an attribute or a global another value."""

    line: int
    function: str
    """Bare name of the function around it; empty at the top of a module."""
    grows: bool = False
    """It changes a container in place."""
    outside: bool = False
    """It writes to another object than `self`."""


def writes(text: str, name: str) -> Iterator[Write]:
    """The places in a file that write to an attribute or global of that name, in order."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    found: list[Write] = []
    while stack:
        node, function = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if (write := _write(node, name, function)) is not None:
            found.append(write)
        stack.extend((child, function) for child in ast.iter_child_nodes(node))
    yield from sorted(found, key=lambda one: one.line)


def static_compiles(text: str) -> Iterator[int]:
    """The lines of a file that compile with `dynamic=False`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(
            one.arg == "dynamic" and isinstance(one.value, ast.Constant) and one.value.value is False
            for one in node.keywords
        ):
            yield node.lineno


def _write(node: ast.AST, name: str, function: str) -> Write | None:
    """The write that a statement or call makes to the name, if it does."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets = node.targets
        case ast.AugAssign() | ast.AnnAssign() | ast.For() | ast.NamedExpr():
            targets = [node.target]
        case ast.Call(ast.Name("setattr"), [_, ast.Constant(value), *_]) if value == name:
            return Write(node.lineno, function, outside=True)
        case ast.Call(ast.Attribute(held, method)) if method in GROWTH and _called(held) == name:
            return Write(node.lineno, function, grows=True)
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            inner = one.value if isinstance(one, ast.Subscript) else one
            if _called(inner) == name and (
                isinstance(inner, ast.Attribute) or not _is_local(inner, function)
            ):
                outside = isinstance(inner, ast.Attribute) and not _is_self(inner.value)
                return Write(one.lineno, function, isinstance(one, ast.Subscript), outside)
    return None


def _called(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_local(node: ast.expr, function: str) -> bool:
    """Whether a bare name inside a function is taken for a local one: only `global` would make it none."""
    return isinstance(node, ast.Name) and bool(function) and not node.id.isupper()
