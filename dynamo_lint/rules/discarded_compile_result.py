"""DYN501: the result of torch.compile is thrown away, and the model runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.facts import MODULE_KEY
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import compile_calls, position, walk
from dynamo_lint.state.origins import Tables

SET_UP = frozenset(
    {"eval", "train", "to", "cuda", "cpu", "half", "float", "bfloat16", "requires_grad_", "zero_grad"}
    | {"load_state_dict", "state_dict", "parameters", "named_parameters", "device", "dtype"}
)


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per statement whose compiled result nobody can reach."""
    lines: dict[FunctionRef, set[int]] = {}
    for where, site in compile_calls(tables.project):
        if site.call.arguments:
            lines.setdefault(where, set()).add(site.call.line)
    for ref, wanted in lines.items():
        for node, name in _discarded(tables, ref, wanted):
            model = ast.unparse(node.args[0])
            how = f"bound to `{name}`, which nobody calls afterwards" if name else "not kept"
            claim = Claim(
                message=f"the result of `torch.compile({model})` is {how}: `{model}` itself stays uncompiled",
                cost="everything runs eagerly, as if `torch.compile` were not there",
                effect="eager",
                subject=f"torch.compile({model})",
                advice=f"keep the result and call that, or compile in place with `{model}.compile()`",
                step="compiles and forgets",
            )
            yield placed(rule, context, ref.path, position(node), ref.id, claim)


def _discarded(tables: Tables, ref: FunctionRef, lines: set[int]) -> Iterator[tuple[ast.Call, str]]:
    body = tables.bodies.of(ref)
    if body is None:
        return
    visits = list(walk(body))
    function = tables.project.function(ref)
    for visit in visits:
        match visit.node:
            case ast.Expr(value=ast.Call() as call) if call.lineno in lines and _compiles(call):
                yield call, ""
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                call.lineno in lines and _compiles(call)
            ):
                if ref.key == MODULE_KEY or name in function.globals or visit.loops:
                    continue
                if not _used(body, name, call):
                    yield call, name


def _compiles(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return bool(call.args) and "compile" in name
    return False


def _used(body: list[ast.stmt], name: str, call: ast.Call) -> bool:
    """Whether the name is read behind the call: here, or in a function that closes over it."""
    end = call.end_lineno or call.lineno
    # `self.eval()` on the wrapper sets up the model below, and nobody calls the wrapper.
    only_set_up = {
        id(node.value)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr in SET_UP
    }
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and node.lineno > end
        and id(node) not in only_set_up
        for statement in body
        for node in ast.walk(statement)
    )


DISCARDED_COMPILE_RESULT = Rule("DYN501", "discarded-compile-result", check)
