"""The part of the regions that concerns some files: for a person who named a file, not the whole project."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dynamo_lint.regions.model import Regions


def part(regions: Regions, paths: Collection[str]) -> Regions:
    """What the entries of these files compile, and the compiled functions in them.

    A function keeps its entries in these files, or else the one that its chain starts at.
    """
    here = {number for number, entry in enumerate(regions.entries) if entry.path in paths}
    hot = [
        (one, [number for number in one.entries if number in here] or list(one.entries[:1]))
        for one in regions.hot
        if one.function.path in paths or not here.isdisjoint(one.entries)
    ]
    kept = sorted(here.union(*(entries for _, entries in hot)))
    numbers = {old: new for new, old in enumerate(kept)}
    return replace(
        regions,
        entries=tuple(regions.entries[number] for number in kept),
        hot=tuple(replace(one, entries=tuple(numbers[old] for old in entries)) for one, entries in hot),
        # A declaration that names nothing stands in no file.
        unresolved=tuple(site for site in regions.unresolved if not site.path or site.path in paths),
    )
