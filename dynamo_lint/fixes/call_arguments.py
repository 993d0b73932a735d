"""A tensor for a number that is another one in each call of compiled code."""

from __future__ import annotations

import ast

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import torch_or_import
from dynamo_lint.fixes.edit_session import FUNCTIONS, Unclear, Workbench, fix_of, suggestion
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import Seen, flow
from dynamo_lint.state.model import Kind

_NUMBERS = {Kind.INT, Kind.FLOAT}
_WHY = "the compiled code gets a tensor, whose type can be another one than that of the number"


def tensor_fix(finding: Finding, bench: Workbench) -> Fix:
    """The number as a tensor where it is passed; raises Unclear where it may not meet tensors alone.

    A note is of a number that is a symbol after one more compile: not worth another type of the result.
    """
    if finding.severity == "note":
        raise Unclear("after one more compile it is a symbol")
    message, edits = _passed(finding, bench, assume=False)
    return fix_of(message, edits, _WHY)


def as_tensor(finding: Finding, bench: Workbench) -> Fix:
    """The same for a person to judge, where arguments of which nothing is known count as tensors."""
    message, edits = _passed(finding, bench, assume=True)
    return suggestion(message, edits, _WHY)


def _passed(finding: Finding, bench: Workbench, assume: bool) -> tuple[str, list[Edit]]:
    """The edits that pass the number as a tensor; raises Unclear where compiled code needs the number."""
    file, call = bench.call_at(finding.span)
    passed = [
        one
        for one in bench.tables.passed
        if one.where.path == file.path
        and (one.position.line, one.position.column) == (finding.span.line, finding.span.column)
        and f"({one.name})" in finding.subject
    ]
    if not passed or passed[0].starred or passed[0].inside:
        raise Unclear("it is part of something that is passed")
    argument = passed[0]
    if not argument.value.kinds or not argument.value.kinds <= _NUMBERS:
        raise Unclear("it is no number")
    project = bench.tables.project
    where = argument.hot.function
    callee = bench.open(where.path)
    definition = callee.definition(project.function(where))
    if not isinstance(definition, FUNCTIONS):
        raise Unclear("its function cannot be read")
    if default := _default(definition, argument.name):
        raise Unclear(f"it is left out at times, and is `{ast.unparse(default)}` then")
    _check_uses(Judge(bench, callee, by_use=True, assume=assume), definition, argument.name)
    names = [one.arg for one in (*definition.args.posonlyargs, *definition.args.args)]
    if project.owner(where) is not None:
        names = names[1:]
    value = _argument(call, names, argument.name)
    torch, imports = torch_or_import(file)
    kind = f", dtype={torch}.float32" if argument.value.kinds == _NUMBERS else ""
    match value:
        case ast.Call(ast.Attribute(tensor, "item"), [], []):
            text = f"{file.text(tensor)}.detach()"
        case _:
            text = f"{torch}.tensor({file.text(value)}{kind})"
    edits = [*imports, file.replace(value, text)]
    return f"pass `{argument.name}` as a tensor: `{text}`", edits


def _default(definition: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """The default of a parameter."""
    arguments = definition.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    pairs = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    pairs |= {
        one.arg: value
        for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if value is not None
    }
    return pairs.get(name)


def _check_uses(judge: Judge, definition: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
    """Raise Unclear where a function uses a parameter as a tensor cannot be used."""
    walked = Seen()
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and node.id == name:
            if not isinstance(node.ctx, ast.Load):
                raise Unclear(f"line {node.lineno} binds its name again")
            if flow(judge, node, "", boolean=False, walked=walked).builtins:
                raise Unclear(f"line {node.lineno} compares it")


def _argument(call: ast.Call, names: list[str], name: str) -> ast.expr:
    """The expression that a call passes for a parameter."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    position = names.index(name) if name in names else len(call.args)
    if position >= len(call.args) or any(isinstance(one, ast.Starred) for one in call.args[: position + 1]):
        raise Unclear("the call does not show what it passes")
    return call.args[position]
