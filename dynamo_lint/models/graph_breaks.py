"""The table of what breaks a graph, by torch version and by the settings of Dynamo that turn it off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.models.releases import holds

SWITCHES: Mapping[str, list[str]] = knowledge.table("torch")["switches"]
"""The settings in torch._dynamo.config behind each switch."""
NESTED = "nested_graph_breaks"
"""With this setting a break in a function does not break the functions that call it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of call that breaks a graph."""

    code: str
    does: str
    """What the call does, as the rest of a sentence about it."""
    switch: str = ""
    """The key in `SWITCHES` that turns it off."""
    effect: str = "break"
    release: str = ""
    """A change of releases.toml, under which the effect is another one."""
    changed: str = ""
    since: tuple[int, int] | None = None
    """The first torch version in which it breaks."""
    until: tuple[int, int] | None = None
    """The first after that in which it does not."""
    final: bool = False
    """Nothing that stands before it in the function is kept either."""
    varies: bool = False
    """Its result is another value in each call."""
    fullgraph: bool = True
    """It raises under `fullgraph=True`; else Dynamo captures it there."""
    note: bool = False
    """It is no more than a note: the code says that it is meant."""


@dataclass(frozen=True, slots=True)
class BreakTable:
    """The calls that break a graph under one torch version, by name."""

    torch_version: tuple[int, int]
    functions: Mapping[str, Row]
    """By dotted name."""
    packages: Mapping[str, Row]
    """By the dotted name of the module, for all that is in it."""
    methods: Mapping[tuple[str, str], Row]
    """By the type of the receiver and the name of the method; `*` for all methods."""
    managers: Mapping[str, Row]
    modules: Mapping[str, Row]
    built: Mapping[str, Row]
    named: Mapping[str, Row]
    """The rows that more than a name decides about."""
    traced: frozenset[str]
    """Context managers that Dynamo goes on in after a break."""

    @property
    def makers(self) -> frozenset[str]:
        """The classes and functions of libraries whose objects rows are about."""
        return frozenset({kind for kind, _ in self.methods} | self.managers.keys())

    def applies(self, row: Row, off: Collection[str]) -> bool:
        """Whether a row holds under this version, where some switches turn rows off."""
        version = self.torch_version
        is_due = (row.since is None or version >= row.since) and (row.until is None or version < row.until)
        return row.switch not in off and is_due

    def has(self, change: str) -> bool:
        """Whether this version has a change of releases.toml."""
        return holds(change, self.torch_version)

    def current(self, row: Row) -> Row:
        """A row with the effect that it has under this version."""
        return replace(row, effect=row.changed) if row.release and self.has(row.release) else row

    def function(self, dotted: str) -> Row | None:
        """The row of a function outside the project."""
        return self.functions.get(dotted) or self.packages.get(dotted.rpartition(".")[0])

    def method(self, kind: str, name: str) -> Row | None:
        """The row of a method of `kind`, "tensor" or the dotted name of a class."""
        return self.methods.get((kind, name)) or self.methods.get((kind, "*"))


@cache
def break_table(torch_version: tuple[int, int]) -> BreakTable:
    """The table for a torch version."""
    data = knowledge.table("graph_breaks")
    rows = [(_row(raw), raw) for raw in data["row"]]

    def of(key: str) -> dict[str, Row]:
        return {name: row for row, raw in rows for name in raw.get(key, ())}

    functions = of("functions")
    return BreakTable(
        torch_version,
        {name: row for name, row in functions.items() if not name.endswith(".*")},
        {name.removesuffix(".*"): row for name, row in functions.items() if name.endswith(".*")},
        {(kind, name): row for row, raw in rows for kind, name in _methods(raw)},
        of("managers"),
        of("modules"),
        of("built"),
        {name: _row(raw) for name, raw in data["named"].items()},
        frozenset(data["managers"]["traced"]),
    )


def _row(raw: Mapping[str, Any]) -> Row:
    since, until = raw.get("since"), raw.get("until")
    release, changed = raw.get("changed", ("", ""))
    return Row(
        raw["code"],
        raw["does"],
        raw.get("switch", ""),
        raw.get("effect", "break"),
        release,
        changed,
        _version(since) if since else None,
        _version(until) if until else None,
        raw.get("final", False),
        raw.get("varies", False),
        raw.get("fullgraph", True),
        raw.get("note", False),
    )


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def _methods(raw: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((kind, name) for kind, names in raw.get("methods", {}).items() for name in names)
