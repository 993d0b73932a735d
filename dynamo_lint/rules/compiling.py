"""Rules about calls of `torch.compile` themselves: one whose result is lost, one that is made again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.calls.never_called import methods_called_on, methods_of_uncalled, owner_of_call
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Call
from dynamo_lint.index.spelling import spelled
from dynamo_lint.index.walking import children
from dynamo_lint.interpreter.find import runs
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef
from dynamo_lint.regions.unresolved import describe
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, named, placed
from dynamo_lint.rules.interpreted import EAGER, stated
from dynamo_lint.state.provenance import Tables


@named("DYN501", "discarded-compile-result")
def discarded_compile_result(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per statement whose compiled result nobody can reach."""
    lines: dict[FunctionRef, dict[int, Call]] = {}
    for where, site in compile_calls(tables.project):
        if site.call.arguments:
            lines.setdefault(where, {})[site.call.line] = site.call
    for ref, wanted in lines.items():
        for node, name, methods in _discarded(tables, ref, wanted):
            model = spelled(node.args[0])
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
            yield placed(rule, tables, context, ref, tables.bodies.position(ref.path, node), claim)
        for line, call in wanted.items():
            if owner := owner_of_call(tables.project, ref, call):
                yield at_line(rule, tables, context, ref, line, _stored_as_call(describe(owner), call))
    yield from _without_forward(rule, tables, context)


def _stored_as_call(owner: str, call: Call) -> Claim:
    compiled = describe(call.arguments[0])
    return Claim(
        message=f"the result of `torch.compile({compiled})` is stored as `{owner}.__call__`, which Python "
        f"looks up on classes alone: `{owner}(...)` runs eagerly",
        cost="everything runs eagerly, as if `torch.compile` were not there",
        effect="eager",
        subject=f"torch.compile({compiled})",
        advice=f"keep it under another name and call that, or compile a module in place: `{owner}.compile()`",
        step="stores the compiled callable where no call finds it",
    )


def _without_forward(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """The findings for modules that are compiled without a forward, and used by other methods."""
    lacking = {(one.path, one.line) for one in tables.regions.unresolved if one.lacks == "forward"}
    for where, site in tables.project.calls_of("compile") if lacking else ():
        call = site.call
        inside = call.function.value if isinstance(call.function, ir.Attribute) else None
        compiled = call.arguments[0] if call.arguments else inside
        if (where.path, call.line) not in lacking or compiled is None:
            continue
        if methods := methods_called_on(tables.project, where, call, compiled):
            called = " and ".join(f"`{method}`" for method in methods)
            claim = Claim(
                message=f"`{describe(call)}` compiles nothing: the class has no `forward`, and its {called} "
                "runs eagerly",
                cost="everything runs eagerly, as if `torch.compile` were not there",
                effect="eager",
                subject=describe(call),
                advice=f"compile the method: `m.{methods[0]} = torch.compile(m.{methods[0]})`",
                step="compiles a module without a forward",
            )
            yield at_line(rule, tables, context, where, call.line, claim)


def _discarded(
    tables: Tables, ref: FunctionRef, lines: dict[int, Call]
) -> Iterator[tuple[ast.Call, str, tuple[str, ...]]]:
    """The calls whose result nobody calls, the name that it is bound to, and the methods called on that."""
    for node in _own_nodes(tables.bodies.of(ref) or [], under_tests=True):
        match node:
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


_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FEW = 2
"""So many times something is thrown away that it is compiled once more for each call."""
_FRESH = "finds no compiled code whenever it runs: its backend is another one, or it is isolated"


@named("DYN111", "recompiled-region")
def recompiled_region(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """Compiled code that is thrown away again and again, and functions that are wrapped again."""
    yield from _thrown_away(rule, tables, context)
    again: dict[FunctionRef, dict[int, list[str]]] = {}
    for where, site in compile_calls(tables.project):
        if where not in again:
            again[where] = _wrapped_again(tables.bodies.of(where) if where.key != MODULE_KEY else None)
        for target in again[where].get(site.call.line, ()):
            # On an object that came in, every call may wrap another one; a module or class is there once.
            if tables.project.symbols(ir.Name(target.split(".")[0]), where.path, where.key):
                yield at_line(rule, tables, context, where, site.call.line, _wrapping(target))


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
                message=f"`{spelled(last.site.node)}` "
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
    for node in _own_nodes(body or [], under_tests=False):
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call(args=[first, *_]) as call):
                if isinstance(first, ast.Attribute) and spelled(target) == spelled(first):
                    found.setdefault(call.lineno, []).append(spelled(target))
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


def _own_nodes(body: list[ast.stmt], *, under_tests: bool) -> Iterator[ast.AST]:
    """The nodes of a function's own body in the order of the text, those under an `if` only if wanted."""
    closed = _INNER if under_tests else (*_INNER, ast.If)
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, closed):
            waiting += reversed(children(node))


def compile_calls(project: Project) -> Iterator[tuple[FunctionRef, ir.CallSite]]:
    """Every call of `torch.compile`, by symbol."""
    names = {"compile", *project.aliases_of("compile")}
    for name in sorted(names):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            if ExternalSymbol(COMPILE) in symbols:
                yield where, site
