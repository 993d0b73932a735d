"""Suggests `__init__` for a module or parameter that compiled code builds in each call."""

from __future__ import annotations

import ast
import re

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import calls_parent
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion

_WHY = "it is in `state_dict()` and in `parameters()` then, and has the same weights in every call"


def build_in_init(finding: Finding, bench: Workbench) -> Fix:
    """An attribute for what is built; raises Unclear where it needs a value of the call."""
    file, call = bench.call_at(finding.span)
    function = file.scope(call)
    owner = file.parents[function] if function is not None else None
    if function is None or not isinstance(owner, ast.ClassDef) or not function.args.args:
        raise Unclear("no method builds it")
    bound = {
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    bound |= {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    if any(isinstance(one, ast.Name) and one.id in bound for one in ast.walk(call)):
        raise Unclear("it is built from a value of the call")
    me = function.args.args[0].arg
    kind = ast.unparse(call.func).rpartition(".")[2].strip("_")
    name = "_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    if file.speaking.get(name):
        raise Unclear(f"the file has a `{name}` already")
    line = f"{me}.{name} = {file.one_line(call)}"
    edits = [_in_init(file, owner, me, line), file.replace(call, f"{me}.{name}")]
    return suggestion(f"build it once, in `__init__`: `{line}`", edits, _WHY)


def _in_init(file: OpenFile, owner: ast.ClassDef, me: str, line: str) -> Edit:
    """The edit that adds a line to the `__init__` of a class, which gets one where it has none."""
    first = owner.body[0]
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            parent = next((one for one in node.body if calls_parent(one) and file.alone(one)), None)
            if parent is None:
                raise Unclear("`__init__` does not call that of its base")
            return file.insert_after(parent, line)
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    if not methods or not file.alone(first):
        raise Unclear("the class has no method")
    outer = file.indent(methods[0])
    step = file.indent(methods[0].body[0]).removeprefix(outer)
    start = f"def __init__({me}, *args, **kwargs):"
    body = f"{outer}{step}super().__init__(*args, **kwargs)"
    return file.insert_before(methods[0], f"{start}\n{body}\n{outer}{step}{line}\n")
