"""DYN511: a limit of recompiles is raised, so that it no longer tells that something recompiles."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import Call, Constant, Expr, Name
from dynamo_lint.models.settings import DYNAMO, known_settings
from dynamo_lint.program.files import one_program
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.provenance import Tables

DEFAULTS = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
"""The limits, and their values in torch/_dynamo/config.py."""
_OLDER = {
    "cache_size_limit": "recompile_limit",
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
}


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // (other or 1),
    ast.LShift: lambda one, other: one << min(max(other, 0), 64),
    ast.Pow: lambda one, other: one ** min(max(other, 0), 64),
}
_RAISING = (ast.Add, ast.Mult, ast.LShift, ast.Pow)
_MOST_NAMED = 3


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per value above what the contract allows, or torch by itself."""
    for where, line, name, value in _given(tables):
        limit = _OLDER.get(name, name)
        if limit not in DEFAULTS or is_quiet(tables.project, where):
            continue
        allowed, whose = _allowed(limit, where.path, context)
        number = _number(tables.project, value, where)
        statement = _statement(tables, where, line, name) if number is None else None
        if statement is not None:
            number = _computed(tables, where, _value_of(statement))
        added = _added(statement) if number is None else ""
        if not added and (number is None or number <= allowed):
            continue
        how = f"by `{added}`, beyond" if added else f"to {number}, above"
        claim = Claim(
            message=f"`{name}` is raised {how} {whose} of {allowed}",
            cost="what recompiles is compiled up to so many times before the limit tells of it",
            effect="",
            severity="warning",
            subject=name,
            advice="end the recompiles and leave the limit, which tells of the next ones; for instances that "
            "differ by design there is `torch.compile(…, isolate_recompiles=True)`",
            step="raises the limit",
        )
        yield at_line(rule, tables, context, where, line, claim)


def _given(tables: Tables) -> Iterator[tuple[FunctionRef, int, str, Expr]]:
    """The values that settings and options of a compile call give limits."""
    for one in tables.practice.settings:
        if f"{one.module}.{one.name}" in _names():
            yield one.where, one.line, one.name, one.value
    for site in tables.practice.compiles:
        for name, value in site.keywords:
            if name == "recompile_limit":
                yield site.where, site.line, name, value


def _names() -> frozenset[str]:
    """The settings that are limits, under all modules that have them."""
    limits = {f"{DYNAMO}.{name}" for name in (*DEFAULTS, *_OLDER)}
    older = {name for name, meant in known_settings().aliases.items() if meant in limits}
    return frozenset(limits | older)


def _allowed(limit: str, path: str, context: Context) -> tuple[int, str]:
    """The highest value that is fine, and who says so."""
    settings = dict(context.contract_of(path).settings)
    wanted = settings.get(limit, settings.get(f"{DYNAMO}.{limit}"))
    if isinstance(wanted, int):
        return wanted, "the contract's limit"
    if limit == "recompile_limit" and context.configured_limit > DEFAULTS[limit]:
        return context.configured_limit, "the configured limit"
    return DEFAULTS[limit], "torch's limit"


def _number(project: Project, value: Expr, where: FunctionRef) -> int | None:
    """The number that a value is, or is at least: `max(config.recompile_limit, 64)`."""
    if isinstance(value, Call) and value.function == Name("max"):
        found = [_number(project, one, where) for one in value.arguments]
        return max((one for one in found if one is not None), default=None)
    known = constant(project, value, where)
    if isinstance(known, Constant) and isinstance(known.value, int) and not isinstance(known.value, bool):
        return known.value
    return None


def _statement(tables: Tables, where: FunctionRef, line: int, name: str) -> ast.Assign | ast.AugAssign | None:
    """The assignment to a setting on a line."""
    for node in (inner for one in tables.bodies.of(where) or () for inner in ast.walk(one)):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno == line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Attribute) and one.attr == name for one in targets):
                return node
    return None


def _value_of(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    """The value that an assignment leaves: `limit + 8` for `limit += 8`."""
    if isinstance(statement, ast.Assign):
        return statement.value
    return ast.BinOp(statement.target, statement.op, statement.value)


def _computed(tables: Tables, where: FunctionRef, node: ast.expr) -> int | None:
    """The number that an expression gives or may give, where a limit that it reads is that of torch."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return _number(tables.project, Name(name), where)
        case ast.Attribute(attr=name):
            return DEFAULTS.get(_OLDER.get(name, name))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            numbers = [_computed(tables, where, one) for one in (left, right)]
            known = [one for one in numbers if one is not None]
            return _OPERATORS[type(op)](*known) if len(known) == len(numbers) else None
        case ast.IfExp(body=body, orelse=orelse):
            return max(filter(None, (_computed(tables, where, one) for one in (body, orelse))), default=None)
        case ast.Call(func=ast.Name(id="max"), args=args):
            return max(filter(None, (_computed(tables, where, one) for one in args)), default=None)
    return None


def _added(statement: ast.Assign | ast.AugAssign | None) -> str:
    """The text of a number that only a run knows, and that is added to a limit; empty for none."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, _RAISING):
        return ast.unparse(statement.value)
    return ""


def with_hidden(found: Iterable[Finding], tables: Tables) -> Iterator[Finding]:
    """The findings, each raised limit with those of which it keeps torch from telling."""
    kept = [*found]
    behind = [one for one in kept if one.severity != "note" and _hits_the_limit(one)]
    sites = {(site.where.path, site.line) for site in tables.practice.compiles}
    for one in kept:
        place = one.span.path, one.span.line
        hidden = [
            other
            for other in behind
            if (
                other.region == place
                if place in sites
                else one_program(tables.project, place[0], other.span.path)
            )
        ]
        yield _hiding(one, hidden) if one.code == RAISED_LIMIT.code and hidden else one


def _hits_the_limit(one: Finding) -> bool:
    """Whether a finding compiles so often that torch's own limit would tell of it."""
    return one.effect == "storm" or (one.entries or 0) > DEFAULTS["recompile_limit"]


def _hiding(one: Finding, hidden: list[Finding]) -> Finding:
    named = [f"{other.code} at {other.span.path}:{other.span.line}" for other in hidden[:_MOST_NAMED]]
    if len(hidden) > _MOST_NAMED:
        named.append(f"{len(hidden) - _MOST_NAMED} more")
    last = named.pop()
    told = f"{', '.join(named)} and {last}" if named else last
    related = (
        Related(
            other.span.path, other.span.line, other.span.column, f"recompiles: {other.code} {other.subject}"
        )
        for other in hidden
    )
    return replace(one, message=f"{one.message}, and hides {told}", related=tuple(related))


RAISED_LIMIT = Rule("DYN511", "raised-limit", check)
