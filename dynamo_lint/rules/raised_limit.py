"""DYN511: a limit of recompiles is raised, so that it no longer tells that something recompiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import Expr
from dynamo_lint.models.settings import DYNAMO, known_settings
from dynamo_lint.program.files import one_program
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.limits import DEFAULTS, OLDER, added_by, computed, number_of, statement_of
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.provenance import Tables

_MOST_NAMED = 3


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per value above what the contract allows, or torch by itself."""
    for where, line, name, value in _given(tables):
        limit = OLDER.get(name, name)
        if limit not in DEFAULTS or is_quiet(tables.project, where):
            continue
        allowed, whose, severity = _allowed(limit, where.path, context)
        number = number_of(tables.project, value, where)
        statement = statement_of(tables, where, line, name) if number is None else None
        if statement is not None:
            number = computed(tables, where, statement)
        added = added_by(statement) if number is None else ""
        if not added and (number is None or number <= allowed):
            continue
        how = f"by `{added}`, beyond" if added else f"to {number}, above"
        claim = Claim(
            message=f"`{name}` is raised {how} {whose} of {allowed}",
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
    limits = {f"{DYNAMO}.{name}" for name in (*DEFAULTS, *OLDER)}
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
