"""The ways to filter a page: what its entries differ in, and how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facet:
    """One control of the filter."""

    key: str
    """As in the attributes `data-KEY` of the entries and in the page's address."""
    label: str
    values: tuple[tuple[str, int], ...]
    buttons: bool = False
    """A few values, each switched by itself; else one of them is chosen from a list."""


def counts(values: Iterable[str], order: Sequence[str] = ()) -> tuple[tuple[str, int], ...]:
    """Each value with its number, in the order of a list of them, or else of the alphabet."""
    return tuple(
        sorted(Counter(values).items(), key=lambda one: (order.index(one[0]) if one[0] in order else -1, one))
    )
