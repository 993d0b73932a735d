"""The contract of a team with the compiler: how much its program may compile, recompile and break."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from dynamo_lint.raw_values import Reader, entry, number, strings, table

KEY = "contract"
"""The name of its table in the configuration."""


@dataclass(frozen=True, slots=True)
class ExpectedBreaks:
    """The graph breaks that a team knows of, in a file or in one function of it."""

    path: str
    """Relative to the configuration file, with `/`."""
    function: str
    """Empty for the whole file."""
    count: int


@dataclass(frozen=True, slots=True)
class Contract:
    """The most that a run may cost; None is no limit."""

    max_recompiles: int | None = None
    max_breaks: int | None = None
    max_compiles: int | None = None
    max_limit_hits: int | None = None
    expected_breaks: tuple[ExpectedBreaks, ...] = ()
    ignore_log: tuple[str, ...] = ()

    def as_table(self) -> dict[str, object]:
        """The keys that are set, as the configuration file gives them."""
        given = {one.name.replace("_", "-"): getattr(self, one.name) for one in fields(self)}
        given["expected-breaks"] = {
            f"{one.path}:{one.function}" if one.function else one.path: one.count
            for one in self.expected_breaks
        }
        return {key: value for key, value in given.items() if value not in (None, (), {})}


def read_contract(raw: object) -> Contract:
    """The contract in a table of the configuration; a ValueError says what is wrong with it."""
    if not isinstance(raw, Mapping):
        raise ValueError("a table, such as { max-breaks = 0 }")
    return Contract(**table(raw, _READERS, KEY))


def _expected_breaks(raw: object) -> tuple[ExpectedBreaks, ...]:
    if not isinstance(raw, Mapping):
        raise ValueError('a table of files, such as { "pkg/model.py" = 2 }')
    return tuple(entry(count, _one(place), KEY, "expected-breaks", place) for place, count in raw.items())


def _one(place: str) -> Callable[[object], ExpectedBreaks]:
    """A reader of the number of breaks of one place."""

    def read(raw: object) -> ExpectedBreaks:
        path, _, function = place.partition(":")
        if not path.endswith(".py") or posixpath.isabs(path) or "\\" in path or path.startswith("../"):
            raise ValueError('a Python file below this configuration, such as "pkg/model.py" = 2')
        return ExpectedBreaks(posixpath.normpath(path), function.strip(), number(0)(raw))

    return read


_READERS: Mapping[str, Reader] = {
    "max-recompiles": number(0),
    "max-breaks": number(0),
    "max-compiles": number(0),
    "max-limit-hits": number(0),
    "expected-breaks": _expected_breaks,
    "ignore-log": strings,
}
