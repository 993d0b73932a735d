"""What was asked of the facts of each file: a later run asks again, to see whether an edit matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")

ALL = "*"
"""Stands for every name of a table: somebody went through all of it."""
Question = tuple[str, str]
"""A table of a file: what sort of table, and the function or class that it is about (none for the file's)."""


class Notes:
    """The names that were looked up, by table; nothing is noted unless it is `wanted`."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted
        self.files: dict[str, dict[Question, set[str]]] = {}
        """For each file, its own tables."""
        self.everywhere: dict[str, set[str]] = {}
        """Tables of the whole project."""
        self.tested: dict[str, set[str]] = {}
        """Names of such tables that were put to a test; it matters what they are, beside what was asked."""

    def asked(self, path: str, sort: str, key: str = "") -> set[str]:
        """Where to note the names that are looked up in a table of a file."""
        return self.files.setdefault(path, {}).setdefault((sort, key), set())

    def of_file(self, table: Mapping[str, V], path: str, sort: str, key: str = "") -> Mapping[str, V]:
        """A table of a file that notes what it is asked for."""
        return Noted(table, self.asked(path, sort, key)) if self.wanted else table

    def of_project(self, table: Mapping[str, V], name: str) -> Mapping[str, V]:
        """A table of the whole project that notes what it is asked for."""
        return Noted(table, self.everywhere.setdefault(name, set())) if self.wanted else table


class Noted(Mapping[str, V]):
    """A table that notes each name it is asked for, also those that it does not hold."""

    __slots__ = ("_asked", "_table")

    def __init__(self, table: Mapping[str, V], asked: set[str]) -> None:
        self._table = table
        self._asked = asked

    def __getitem__(self, name: str) -> V:
        self._asked.add(name)
        return self._table[name]

    def get(self, name: str, default: Any = None) -> Any:
        """What the table holds under a name."""
        self._asked.add(name)
        return self._table.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._asked.add(str(name))
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        self._asked.add(ALL)
        return iter(self._table)

    def __len__(self) -> int:
        self._asked.add(ALL)
        return len(self._table)


class Definitions(Noted[V]):
    """The functions or classes of a file: of each that is looked up, the fields that are read are noted.

    Who goes through all of them is told by their keys; what he reads of each is noted there.
    """

    __slots__ = ("_known", "_open")

    def __init__(self, table: Mapping[str, V], asked: set[str], fields: Callable[[str], set[str]]) -> None:
        super().__init__(table, asked)
        self._open = fields
        self._known: dict[str, V] = {}

    def __getitem__(self, name: str) -> V:
        known = self._known.get(name)
        if known is None:
            fact: Any = _Fact(super().__getitem__(name), self._open(name))
            known = self._known[name] = fact
        return known

    def get(self, name: str, default: Any = None) -> Any:
        """The function or class of this key."""
        if name in self:
            return self[name]
        return default


class _Fact:
    """Stands for the facts of a function or class, and notes which of them are read."""

    def __init__(self, fact: object, asked: set[str]) -> None:
        self.__dict__.update(_fact=fact, _asked=asked)

    def __getattr__(self, name: str) -> Any:  # what was read once is found without this
        value = getattr(self._fact, name)
        self._asked.add(name)
        self.__dict__[name] = value
        return value
