"""A compiled callable that nobody keeps is assigned to the name of what it was made from."""

from __future__ import annotations

import ast

from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, fix_of


def fix(finding: Finding, bench: Workbench) -> Fix:
    """`torch.compile(model)` becomes `model = torch.compile(model)`; `self` compiles itself in place."""
    file = bench.open(finding.span.path)
    for node in file.by_line.get(finding.span.line, ()):
        match node:
            case ast.Expr(value=ast.Call(args=[ast.Name(id=name), *_])):
                return _assigned(file, node, name)
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=same)], keywords=keywords)
            ) if name == same == "self":
                options = (
                    f"{k.arg}={file.text(k.value)}" if k.arg else f"**{file.text(k.value)}" for k in keywords
                )
                text = f"self.compile({', '.join(options)})"
                message = f"write `{text}`, which compiles the module in place"
                return fix_of(message, [file.replace(node, text)], "it will run compiled")
    raise Unclear("the result has no obvious name")


def _assigned(file: OpenFile, node: ast.Expr, name: str) -> Fix:
    scope = file.scope(node)
    used = [n for n in ast.walk(scope or file.tree) if isinstance(n, ast.Name) and n.id == name]
    if not any(n.lineno > node.lineno and isinstance(n.ctx, ast.Load) for n in used):
        raise Unclear("nothing uses the name afterwards")
    span = file.span(node)
    start = Span(file.path, span.line, span.column, span.line, span.column)
    message = f"keep the result: `{name} = {file.text(node)}`"
    return fix_of(message, [Edit(start, f"{name} = ")], "code that ran eagerly will run compiled")
