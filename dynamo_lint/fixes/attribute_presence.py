"""Suggests a guarded question where code asks for an attribute that is added later."""

from __future__ import annotations

import ast

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion

_WHY = "it finds attributes of the class as well"


def ask_guarded(finding: Finding, bench: Workbench) -> Fix:
    """`getattr` or `hasattr` in place of a question that nothing guards; raises Unclear for any other."""
    file = bench.open(finding.span.path)
    for node in file.by_line.get(finding.span.line, ()):
        if file.span(node) == finding.span and isinstance(node, ast.expr):
            old, new = _guarded(file, node)
            return suggestion(f"ask with a guard: `{new}`", [file.replace(old, new)], _WHY)
    raise Unclear("it is no expression")


def _guarded(file: OpenFile, node: ast.expr) -> tuple[ast.expr | ast.stmt, str]:
    """An expression to replace, and by which text."""
    match node:
        case ast.Call(ast.Attribute(ast.expr() as space, "get"), [ast.Constant(str() as name), *rest]):
            if (owner := _owner(space)) and len(rest) < 2:
                default = file.one_line(rest[0]) if rest else "None"
                return node, f'getattr({file.text(owner)}, "{name}", {default})'
        case ast.Compare(ast.Constant(str() as name), [ast.In() | ast.NotIn() as op], [space]):
            if owner := _owner(space):
                asked = f'hasattr({file.text(owner)}, "{name}")'
                return node, asked if isinstance(op, ast.In) else f"not {asked}"
        case ast.Attribute(owner, name):
            statement = file.statement(node)
            match file.parents[statement]:
                case ast.Try([ast.Assign([ast.Name(local)], value)], [handler], [], []) as block if (
                    value is node
                ):
                    match handler:
                        case ast.ExceptHandler(
                            ast.Name("AttributeError"), None, [ast.Assign([ast.Name(other)], instead)]
                        ) if other == local and isinstance(instead, ast.Constant | ast.Name):
                            text = f'{local} = getattr({file.text(owner)}, "{name}", {file.text(instead)})'
                            return block, text
    raise Unclear("it asks in another way")


def _owner(space: ast.expr) -> ast.expr | None:
    """The object whose attributes an expression gives as a dict."""
    match space:
        case ast.Attribute(owner, "__dict__"):
            return owner
        case ast.Call(ast.Name("vars"), [owner], []):
            return owner
    return None
