"""The differences of every class that is compiled once per instance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dynamo_lint.index.ir import Constant
from dynamo_lint.instances.construct import MAX_RUNS, ConstructedInstance, Construction
from dynamo_lint.instances.differences import MAX_TERMS, compare
from dynamo_lint.instances.model import Difference, Units
from dynamo_lint.instances.sites import Sites
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import Regions

Way = tuple[FunctionRef, frozenset[FunctionRef]]
"""The outermost function that makes instances, and the functions that lead down to them."""
Skipped = dict[ClassRef | FunctionRef, str]
"""Classes and functions that were not examined to the end, and why."""
_TOO_DEEP = "an expression in it is nested too deeply"


def find_units(project: Project, regions: Regions, bodies: Bodies) -> Units:
    """Return the differences between the instances of each class that is compiled once per instance."""
    run = Construction(project, bodies)
    sites = Sites(project)
    units = _units(project, regions)
    tops = {unit: sites.tops(unit) for unit in units}
    ways: dict[Way, list[ClassRef]] = defaultdict(list)
    for unit, found in tops.items():
        for way in found:
            ways[way].append(unit)
    made: dict[tuple[ClassRef, Way], list[ConstructedInstance]] = {}
    differences: dict[Difference, None] = {}
    skipped: Skipped = {}
    for unit, found in tops.items():
        for way in found:
            if (unit, way) not in made:
                made.update(
                    {
                        (one, way): instances
                        for one, instances in _run_construction(run, ways[way], way, skipped).items()
                    }
                )
            apart = [one for one in made[unit, way] if not (units[unit] and one.alone)]
            differences.update(dict.fromkeys(_compared(run, unit, apart, way[0], skipped)))
    return Units(tuple(differences), tuple(skipped.items()))


def _run_construction(
    run: Construction, units: list[ClassRef], way: Way, skipped: Skipped
) -> Mapping[ClassRef, list[ConstructedInstance]]:
    """Construction code that leads to several units is run once for all of them."""
    try:
        made = run.instances(frozenset(units), *way)
    except RecursionError:
        run.active.clear()
        skipped[way[0]] = _TOO_DEEP
        return {unit: [] for unit in units}
    if run.cut:
        skipped[way[0]] = f"it creates modules in more than {MAX_RUNS} calls"
    return made


def _compared(
    run: Construction, unit: ClassRef, made: list[ConstructedInstance], top: FunctionRef, skipped: Skipped
) -> list[Difference]:
    parameters = run.project.function(top).parameters
    defaults = {
        parameter.name: run.terms.const(parameter.default.value)
        for parameter in parameters
        if isinstance(parameter.default, Constant) and isinstance(parameter.default.value, bool | None)
    }
    try:
        found, cut = compare(run, unit, made, defaults) if len(made) > 1 else ([], False)
    except RecursionError:
        run.active.clear()
        skipped[unit] = _TOO_DEEP
        return []
    if cut:
        skipped[unit] = f"their arguments and attributes take more than {MAX_TERMS} terms"
    return found


def _units(project: Project, regions: Regions) -> dict[ClassRef, bool]:
    """Classes whose instances share one compiled function: entries per instance, and compiled methods.

    With each whether only instances in lists are compiled, as `assume = "blocks"` says.
    """
    found: dict[ClassRef, bool] = {}
    for hot in regions.hot:
        if not hot.compiled or hot.receiver is None or not project.is_module(hot.receiver):
            continue
        entries = [regions.entries[index] for index in hot.entries]
        own = {hot.function.id, hot.receiver.id}
        # Inside a block that is compiled as a whole, it is part of the code of that.
        entries = [entry for entry in entries if entry.target in own] or entries
        shared = [entry for entry in entries if entry.regional or entry.idiom == "decorator"]
        if shared and hot.receiver not in found:
            found[hot.receiver] = all(entry.idiom == "assumed" for entry in shared)
    return found
