"""The differences of every regional unit: what the rules about instances stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dynamo_lint.regions.model import ClassRef, FunctionRef, Regions
from dynamo_lint.regions.project import Project
from dynamo_lint.units.construct import Construction
from dynamo_lint.units.differences import compare
from dynamo_lint.units.model import Difference, Units
from dynamo_lint.units.sites import Sites
from dynamo_lint.units.source import Bodies


def find_units(project: Project, regions: Regions, read_source: Callable[[str], str]) -> Units:
    """What differs between the instances of each class that is compiled once per instance."""
    run = Construction(project, Bodies(project, read_source))
    sites = Sites(project)
    found: dict[Difference, None] = {}
    for unit in _units(project, regions):
        for top, path in sites.tops(unit):
            found.update(dict.fromkeys(_compared(run, unit, top, path)))
    return Units(tuple(found))


def _compared(
    run: Construction, unit: ClassRef, top: FunctionRef, path: frozenset[FunctionRef]
) -> list[Difference]:
    try:
        made = run.instances(unit, top, path)
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
