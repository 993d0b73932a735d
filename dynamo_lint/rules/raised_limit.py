"""DYN511: a limit of recompiles is raised, so that it no longer tells that something recompiles."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Call, Constant, Expr, Name
from dynamo_lint.models.settings import DYNAMO, known_settings
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


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per value above what the contract allows, or torch by itself."""
    for where, line, name, value in _given(tables):
        limit = _OLDER.get(name, name)
        if limit not in DEFAULTS or is_quiet(tables.project, where):
            continue
        allowed, whose, severity = _allowed(limit, where.path, context)
        number = _number(tables.project, value, where)
        if number is None or number <= allowed:
            continue
        claim = Claim(
            message=f"`{name}` is raised to {number}, above {whose} of {allowed}",
            cost="what recompiles is compiled up to so many times before the limit tells of it",
            effect="",
            severity=severity,
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


def _allowed(limit: str, path: str, context: Context) -> tuple[int, str, str]:
    """The highest value that is fine, who says so, and how loud it is to go beyond.

    Who raises torch's own limit means to: that is a note, unless the team has said what it wants.
    """
    settings = dict(context.contract_of(path).settings)
    wanted = settings.get(limit, settings.get(f"{DYNAMO}.{limit}"))
    if isinstance(wanted, int):
        return wanted, "the contract's limit", "warning"
    if limit == "recompile_limit" and context.configured_limit > DEFAULTS[limit]:
        return context.configured_limit, "the configured limit", "warning"
    return DEFAULTS[limit], "torch's limit", "note"


def _number(project: Project, value: Expr, where: FunctionRef) -> int | None:
    """The number that a value is, or is at least: `max(config.recompile_limit, 64)`."""
    if isinstance(value, Call) and value.function == Name("max"):
        found = [_number(project, one, where) for one in value.arguments]
        return max((one for one in found if one is not None), default=None)
    known = constant(project, value, where)
    if isinstance(known, Constant) and isinstance(known.value, int) and not isinstance(known.value, bool):
        return known.value
    return None


RAISED_LIMIT = Rule("DYN511", "raised-limit", check)
