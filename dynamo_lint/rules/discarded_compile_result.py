"""DYN501: the result of torch.compile is thrown away, and the model runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.calls.never_called import methods_of_uncalled
from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Call
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import compile_calls, position, walk
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per statement whose compiled result nobody can reach."""
    lines: dict[FunctionRef, dict[int, Call]] = {}
    for where, site in compile_calls(tables.project):
        if site.call.arguments:
            lines.setdefault(where, {})[site.call.line] = site.call
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
    tables: Tables, ref: FunctionRef, lines: dict[int, Call]
) -> Iterator[tuple[ast.Call, str, tuple[str, ...]]]:
    """The calls whose result nobody calls, the name that it is bound to, and the methods called on that."""
    body = tables.bodies.of(ref)
    if body is None:
        return
    for visit in walk(body):
        match visit.node:
            case ast.Expr(value=ast.Call() as call) if call.lineno in lines and _compiles(call):
                yield call, "", ()
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                call.lineno in lines and _compiles(call)
            ):
                methods = methods_of_uncalled(tables.project, ref, lines[call.lineno])
                if methods is not None:
                    yield call, name, methods


def _compiles(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return bool(call.args) and "compile" in name
    return False


DISCARDED_COMPILE_RESULT = Rule("DYN501", "discarded-compile-result", check)
