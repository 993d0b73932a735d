"""Findings of the rules about graph breaks, from the lines at which a graph ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.interpreter.ended import Break, elsewhere, graph_breaks, text_of
from dynamo_lint.interpreter.find import Run
from dynamo_lint.interpreter.guards import GraphBreak
from dynamo_lint.interpreter.model import Met
from dynamo_lint.models.drivers import NAMES
from dynamo_lint.program.documented import is_documented
from dynamo_lint.program.refs import Confidence, ExternalSymbol, FunctionRef, Node
from dynamo_lint.regions.boundaries import Boundaries
from dynamo_lint.regions.model import CallEdge, CompiledFunction
from dynamo_lint.rules.base import (
    Claim,
    Context,
    Rule,
    at_line,
    finding,
    is_idle,
    is_named,
    is_quiet,
    named,
    region,
    storm,
)
from dynamo_lint.rules.interpreted import caught, failures, stated, unit_name
from dynamo_lint.state.provenance import Tables

_COSTS = {
    "break": "a graph break: what stands before and behind it is compiled apart, with Python in between",
    "eager": "the whole function runs eagerly, without a warning: Dynamo cannot go on after this line",
    "stale": "compiled calls get the value of the first call for good",
}


_FAILS = "the call fails: with `fullgraph=True` a graph break is an error"


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one rule."""

    advice: str
    why: str = ""
    """Why the graph ends there: goes on from what the line does; may be empty."""
    why_again: str = ""
    """The same where the line is compiled again and again."""


def broken(rule: Rule, tables: Tables, context: Context, wording: Wording) -> Iterator[Finding]:
    """One finding for each line of a rule's code, but for those that no construction asks for."""
    hidden = [one for handler in caught(tables) for one in failures(tables, handler)]
    for one in graph_breaks(tables):
        if one.row.code != rule.code or one in hidden:
            continue  # a break that only makes a call fail, which the caller does without: see DYN505
        if one.shown or not is_idle(tables, one.hot, one.position):
            claim = _claim(one, tables, context, wording)
            yield finding(rule, tables, context, one.hot, one.position, claim, shown=one.shown)
    for run, ended in elsewhere(tables):
        if ended.row.code == rule.code:
            yield _outside(rule, tables, context, wording, run, ended)


def _outside(
    rule: Rule, tables: Tables, context: Context, wording: Wording, run: Run, ended: GraphBreak
) -> Finding:
    """The finding about a line outside of compiled code at which a graph ends, or ends before it begins."""
    text = text_of(ended)
    where = f" in the compiled `{unit_name(ended.target)}`" if ended.target else ""
    reason = f", {wording.why}" if wording.why else ""
    claim = Claim(
        message=f"`{text}`{where} {ended.row.does}{reason}",
        cost=_COSTS["break"],
        effect="break",
        subject=text,
        advice=wording.advice if ended.target else "leave it: the step behind it is compiled by itself",
        step=ended.row.does,
        severity="note" if ended.doubt or not ended.target else None,
    )
    met = Met("break", ended.site, ended.called, ended.target, ended.doubt, ended.compile, tried=run.tried)
    return stated(rule, tables, context, ended.site, claim, met)


def _claim(one: Break, tables: Tables, context: Context, wording: Wording) -> Claim:
    why = wording.why_again if one.effect == "storm" and wording.why_again else wording.why
    reason = f", {why}" if why else ""
    return Claim(
        message=f"`{one.text}` in the compiled `{region(tables, one.hot)}` {one.row.does}{reason}",
        cost=_cost(one, context),
        effect=one.effect,
        subject=one.text,
        advice=wording.advice,
        step=one.row.does,
        severity=_severity(one),
    )


def _severity(one: Break) -> str | None:
    """A line that may not run is a note; one that raises is an error, whatever it would cost else."""
    if not one.usual or one.row.note or one.tried:
        return "note"
    return "error" if one.raises and one.effect == "break" else None


def _cost(one: Break, context: Context) -> str:
    if one.effect == "storm":
        return storm(context.recompile_limit)
    if one.raises and one.effect != "stale":
        return _FAILS
    found = _COSTS[one.effect]
    return found if one.usual else f"{found}, where it runs"


def _of_table(code: str, name: str, **words: str) -> Rule:
    """A rule that is about such lines and nothing else, by its row."""
    return Rule(code, name, partial(broken, wording=Wording(**words)))


BREAKS = tuple(_of_table(code, **row) for code, row in knowledge.table("break_rules").items())


_ISLAND = Wording(
    why="so that the graph ends before it and another begins behind it",
    advice=('say why: `@torch.compiler.disable(reason="…")` or a comment beside it; or let Dynamo trace it'),
)
_IN_WORDS = r"#(?!\s*(?:noqa|nosec|(?:type|pragma|pylint|pyright|mypy|ruff|fmt|expect|dynamo-lint):))"
"""A comment that is not just for a tool."""
_Calls = dict[FunctionRef, list[tuple[CompiledFunction, CallEdge]]]


@named("DYN406", "undocumented-disable")
def undocumented_disable(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each call of an island, or for one about which no call tells, where it is made."""
    islands = _islands(tables)
    spelt: dict[tuple[str, int, str], set[FunctionRef]] = defaultdict(set)
    for island, calls in islands.items():
        for hot, call in calls:
            spelt[hot.function.path, call.line, call.callee or ""].add(island)
    for one in graph_breaks(tables):
        if one.island is not None:
            spelt[one.hot.function.path, one.position.line, _called(one.text)].add(one.island)
    told: set[FunctionRef] = set()
    for found in broken(rule, tables, context, _ISLAND):
        path, callee = found.span.path, _called(found.subject)
        inside = FunctionRef(path, found.symbol.partition("::")[2])
        meant = spelt.get((path, found.span.line, callee), {inside})
        told |= meant
        if not all(_is_listed(tables, context, one) for one in meant):
            yield found
    for island, calls in islands.items():
        if island in told or is_quiet(tables.project, island):
            continue
        hot, listing = calls[0][0], context.contract_of(island.path).eager_islands
        if listing and not _is_listed(tables, context, island):
            yield _made(rule, tables, context, island, hot, "and is none of the contract's `eager-islands`")
        elif not listing and _is_bare(tables, island):
            yield _made(rule, tables, context, island, hot, "and no comment beside it says why")


def _called(text: str) -> str:
    """The last name of what a call calls."""
    return text.partition("(")[0].rpartition(".")[2]


def _islands(tables: Tables) -> _Calls:
    """The functions that are kept out of the graph, each with the compiled code that calls it."""
    found: _Calls = defaultdict(list)
    boundaries = Boundaries(tables.project, tables.regions.options)
    for hot in tables.regions.hot:
        for call in tables.regions.calls.get(Node(hot.function, hot.receiver), ()):
            disabled = call.disabled or boundaries.disables(call.target.function)  # with `recursive=False`
            if disabled and call.confidence < Confidence.POSSIBLE:
                found[call.target.function].append((hot, call))
    return found


def _is_listed(tables: Tables, context: Context, where: FunctionRef) -> bool:
    return is_named(tables.project, where, context.contract_of(where.path).eager_islands)


def _is_bare(tables: Tables, island: FunctionRef) -> bool:
    """Whether the only comments beside the decorators of a function are for tools."""
    said = (is_documented(tables.project, tables.bodies, island, one) for one in ("#", _IN_WORDS))
    return tuple(said) == (True, False)


def _made(
    rule: Rule, tables: Tables, context: Context, island: FunctionRef, hot: CompiledFunction, why: str
) -> Finding:
    """A finding at the decorators of an island."""
    function = tables.project.function(island)
    claim = Claim(
        message=f"`{function.qualname}` stays out of the compiled `{region(tables, hot)}`, {why}",
        cost="a graph break at each call of it, for a reason that nobody may remember",
        severity="warning",
        subject=function.qualname,
        advice=_ISLAND.advice,
        step="is kept out of the graph",
    )
    return at_line(rule, tables, context, island, function.first_line, claim, hot)


_SETTING = Wording(
    why="which Dynamo does not trace",
    advice="make the setting around the compiled calls, or once before the first of them",
)


@named("DYN508", "setting-in-region")
def setting_in_region(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each such line, and for each decorator that makes a setting."""
    yield from broken(rule, tables, context, _SETTING)
    for hot in tables.regions.hot:
        for decorator in _patches(tables, hot):
            claim = Claim(
                message=f"the decorator changes a setting of Dynamo around the compiled `{hot.function.key}`",
                cost="a graph break before it: Dynamo does not trace what makes the setting",
                effect="break",
                severity="note" if hot.compiled else None,  # what it decorates is compiled all the same
                subject=hot.function.id,
                advice=_SETTING.advice,
                step="changes a setting of Dynamo",
            )
            yield at_line(rule, tables, context, hot.function, decorator.line, claim, hot)


def _patches(tables: Tables, hot: CompiledFunction) -> Iterator[ir.Call]:
    """The decorators of a compiled function that make settings while it runs."""
    function = tables.project.function(hot.function)
    for one in function.decorators:
        if isinstance(one, ir.Call):
            symbols = tables.project.symbols(one.function, hot.function.path, function.outer or MODULE_KEY)
            if any(isinstance(s, ExternalSymbol) and s.dotted in NAMES["patch"] for s in symbols):
                yield one
