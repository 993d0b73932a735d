"""Suggests where compiled code is thrown away: behind a change that no guard sees, and never in a loop."""

from __future__ import annotations

import ast

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.attribute_uses import torch_or_import
from dynamo_lint.fixes.edit_session import Unclear, Workbench, suggestion


def reset_behind(finding: Finding, bench: Workbench) -> Fix:
    """A reset behind the line that changes what is compiled; raises Unclear where it shares a line."""
    file, call = bench.call_at(finding.span)
    statement = file.statement(call)
    if not file.alone(statement) or not isinstance(statement, ast.Expr | ast.Assign):
        raise Unclear("something stands beside it")
    torch, imports = torch_or_import(file)
    line = f"{torch}._dynamo.reset()"
    why = "all that the process has compiled is compiled again"
    return suggestion(
        f"throw the compiled code away: `{line}`", [*imports, file.insert_after(statement, line)], why
    )


def leave_out(finding: Finding, bench: Workbench) -> Fix:
    """No reset in a loop; raises Unclear for any other line."""
    file, call = bench.call_at(finding.span)
    statement = file.statement(call)
    block = getattr(file.parents[statement], "body", [])
    if not ast.unparse(call.func).endswith("reset") or not isinstance(statement, ast.Expr):
        raise Unclear("it is no reset")
    if len(block) < 2 or not file.alone(statement):
        raise Unclear("nothing else stands in its block")
    why = "what the reset was to get rid of stays compiled"
    return suggestion("leave the reset out", [file.remove(statement)], why)
