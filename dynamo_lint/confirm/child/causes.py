"""Attribution: which state had to hold still for a cached version to fit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def minimal_sets(entries: Sequence[Mapping[Hashable, Item]]) -> list[tuple[Item, ...]]:
    """The smallest explanations of a recompile, given the failed state of each cached version.

    Keeping a set of state still would have spared the compile if it holds all that failed in one version,
    so only the sets that contain no other can be the cause. Old versions, which fail in everything that
    has changed since, drop out by themselves.
    """
    found: list[Mapping[Hashable, Item]] = []
    for entry in sorted((entry for entry in entries if entry), key=len):
        if not any(smaller.keys() <= entry.keys() for smaller in found):
            found.append(entry)
    return [tuple(entry.values()) for entry in found]


def by_key(pairs: Iterable[tuple[Hashable, Item]]) -> dict[Hashable, Item]:
    """The first item of every key: what else failed in the same state tells nothing new."""
    found: dict[Hashable, Item] = {}
    for key, item in pairs:
        found.setdefault(key, item)
    return found
