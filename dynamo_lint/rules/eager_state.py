"""DYN304: state that only eager code, or code that Dynamo runs once, keeps up to date."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.findings import Finding, Related
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.spelling import spelled
from dynamo_lint.program.refs import FunctionRef, Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, finding, named, nodes_of, region
from dynamo_lint.state.provenance import Tables

OPAQUE = knowledge.last_names("hides")
_SKIPPED = "only in code that is skipped while compiling"


@named("DYN304", "eager-only-mutation")
def eager_only_mutation(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute that is written where compiled code never runs, and per bypassed memo."""
    for hot, place, claim in bypassed(tables):
        yield finding(rule, tables, context, hot, place, claim)
    seen: set[tuple[str, str]] = set()
    for hot in tables.regions.hot:
        function = tables.project.function(hot.function)
        for store in function.stores:
            if not function.runs_eagerly(store.line) or not tables.project.is_self(store.owner, hot.function):
                continue
            if store.name == ir.ITEM or (hot.function.id, store.name) in seen:
                continue
            seen.add((hot.function.id, store.name))
            own = eager_business(tables, hot.function, store.name)
            if not own and _while_not_compiling(tables, hot.function, store.line):
                yield _finding(rule, tables, context, hot, hot.function, store, _SKIPPED)
    for function_ref, hot, how in _opaque(tables):
        for store in tables.project.function(function_ref).stores:
            own = tables.project.is_self(store.owner, function_ref)
            if own and (function_ref.id, store.name) not in seen:
                seen.add((function_ref.id, store.name))
                yield _finding(rule, tables, context, hot, function_ref, store, how)


def _while_not_compiling(tables: Tables, ref: FunctionRef, line: int) -> bool:
    """It is compiling that keeps the line from running, not scripting or exporting."""
    tests = [
        (node.lineno, spelled(node.test))
        for node in nodes_of(tables, ref)
        if isinstance(node, ast.If) and node.lineno <= line and COMPILING.search(spelled(node.test))
    ]
    return bool(tests) and "compiling" in max(tests)[1]


def _opaque(tables: Tables) -> Iterator[tuple[FunctionRef, CompiledFunction, str]]:
    """Functions that Dynamo runs while compiling instead of tracing them, with the hot function around."""
    hot_functions = {hot.function: hot for hot in tables.regions.hot}
    for path in sorted({hot.function.path for hot in tables.regions.hot}):
        for key, function in tables.project.files[path].functions.items():
            marks = OPAQUE & {terminal_name(decorator) for decorator in function.decorators}
            callers = tables.project.calls_of(function.qualname.rpartition(".")[2]) if marks else []
            for hot in (hot_functions[where] for where, _ in callers if where in hot_functions):
                yield FunctionRef(path, key), hot, f"in code marked `{min(filter(None, marks))}`"
                break


def _finding(
    rule: Rule,
    tables: Tables,
    context: Context,
    hot: CompiledFunction,
    where: FunctionRef,
    store: ir.Store,
    how: str,
) -> Finding:
    reader = _reader(tables, hot, store.name)
    name = f"self.{store.name}"
    claim = Claim(
        message=f"`{name}` is written {how}, so the compiled `{region(tables, hot)}` does not update it",
        cost="compiled code keeps using the value of the first run"
        if reader is not None
        else "later readers see a value that no longer changes",
        effect="stale",
        severity=None if reader is not None else "note",
        subject=f"{hot.receiver.name if hot.receiver is not None else hot.function.id}.{store.name}",
        advice=f"keep `{name}` in a buffer that compiled code updates too, or update it in the caller",
        step=f"changes `{name}`",
        related=() if reader is None else (reader,),
    )
    return at_line(rule, tables, context, where, store.line, claim, hot)


def _reader(tables: Tables, hot: CompiledFunction, attribute: str) -> Related | None:
    """Compiled code of the same class that uses the attribute."""
    for other in tables.regions.hot:
        if other.receiver == hot.receiver:
            function = tables.project.function(other.function)
            own = tables.project.self_name(other.function)
            if own is not None and ir.Attribute(ir.Name(own), attribute) in function.loads:
                return Related(other.function.path, function.line, 1, "used by this compiled function")
    return None


COMPILING = re.compile(r"\bis_\w*(compiling|scripting|tracing|exporting)\b|\bcompiling\b")
"""A test that tells eager code from code that is compiled, scripted or exported."""
MEMOS = frozenset({"lru_cache", "cache"})


def bypassed(tables: Tables) -> Iterator[tuple[CompiledFunction, Position, Claim]]:
    """Hot functions with a memo, at their definition.

    Dynamo inlines `__wrapped__` and warns (`WrapperUserFunctionVariable` in torch/_dynamo/variables).
    """
    for hot in tables.regions.hot:
        function = tables.project.function(hot.function)
        marks = (d.function if isinstance(d, Call) else d for d in function.decorators)
        memo = next((name for mark in marks if (name := terminal_name(mark)) in MEMOS), None)
        if memo is None:
            continue
        name, where = function.qualname.rpartition(".")[2], region(tables, hot)
        claim = Claim(
            message=f"the `{memo}` of `{name}` is bypassed in the compiled `{where}`: Dynamo traces the "
            "function itself and neither reads nor fills the cache",
            cost="every compiled call computes its result again, and the cache stays as eager code left it",
            effect="stale",
            severity="note",
            subject=f"{function.qualname}.{memo}",
            advice=f"call `{name}` outside the compiled code and pass its result in",
            step=f"bypasses the cache of `{name}`",
        )
        yield hot, Position(function.line, 1, function.line, 1), claim


def eager_business(tables: Tables, ref: FunctionRef, attribute: str) -> bool:
    """The function reads it too, and always where compiled code never runs: a cache of eager code."""
    nodes = [*nodes_of(tables, ref)]
    passed_over = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If | ast.BoolOp)
        and COMPILING.search(spelled(node.test if isinstance(node, ast.If) else node))
        for inner in ast.walk(node)
    }
    reads = [
        node
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
    ]
    return bool(reads) and all(id(read) in passed_over for read in reads)
