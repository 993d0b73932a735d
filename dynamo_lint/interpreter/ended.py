"""The lines that end a graph, as runs show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.spelling import spelled
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.interpreter.guards import GraphBreak
from dynamo_lint.models.graph_breaks import Row
from dynamo_lint.program.refs import FunctionRef, Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.provenance import Tables

_LONGEST = 60
"""Characters of an expression that are shown."""
Place = tuple[str, int, str]
"""A file, a line and a rule."""


@dataclass(frozen=True, slots=True)
class Break:
    """A line that ends the graph."""

    hot: CompiledFunction
    """The function that it stands in."""
    position: Position
    text: str
    """The expression, as it is written."""
    row: Row
    effect: str
    """`break`, or `eager` if the frame is lost, or what the row says instead."""
    usual: bool
    """It runs, as far as nothing unknown decides about it."""
    raises: bool
    """The region is compiled with `fullgraph=True`."""
    island: FunctionRef | None = None
    """The function that is called there and kept out of the graph."""
    shown: bool = False
    """A program runs it."""
    tried: bool = False
    """It is a test that does."""


def graph_breaks(tables: Tables) -> tuple[Break, ...]:
    """The lines of compiled functions that end a graph, one for each line and rule."""
    known: dict[Place, Break] = {}
    hot = _hot(tables)
    for run in runs(tables):
        for ended in run.breaks:
            functions = hot.get(ended.site.where, ())
            if functions:
                function = next((one for one in functions if one.unit == ended.target), functions[0])
                place = (*ended.site.place, ended.row.code)
                other = _of_run(run, ended, function)
                if place not in known or _rank(other) > _rank(known[place]):
                    known[place] = other
    return tuple(known.values())


def _rank(ended: Break) -> tuple[bool, bool, bool]:
    return ended.usual, not ended.tried, ended.shown


def elsewhere(tables: Tables) -> Iterator[tuple[Run, GraphBreak]]:
    """The lines outside of compiled functions at which a graph ends, with the runs that show them."""
    hot, said = _hot(tables), set[Place]()
    for run in runs(tables):
        for ended in run.breaks:
            place = (*ended.site.place, ended.row.code)
            if ended.site.where not in hot and place not in said:
                said.add(place)
                yield run, ended


def _hot(tables: Tables) -> dict[FunctionRef, list[CompiledFunction]]:
    found: dict[FunctionRef, list[CompiledFunction]] = {}
    for hot in tables.regions.hot:
        found.setdefault(hot.function, []).append(hot)
    return found


def _of_run(run: Run, ended: GraphBreak, hot: CompiledFunction) -> Break:
    raises = ended.compile.keyword("fullgraph") is True
    leaves = ended.effect == "eager" and not _compiles_others(run, ended)
    effect = "break" if ended.effect == "eager" and not leaves else ended.effect
    usual = not ended.doubt
    position = position_of(ended)
    return Break(
        hot,
        position,
        text_of(ended),
        ended.row,
        effect,
        usual,
        raises,
        ended.island,
        shown=not run.presumed,
        tried=run.tried,
    )


def _compiles_others(run: Run, ended: GraphBreak) -> bool:
    """Whether Dynamo compiles what is called in the frame that it leaves for a break, in most calls."""
    others = Counter(met.unit for met in run.met if met.compile == ended.compile and met.unit != ended.target)
    return any(2 * count >= run.calls.get(ended.target, 0) for count in others.values())


def position_of(ended: GraphBreak) -> Position:
    """The place of the expression at which a graph ends."""
    node = ended.site.node
    return Position(
        node.lineno,
        node.col_offset + 1,
        node.end_lineno or node.lineno,
        (node.end_col_offset or node.col_offset) + 1,
    )


def text_of(ended: GraphBreak) -> str:
    """The expression at which a graph ends, as it is written."""
    text = spelled(ended.site.node).partition("\n")[0]
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
