"""DYN501: the result of torch.compile is thrown away, and the model runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.classes import OF_MODULES, SELF_RETURNING
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import compile_calls, position, walk
from dynamo_lint.state.provenance import Tables

_COMPILED = frozenset({"forward", "__call__", "compile", "dynamo_ctx"})
"""Methods of a compiled module that run compiled, or compile; all others are those of the module below it
(OptimizedModule in torch/_dynamo/eval_frame.py)."""
_STATES = frozenset({"state_dict", "load_state_dict"})
"""Methods that make use of a wrapper nobody calls: what it saves or loads is run elsewhere."""
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
    uses, function = _uses(body), tables.project.function(ref)
    for visit in walk(body):
        match visit.node:
            case ast.Expr(value=ast.Call() as call) if call.lineno in lines and _compiles(call):
                yield call, "", ()
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                call.lineno in lines and _compiles(call)
            ):
                if ref.key == MODULE_KEY or name in function.globals or visit.loops:
                    continue
                methods = _methods_called(uses, name, call)
                if methods is not None:
                    yield call, name, methods


def _compiles(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return bool(call.args) and "compile" in name
    return False


class _Uses(NamedTuple):
    """How the statements of a function use names."""

    loads: dict[str, list[ast.Name]]
    closing: set[ast.AST]
    """Everything in functions that stand in it: they may run behind any line."""
    owners: dict[ast.AST, ast.Attribute]
    """The attributes, by what they belong to."""
    callees: set[ast.AST]
    alone: set[ast.AST]
    """Callees of calls whose result nobody gets."""


def _uses(body: list[ast.stmt]) -> _Uses:
    uses = _Uses({}, set(), {}, set(), set())
    for node in (node for statement in body for node in nodes(statement)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                uses.loads.setdefault(name, []).append(node)
            case ast.Attribute(value=owner):
                uses.owners[owner] = node
            case ast.Call(func=callee):
                uses.callees.add(callee)
            case ast.Expr(value=ast.Call(func=callee)):
                uses.alone.add(callee)
            case _ if isinstance(node, _INNER) and node not in uses.closing:
                uses.closing.update(ast.walk(node))
    return uses


def _methods_called(uses: _Uses, name: str, call: ast.Call) -> tuple[str, ...] | None:
    """The methods of its own that are called on what a name holds behind a call; None if that may be called.

    A function that closes over the name may run behind the call wherever it stands.
    """
    end = call.end_lineno or call.lineno
    found: dict[str, None] = {}
    for node in uses.loads.get(name, ()):
        if node.lineno <= end and node not in uses.closing:
            continue
        attribute = uses.owners.get(node)
        if attribute is None or attribute.attr in _COMPILED or attribute.attr in _STATES:
            return None
        # `self.eval()` on the wrapper sets up the model below; `run = model.eval()` is the wrapper again.
        if attribute.attr in SELF_RETURNING and attribute not in uses.alone:
            return None
        if attribute.attr not in OF_MODULES and attribute in uses.callees:
            found[attribute.attr] = None
    return tuple(found)


DISCARDED_COMPILE_RESULT = Rule("DYN501", "discarded-compile-result", check)
