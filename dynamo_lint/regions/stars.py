"""What `from module import *` can give a file: a package may have hundreds of these, each with its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dynamo_lint.index.facts import Import

Sources = Callable[[Import, str], Iterable[tuple[str, bool]]]
"""The modules that a star import in a file names: path or dotted name, and whether the project has it."""


def names_by_star(
    path: str,
    stars: Callable[[str], Iterable[Import]],
    bound: Callable[[str], Iterable[str]],
    sources: Sources,
) -> frozenset[str] | None:
    """The names that a file and all that it star-imports bind; None if code outside the project adds some."""
    found: set[str] = set()
    seen, pending = {path}, [path]
    for current in pending:  # grows on the way
        found.update(bound(current))
        for star in stars(current):
            for source, ours in sources(star, current):
                if not ours:
                    return None
                if source not in seen:
                    seen.add(source)
                    pending.append(source)
    return frozenset(found)
