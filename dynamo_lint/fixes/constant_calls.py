"""Suggests a constant of the module for a call whose result is the same each time."""

from __future__ import annotations

import ast
import builtins
import re

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion

_TURNING = re.compile(r"^(time|random|secrets|uuid|np\.random|numpy\.random|datetime)\b|^next$|frame|cache")
"""Calls that give something else each time, or change something."""
_DEEP = frozenset({"copy.deepcopy", "deepcopy"})


def hoist(finding: Finding, bench: Workbench) -> Fix:
    """The call at import; raises Unclear where it reads a local name, or may give something else."""
    file, call = bench.call_at(finding.span)
    if ast.unparse(call.func) in _DEEP and len(call.args) == 1 and "copies a tensor" in finding.message:
        text = f"{file.text(call.args[0])}.clone()"
        why = "a module is no tensor, and a clone is part of the graph of gradients"
        return suggestion(f"copy the tensor: `{text}`", [file.replace(call, text)], why)
    if _TURNING.search(ast.unparse(call.func)):
        raise Unclear("it gives something else each time")
    if isinstance(file.parents[call], ast.Expr):
        raise Unclear("its result is not used")
    top = _top(file, call)
    read = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    if not read <= _above(file, top) | set(dir(builtins)):
        raise Unclear("it reads what is not there at import")
    name = f"_{ast.unparse(call.func).rpartition('.')[2].strip('_').upper()}"
    if name in file.bound:
        raise Unclear(f"the file has a `{name}` already")
    made = f"{name} = {file.one_line(call)}"
    edits = [file.insert_before(top, f"{made}\n\n"), file.replace(call, name)]
    return suggestion(
        f"compute it once, at import: `{made}`", edits, "the result is that of the import from then on"
    )


def _top(file: OpenFile, node: ast.AST) -> ast.stmt:
    """The statement of the module that a node is part of."""
    for outer in file.above(node):
        if isinstance(outer, ast.stmt) and file.parents.get(outer) is file.tree:
            return outer
    raise Unclear("it stands at the top already")


def _above(file: OpenFile, top: ast.stmt) -> set[str]:
    """The names that the module has above a statement."""
    names: set[str] = set()
    for statement in file.tree.body[: file.tree.body.index(top)]:
        match statement:
            case ast.Import(aliases) | ast.ImportFrom(names=aliases):
                names.update((one.asname or one.name).split(".")[0] for one in aliases)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets):
                names.update(one.id for one in targets if isinstance(one, ast.Name))
    return names
