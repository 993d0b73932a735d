"""Statements that assign several things at once, as the single assignments that mean the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Edit
from dynamo_lint.fixes.edit_session import OpenFile, Unclear


@dataclass(frozen=True, slots=True)
class Part:
    """`target = value`."""

    target: ast.expr
    value: ast.expr


def parts(statement: ast.stmt) -> tuple[Part, ...]:
    """The assignments of one statement in the order of their targets; none where it is something else.

    `a, b = 1, 2` and `a = b = 1` are two each; raises Unclear where a later value needs an earlier target.
    """
    match statement:
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return (Part(target, value),)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = tuple(Part(*pair) for pair in zip(targets, values, strict=False))
            whole = len(targets) == len(values) and not any(isinstance(v, ast.Starred) for v in values)
            return pairs if whole and all(_is_plain(part.target) for part in pairs) else ()
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return ()
        case ast.Assign(targets=[*targets], value=value):
            shared = len(targets) == 1 or isinstance(value, ast.Constant)
            return tuple(Part(target, value) for target in targets) if shared else ()
    return ()


def set_by_name(node: ast.AST) -> tuple[ast.expr, str, ast.expr] | None:
    """The object, name and value of `setattr(x, "n", v)` or `object.__setattr__(x, "n", v)`; or None."""
    match node:
        case ast.Call(
            func=ast.Name(id="setattr") | ast.Attribute(value=ast.Name(id="object"), attr="__setattr__"),
            args=[owner, ast.Constant(value=str() as name), value],
            keywords=[],
        ):
            return owner, name, value
    return None


def apart(file: OpenFile, statement: ast.stmt, texts: Mapping[ast.expr, str], reads: Iterable[Edit]) -> Edit:
    """The statement with other text for some of its targets' assignments, and for some reads in the rest."""
    single = parts(statement)
    text = file.text(statement)
    commented = "\n" in text and "#" in text
    if len(single) > 1 and (commented or not (file.alone(statement) and _in_order(single))):
        raise Unclear(f"line {statement.lineno} sets it together with something else")
    edits = tuple(reads)
    lines = [
        texts.get(part.target) or f"{file.text(part.target)} = {patched(file, part.value, edits)}"
        for part in single
    ]
    return file.replace(statement, f"\n{file.indent(statement)}".join(lines))


def patched(file: OpenFile, node: ast.expr, edits: Iterable[Edit]) -> str:
    """A node's source in one line, with those edits made that lie in it."""
    span = file.span(node)
    inside = [
        edit
        for edit in edits
        if (span.line, span.column) <= (edit.span.line, edit.span.column)
        and (edit.span.end_line, edit.span.end_column) <= (span.end_line, span.end_column)
    ]
    if not inside:
        return file.one_line(node)
    if span.line != span.end_line:
        raise Unclear(f"line {span.line} is too long to be rewritten")
    line = file.lines[span.line - 1][: span.end_column - 1]
    for edit in sorted(inside, key=lambda edit: edit.span.column, reverse=True):
        line = line[: edit.span.column - 1] + edit.replacement + line[edit.span.end_column - 1 :]
    return line[span.column - 1 :]


def _is_plain(target: ast.expr) -> bool:
    """A name, or an attribute of a chain of names: that it is set runs hardly anything."""
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name)


def _in_order(single: tuple[Part, ...]) -> bool:
    """Whether no value says what an earlier target sets, nor runs code that may ask for it."""
    for number, part in enumerate(single):
        for node in ast.walk(part.value):
            if number and isinstance(node, ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
                return False
            if isinstance(node, ast.expr):
                text = ast.unparse(node)
                if any(text == ast.unparse(earlier.target) for earlier in single[:number]):
                    return False
    return True
