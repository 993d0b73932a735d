"""A configuration on top of the one that it extends: the nearer keys win, and paths keep their meaning."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dynamo_lint.contract import KEY as CONTRACT
from dynamo_lint.contract import Contract
from dynamo_lint.levels import Override

TABLES = ("severity", "per-file-ignores", CONTRACT)
"""Keys whose tables are merged row by row."""
_ANYWHERE = "**"

Way = tuple[Sequence[str], Sequence[str]]
"""The names of the folders from one folder up to what it shares with another, and from there down to that."""


def merged(
    outer: Mapping[str, Any], inner: Mapping[str, Any], stated: Mapping[str, object]
) -> dict[str, Any]:
    """The values of two files, by their names in Python; `stated` are the raw ones of the nearer file."""
    values = {**outer, **inner}
    for name in ("severity", "per_file_ignores"):
        if name in outer and name in inner:
            values[name] = {**outer[name], **inner[name]}
    rows, near = stated.get(CONTRACT), inner.get("contract")
    if isinstance(rows, Mapping) and isinstance(near, Contract) and "contract" in outer:
        names = [key.replace("-", "_") for key in rows]
        values["contract"] = replace(outer["contract"], **{name: getattr(near, name) for name in names})
    return values


def moved(values: Mapping[str, Any], folder: Path, home: Path, top: Path) -> dict[str, Any]:
    """The values of a file in `folder` as one in `home` would say them, whose patterns count from `top`."""
    common = Path(os.path.commonpath([folder, top]))
    way = folder.relative_to(common).parts, top.relative_to(common).parts
    new = dict(values)
    for name in ("exclude", "extend_exclude"):
        if name in new:
            # A folder that is named is wanted even where it is excluded as a whole.
            new[name] = tuple(one for one in _all_moved(new[name], way) if one != "*")
    if "per_file_ignores" in new:
        rows = new["per_file_ignores"].items()
        new["per_file_ignores"] = {one: codes for path, codes in rows for one in _moved(path, way)}
    if "overrides" in new:
        tables = [Override(_all_moved(one.paths, way), one.choices) for one in new["overrides"]]
        new["overrides"] = tuple(one for one in tables if one.paths)
    if "contract" in new:
        new["contract"] = _moved_contract(new["contract"], lambda path: _relative(folder / path, home))
    return new


def _moved_contract(contract: Contract, move: Callable[[str], str]) -> Contract:
    """A contract whose paths count from another folder; files that are not below that are of no concern."""
    surface = contract.guard_surface
    breaks = [replace(one, path=move(one.path)) for one in contract.expected_breaks]
    return replace(
        contract,
        guard_surface=move(surface) if isinstance(surface, str) else surface,
        expected_breaks=tuple(one for one in breaks if not one.path.startswith("../")),
    )


def _relative(path: Path, home: Path) -> str:
    return os.path.relpath(path, home).replace(os.sep, "/")


def _all_moved(patterns: Iterable[str], way: Way) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for pattern in patterns for one in _moved(pattern, way)))


def _moved(pattern: str, way: Way) -> list[str]:
    """The patterns that match in a folder what one as in .gitignore matches there.

    A name that counts at any depth counts there too; a path that is not below the folder matches nothing.
    """
    sign = "!" if pattern.startswith("!") else ""
    text = pattern.removeprefix("!")
    names = tuple(text.strip("/").split("/"))
    up, down = way
    states: set[tuple[str, ...]] = set()
    if "/" not in text.rstrip("/"):
        states = {(_ANYWHERE, *names)}
    elif not (up and down):
        states = {(*up, *names)}
    for step in down:
        states = {after for state in states for after in _after(state, step)}
    end = "/" if text.endswith("/") else ""
    return sorted(sign + _spelled(state, end) for state in states)


def _after(state: tuple[str, ...], step: str) -> set[tuple[str, ...]]:
    """The rests of a pattern below a folder of some name; an empty one matches all of it."""
    if not state:
        return {state}
    if state[0] == _ANYWHERE:
        return {state} | (_after(state[1:], step) if state[1:] else set())
    return {state[1:]} if fnmatchcase(step, state[0]) else set()


def _spelled(state: tuple[str, ...], end: str) -> str:
    if not state:
        return "*"
    if state[0] == _ANYWHERE and len(state) == 2:
        return state[1] + end
    return "/" + "/".join(state) + end
