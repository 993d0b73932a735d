"""The differences of every regional unit: what the rules about instances stand on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from dynamo_lint.regions.model import ClassRef, FunctionRef, Regions
from dynamo_lint.regions.project import Project
from dynamo_lint.units.construct import Construction, Made
from dynamo_lint.units.differences import compare
from dynamo_lint.units.model import Difference, Units
from dynamo_lint.units.sites import Sites
from dynamo_lint.units.source import Bodies

Way = tuple[FunctionRef, frozenset[FunctionRef]]
"""The outermost function that makes instances, and the functions that lead down to them."""


def find_units(project: Project, regions: Regions, read_source: Callable[[str], str]) -> Units:
    """What differs between the instances of each class that is compiled once per instance."""
    run = Construction(project, Bodies(project, read_source))
    sites = Sites(project)
    tops = {unit: sites.tops(unit) for unit in _units(project, regions)}
    ways: dict[Way, list[ClassRef]] = defaultdict(list)
    for unit, found in tops.items():
        for way in found:
            ways[way].append(unit)
    made: dict[tuple[ClassRef, Way], list[Made]] = {}
    differences: dict[Difference, None] = {}
    for unit, found in tops.items():
        for way in found:
            if (unit, way) not in made:
                made.update({(one, way): instances for one, instances in _made(run, ways[way], way).items()})
            differences.update(dict.fromkeys(_compared(run, unit, made[unit, way])))
    return Units(tuple(differences))


def _made(run: Construction, units: list[ClassRef], way: Way) -> Mapping[ClassRef, list[Made]]:
    """Construction code that leads to several units is run once for all of them."""
    try:
        return run.instances(frozenset(units), *way)
    except RecursionError:
        run.active.clear()
        return {unit: [] for unit in units}


def _compared(run: Construction, unit: ClassRef, made: list[Made]) -> list[Difference]:
    try:
        return compare(run, unit, made) if len(made) > 1 else []
    except RecursionError:
        run.active.clear()
        return []


def _units(project: Project, regions: Regions) -> Iterator[ClassRef]:
    """Classes whose instances share one compiled function: entries per instance, and compiled methods."""
    seen: set[ClassRef] = set()
    for hot in regions.hot:
        if not hot.compiled or hot.receiver is None or hot.receiver in seen:
            continue
        entries = [regions.entries[index] for index in hot.entries]
        if any(entry.regional or entry.idiom == "decorator" for entry in entries):
            seen.add(hot.receiver)
            if project.is_module(hot.receiver):
                yield hot.receiver
