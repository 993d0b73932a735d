"""Differences between instances that compiled code reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Attribute, Call, Expr, Function, Name, Subscript
from dynamo_lint.instances.model import Difference, DifferenceKind
from dynamo_lint.program.refs import ClassRef, Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.model import FunctionState, Use
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class Consumed:
    """A difference that compiled code uses."""

    difference: Difference
    hot: CompiledFunction
    """The function that uses it first."""
    path: str
    position: Position
    """The use of a number; where a part or submodule is made."""
    uses: frozenset[Use] = frozenset()
    others: tuple[tuple[str, Position], ...] = ()
    """Other uses."""


def consumed(tables: Tables) -> Iterator[Consumed]:
    """Every difference that matters, once."""
    inside = _inside(tables)
    states = {hot: (number, state) for number, (hot, state) in enumerate(tables.functions)}
    for difference in tables.units.differences:
        hot = inside.get(difference.unit, ())
        found = (
            _read(
                tables, difference, sorted(((*states[one], one) for one in hot if one in states), key=_first)
            )
            if difference.sort == DifferenceKind.SCALAR
            else _mentioned(tables, difference, hot)
        )
        if found is not None:
            yield found


def _inside(tables: Tables) -> dict[ClassRef, tuple[CompiledFunction, ...]]:
    """The hot functions of each unit."""
    units = {difference.unit for difference in tables.units.differences}
    entries: dict[ClassRef, set[int]] = {}
    for hot in tables.regions.hot:
        if hot.compiled and hot.receiver in units and hot.receiver is not None:
            shared = [
                index
                for index in hot.entries
                if tables.regions.entries[index].regional
                or tables.regions.entries[index].idiom == "decorator"
            ]
            entries.setdefault(hot.receiver, set()).update(shared)
    asked = set[int]().union(*entries.values())
    reached: dict[int, list[int]] = defaultdict(list)
    for number, hot in enumerate(tables.regions.hot if asked else ()):
        for index in asked.intersection(hot.entries):
            reached[index].append(number)
    return {
        unit: tuple(
            tables.regions.hot[number]
            for number in sorted({number for index in wanted for number in reached[index]})
        )
        for unit, wanted in entries.items()
    }


def _first(numbered: tuple[int, FunctionState, CompiledFunction]) -> int:
    return numbered[0]


def _read(
    tables: Tables, difference: Difference, inside: list[tuple[int, FunctionState, CompiledFunction]]
) -> Consumed | None:
    """The first use of a number in the functions of the unit."""
    order = set(tables.project.mro(difference.owner))
    sites: list[tuple[CompiledFunction, Position, Use]] = []
    for _, state, hot in inside:
        sites += [
            (hot, read.load.position, read.use)
            for read in state.reads
            if any(key.attribute == difference.attribute and key.owner in order for key in read.keys)
        ]
    if not sites:
        return None
    sites.sort(key=lambda site: (site[0].function.path, site[1].line, site[1].column))
    hot, position, _ = sites[0]
    others = tuple(
        dict.fromkeys(
            (h.function.path, p) for h, p, _ in sites if (h.function, p) != (hot.function, position)
        )
    )
    uses = frozenset(use for _, _, use in sites)
    return Consumed(difference, hot, hot.function.path, position, uses, others)


def _mentioned(
    tables: Tables, difference: Difference, inside: tuple[CompiledFunction, ...]
) -> Consumed | None:
    """The function that calls a part or submodule (or asks whether it is there)."""
    name = difference.attribute.partition(".")[0]
    if not difference.stores:
        return None
    for hot in inside:
        if hot.receiver != difference.owner:
            continue
        function = tables.project.function(hot.function)
        own = tables.project.self_name(hot.function)
        if own is not None and _is_read(function, Attribute(Name(own), name)):
            (path, position), *others = difference.stores
            return Consumed(difference, hot, path, position, frozenset(), tuple(others))
    return None


def _is_read(function: Function, wanted: Attribute) -> bool:
    if wanted in function.loads:
        return True
    return any(not site.eager and _within(site.call.function, wanted) for site in function.calls)


def _within(expr: Expr, wanted: Attribute) -> bool:
    match expr:
        case Attribute(value) | Subscript(value):
            return expr == wanted or _within(value, wanted)
        case Call(function):
            return _within(function, wanted)
    return False
