"""DYN111: what was compiled is thrown away and compiled again, over and over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.interpreter.find import runs
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import compile_calls, line_of, walk
from dynamo_lint.rules.interpreted import EAGER, stated
from dynamo_lint.state.provenance import Tables

_FEW = 2
"""So many times something is thrown away that it is compiled once more for each call."""
_FRESH = "finds no compiled code whenever it runs: its backend is another one, or it is isolated"


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Compiled code that is thrown away again and again, and functions that are wrapped again."""
    yield from _thrown_away(rule, tables, context)
    again: dict[FunctionRef, dict[int, list[str]]] = {}
    for where, site in compile_calls(tables.project):
        if where not in again:
            again[where] = _wrapped_again(tables.bodies.of(where) if where.key != MODULE_KEY else None)
        for target in again[where].get(site.call.line, ()):
            # On an object that came in, every call may wrap another one; a module or class is there once.
            if tables.project.symbols(ir.Name(target.split(".")[0]), where.path, where.key):
                place = line_of(tables, where, site.call.line)
                yield placed(rule, context, where.path, place, where.id, _wrapping(target))


def _thrown_away(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Resets that calls of the same code meet again and again, and compiles that find no earlier ones."""
    for met in (run.met for run in runs(tables)):
        for unit in dict.fromkeys(one.unit for one in met if one.what == "reset"):
            calls = [one for one in met if one.unit == unit and one.what not in EAGER]
            again = [one for one in calls if one.what == "reset"]
            # Many calls for one compile make a benchmark of it.
            if len(again) < _FEW or 3 * len(again) < len(calls):
                continue
            last = again[-1]
            fresh = last.compile is not None and last.compile.site == last.site
            claim = Claim(
                message=f"`{ast.unparse(last.site.node)}` "
                + (_FRESH if fresh else "throws all compiled code away between calls"),
                cost="one compile per call",
                effect="storm",
                subject=f"{unit}: {'compile' if fresh else 'reset'}",
                advice="compile once, with one backend" if fresh else "reset once, before the first call",
                step="compiles again",
            )
            yield stated(rule, tables, context, last.site, claim, last)


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


RECOMPILED_REGION = Rule("DYN111", "recompiled-region", check)
