"""DYN111: what was compiled is thrown away and compiled again, over and over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.interpreter.find import runs
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.driving import (
    Driver,
    captured,
    compile_calls,
    drivers,
    line_of,
    position,
    text_of,
    walk,
)
from dynamo_lint.rules.interpreted import EAGER, stated
from dynamo_lint.state.provenance import Tables

ROUND = "in every iteration of this loop"
_FEW = 2
"""Resets that a program may make."""
RESETS = tuple(name.removeprefix("torch.") for name in knowledge.in_order("reset"))


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Resets and fresh backends in a loop, closures over its variable, and functions wrapped again."""
    for driver in drivers(tables):
        for node, claim in (*_resets(driver), *_fresh(driver)):
            yield placed(rule, context, driver.ref.path, position(node), driver.ref.id, claim)
    yield from _resets_met(rule, tables, context)
    again: dict[FunctionRef, dict[int, list[str]]] = {}
    for where, site in compile_calls(tables.project):
        if where not in again:
            again[where] = _wrapped_again(tables.bodies.of(where) if where.key != MODULE_KEY else None)
        for target in again[where].get(site.call.line, ()):
            # On an object that came in, every call may wrap another one; a module or class is there once.
            if tables.project.symbols(ir.Name(target.split(".")[0]), where.path, where.key):
                place = line_of(tables, where, site.call.line)
                yield placed(rule, context, where.path, place, where.id, _wrapping(target))


def _resets_met(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Resets that calls of the same code meet again and again, wherever they stand."""
    for met in (run.met for run in runs(tables)):
        for unit in dict.fromkeys(one.unit for one in met if one.what == "reset"):
            calls = [one for one in met if one.unit == unit and one.what not in EAGER]
            resets = [one for one in calls if one.what == "reset"]
            # Many calls for one compile make a benchmark of it.
            if len(resets) > _FEW and 3 * len(resets) >= len(calls):
                what = f"`{ast.unparse(resets[-1].site.node)}` throws all compiled code away between calls"
                claim = _claim(what, "storm", "reset once, before the first call", f"{unit}: reset")
                yield stated(rule, tables, context, resets[-1].site, claim, resets[-1])


def _resets(driver: Driver) -> Iterator[tuple[ast.expr, Claim]]:
    rounds = {call.loops for call in driver.calls()} - {()}
    for visit in driver.visits:
        node = visit.node
        if not isinstance(node, ast.Call) or not text_of(node.func).endswith(RESETS):
            continue
        # A loop inside the loop is what makes a benchmark of it: many calls for one compile.
        if visit.loops in rounds:
            what = f"`{ast.unparse(node)}` throws all compiled code away {ROUND}"
            yield node, _claim(what, "storm", "reset once, before the loop", ast.unparse(node.func))


def _fresh(driver: Driver) -> Iterator[tuple[ast.expr, Claim]]:
    """`torch.compile` in a loop, on something that is another one in every round."""
    for visit in driver.calls():
        node = visit.node
        if not visit.loops or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Call):
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.func.keywords}
        isolate = keywords.get("isolate_recompiles")
        use = captured(node.func.args[0], visit.loops[-1]) if node.func.args else None
        before = "before the loop"
        if isinstance(keywords.get("backend"), ast.Lambda | ast.Call):
            what = f"`torch.compile` gets a new backend {ROUND}, and Dynamo guards on the backend"
            yield node.func, _claim(what, "storm", f"create the backend once, {before}", "backend")
        elif isinstance(isolate, ast.Constant) and isolate.value is True:
            what = f"`isolate_recompiles=True` starts without any compiled code {ROUND}"
            yield node.func, _claim(what, "storm", f"compile once, {before}", "isolate_recompiles")
        elif use is not None:
            what = f"the function compiled here closes over `{use.id}`, which changes {ROUND}"
            advice = f"compile once, {before}, and pass `{use.id}` as an argument"
            yield use, _claim(what, "once", advice, use.id)


def _wrapped_again(body: list[ast.stmt] | None) -> dict[int, list[str]]:
    """`owner.f` for each unconditional `owner.f = torch.compile(owner.f)`, by the line of the call."""
    found: dict[int, list[str]] = {}
    for visit in walk(body or []):
        match visit.node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call(args=[first, *_]) as call):
                same = isinstance(first, ast.Attribute) and ast.unparse(target) == ast.unparse(first)
                if same and not any(isinstance(above, ast.If) for above in visit.above):
                    found.setdefault(call.lineno, []).append(ast.unparse(target))
    return found


def _wrapping(target: str) -> Claim:
    return Claim(
        message=f"`{target} = torch.compile({target})` wraps the compiled function again whenever this runs",
        cost="one more wrapper around every call, and an error with `fullgraph=True`",
        effect="once",
        severity="warning",
        subject=target,
        advice="compile it at import, or check first whether it is already compiled",
        step="compiles again",
    )


def _claim(message: str, effect: str, advice: str, subject: str) -> Claim:
    extra = "one extra compile, after which the value is dynamic"
    cost = "one compile per call" if effect == "storm" else extra
    return Claim(
        message=message, cost=cost, effect=effect, subject=subject, advice=advice, step="compiles again"
    )


RECOMPILED_REGION = Rule("DYN111", "recompiled-region", check)
