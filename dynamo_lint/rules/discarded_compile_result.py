"""DYN501: the result of torch.compile is thrown away, and the model runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.classes import OF_MODULES, SELF_RETURNING
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import compile_calls, position, walk
from dynamo_lint.state.provenance import Tables

_COMPILED = frozenset({"forward", "__call__", "compile", "dynamo_ctx"})
"""Methods of a compiled module that run compiled, or compile; all others are those of the module below it
(OptimizedModule in torch/_dynamo/eval_frame.py)."""
_INNER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per statement whose compiled result nobody can reach."""
    lines: dict[FunctionRef, set[int]] = {}
    for where, site in compile_calls(tables.project):
        if site.call.arguments:
            lines.setdefault(where, set()).add(site.call.line)
    for ref, wanted in lines.items():
        for node, name, methods in _discarded(tables, ref, wanted):
            model = ast.unparse(node.args[0])
            advice = f"keep the result and call it, or compile in place with `{model}.compile()`"
            if not name:
                how = "not kept"
            elif not methods:
                how = f"assigned to `{name}`, which is never called"
            else:
                called = " and ".join(f"`{name}.{method}`" for method in methods)
                how = f"never called, only {called}"
                advice = f"compile in place with `{model}.compile()`, so that its methods call compiled code"
            claim = Claim(
                message=f"the result of `torch.compile({model})` is {how}: `{model}` itself stays uncompiled",
                cost="everything runs eagerly, as if `torch.compile` were not there",
                effect="eager",
                subject=f"torch.compile({model})",
                advice=advice,
                step="discards the compiled callable",
            )
            yield placed(rule, context, ref.path, position(node), ref.id, claim)


def _discarded(
    tables: Tables, ref: FunctionRef, lines: set[int]
) -> Iterator[tuple[ast.Call, str, tuple[str, ...]]]:
    """The calls whose result nobody calls, the name that it is bound to, and the methods called on that."""
    body = tables.bodies.of(ref)
    if body is None:
        return
    visits = list(walk(body))
    function = tables.project.function(ref)
    for visit in visits:
        match visit.node:
            case ast.Expr(value=ast.Call() as call) if call.lineno in lines and _compiles(call):
                yield call, "", ()
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                call.lineno in lines and _compiles(call)
            ):
                if ref.key == MODULE_KEY or name in function.globals or visit.loops:
                    continue
                methods = _methods_called(body, name, call)
                if methods is not None:
                    yield call, name, methods


def _compiles(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return bool(call.args) and "compile" in name
    return False


def _methods_called(body: list[ast.stmt], name: str, call: ast.Call) -> tuple[str, ...] | None:
    """The methods of its own that are called on what a name holds behind a call; None if that may be called.

    A function that closes over the name may run behind the call wherever it stands.
    """
    end = call.end_lineno or call.lineno
    nodes = [node for statement in body for node in ast.walk(statement)]
    closing = {id(part) for node in nodes if isinstance(node, _INNER) for part in ast.walk(node)}
    owners = {id(node.value): node for node in nodes if isinstance(node, ast.Attribute)}
    callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    alone = {id(n.value.func) for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)}
    found: dict[str, None] = {}
    for node in nodes:
        if not (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)):
            continue
        if node.lineno <= end and id(node) not in closing:
            continue
        attribute = owners.get(id(node))
        if attribute is None or attribute.attr in _COMPILED:
            return None
        # `self.eval()` on the wrapper sets up the model below; `run = model.eval()` is the wrapper again.
        if attribute.attr in SELF_RETURNING and id(attribute) not in alone:
            return None
        if attribute.attr not in OF_MODULES and id(attribute) in callees:
            found[attribute.attr] = None
    return tuple(found)


DISCARDED_COMPILE_RESULT = Rule("DYN501", "discarded-compile-result", check)
