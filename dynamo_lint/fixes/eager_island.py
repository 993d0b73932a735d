"""Suggests a function of its own, which stays out of the graph, for a line that changes state."""

from __future__ import annotations

import ast

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import torch_or_import
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion

_REASON = "changes state outside of the graph"
_WHY = "the graph ends there in each call, which costs less than a recompile and more than nothing"
_NO_BODY = (
    ast.Return,
    ast.Break,
    ast.Continue,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.NamedExpr,
    ast.Lambda,
)
_BLOCKS = (ast.For, ast.While, ast.With, ast.Try)
"""Blocks in which Dynamo does not take up a frame again."""


def move_out(finding: Finding, bench: Workbench) -> Fix:
    """The line as a disabled function; raises Unclear where compiled code also reads what it changes."""
    if finding.effect != "storm":
        raise Unclear("a break in each call costs more than a few versions")
    file = bench.open(finding.span.path)
    statement = _statement(file, finding)
    function = file.scope(statement)
    if function is None or not isinstance(function, ast.FunctionDef):
        raise Unclear("it stands in no function")
    if any(isinstance(one, _BLOCKS) for one in file.above(statement) if one not in file.above(function)):
        raise Unclear("a break there leaves the whole function uncompiled")
    target = _changed(statement)
    _check_readers(bench, file, statement, target)
    if bench.files("word", "fullgraph"):
        raise Unclear("a whole graph is asked for")
    own = file.parents[function]
    is_method = isinstance(own, ast.ClassDef) and bool(function.args.args) and _is_instance(function)
    if not (is_method or isinstance(own, ast.Module)):
        raise Unclear("its function stands in another one")
    me = function.args.args[0].arg if is_method else ""
    names = [name for name in _locals(function, statement) if name != me]
    attribute = target.attr if isinstance(target, ast.Attribute) else target.id
    name = f"_keep_{attribute.strip('_').lower()}"
    if name in file.bound:
        raise Unclear(f"the file has a `{name}` already")
    torch, imports = torch_or_import(file)
    outer = file.indent(function)
    inner = file.indent(function.body[0])
    lines = [
        f'{outer}@{torch}.compiler.disable(reason="{_REASON}")',
        f"{outer}def {name}({', '.join([me, *names] if me else names)}):",
    ]
    if not is_method and isinstance(statement, ast.AugAssign | ast.Assign) and isinstance(target, ast.Name):
        lines.append(f"{inner}global {target.id}")
    lines.append(f"{inner}{file.text(statement)}")
    call = f"{f'{me}.' if me else ''}{name}({', '.join(names)})"
    edits: list[Edit] = [*imports, file.replace(statement, call)]
    gap = [""] if is_method else ["", ""]
    edits.append(file.add_lines(function, *gap, *lines))
    return suggestion(
        f"change `{ast.unparse(target)}` in a function that is not compiled: `{call}`", edits, _WHY
    )


def _statement(file: OpenFile, finding: Finding) -> ast.stmt:
    """The statement at a finding, which stands on a line of its own."""
    for node in file.by_line.get(finding.span.line, ()):
        if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign):
            if not file.alone(node) or node.end_lineno != node.lineno:
                break
            if any(isinstance(one, _NO_BODY) for one in ast.walk(node)):
                break
            return node
    raise Unclear("it is no statement on a line of its own")


def _changed(statement: ast.stmt) -> ast.Attribute | ast.Name:
    """The attribute of `self`, or the global, that a statement changes."""
    target: ast.expr
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(target, _))):
            pass
        case ast.AugAssign(target):
            pass
        case ast.Assign([target]):
            pass
        case _:
            raise Unclear("it changes nothing by name")
    while isinstance(target, ast.Subscript):
        target = target.value
    match target:
        case ast.Attribute(ast.Name()) | ast.Name():
            return target
    raise Unclear("what it changes is part of something else")


def _check_readers(
    bench: Workbench, file: OpenFile, statement: ast.stmt, target: ast.Attribute | ast.Name
) -> None:
    """Raise Unclear where another line of compiled code speaks of what a statement changes."""
    inside = set(ast.walk(statement))
    word = target.attr if isinstance(target, ast.Attribute) else target.id
    for path in bench.few_files("word", word):
        other = bench.open(path)
        for node in other.nodes:
            match node:
                case ast.Attribute(attr=name) | ast.Name(id=name) if name == word and node not in inside:
                    if other.reference(node) in bench.hot:
                        raise Unclear(f"{path}:{node.lineno} reads it in compiled code")


def _is_instance(function: ast.FunctionDef) -> bool:
    """Whether a method gets the object that it is called on."""
    return not function.decorator_list


def _locals(function: ast.FunctionDef, statement: ast.stmt) -> list[str]:
    """The local names of a function that a statement reads."""
    bound = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    declared: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(name, ast.Store()):
                bound.add(name)
            case ast.Global(names) | ast.Nonlocal(names):
                declared.update(names)
            case ast.FunctionDef(name=name) if node is not function:
                bound.add(name)
    read = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    if any(name in bound - declared for name in stored):
        raise Unclear("it binds a local name")
    return [name for name in dict.fromkeys(read) if name in bound - declared]
