"""DYN406: eager islands without a reason beside them, or that the contract does not list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.breaks.interpreter import is_documented
from dynamo_lint.findings import Finding
from dynamo_lint.program.refs import Confidence, FunctionRef, Node
from dynamo_lint.regions.model import Call, CompiledFunction
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.breaking import Wording, broken
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.rules.practices import is_named, is_quiet
from dynamo_lint.state.provenance import Tables

WORDING = Wording(
    why="so that the graph ends before it and another begins behind it",
    advice=('say why: `@torch.compiler.disable(reason="…")` or a comment beside it; or let Dynamo trace it'),
)
_IN_WORDS = r"#(?!\s*(?:noqa|nosec|(?:type|pragma|pylint|pyright|mypy|ruff|fmt|expect|dynamo-lint):))"
"""A comment that is not just for a tool."""
_Calls = dict[FunctionRef, list[tuple[CompiledFunction, Call]]]


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each call of an island, or for one about which no call tells, where it is made."""
    islands = _islands(tables)
    spelt: dict[tuple[str, int, str], set[FunctionRef]] = defaultdict(set)
    for island, calls in islands.items():
        for hot, call in calls:
            spelt[hot.function.path, call.line, call.callee or ""].add(island)
    told: set[FunctionRef] = set()
    for found in broken(rule, tables, context, WORDING):
        path, callee = found.span.path, found.subject.partition("(")[0].rpartition(".")[2]
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


def _islands(tables: Tables) -> _Calls:
    """The functions that are kept out of the graph, each with the compiled code that calls it."""
    found: _Calls = defaultdict(list)
    for hot in tables.regions.hot:
        for call in tables.regions.calls.get(Node(hot.function, hot.receiver), ()):
            if call.disabled and call.confidence < Confidence.POSSIBLE:
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
        effect="",
        severity="warning",
        subject=function.qualname,
        advice=WORDING.advice,
        step="is kept out of the graph",
    )
    return finding(rule, tables, context, hot, line_of(tables, island, function.first_line), claim, island)


UNDOCUMENTED_DISABLE = Rule("DYN406", "undocumented-disable", check)
