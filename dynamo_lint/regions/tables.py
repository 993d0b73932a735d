"""Whole-program tables by name, each built when it is first asked for.

What one file adds to them is told by its facts alone, so that the next run can ask one file again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dynamo_lint.index.facts import CallSite, Expr, FileFacts, Store
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.gathering import Gathered
from dynamo_lint.regions.notes import Notes
from dynamo_lint.regions.uses import READINGS, Reading, Table

_READING = {table: reading for reading in READINGS for table in reading.tables}


class Tables:
    """Where a name is called, stored, passed on, given another name, or used as a decorator."""

    def __init__(self, files: Mapping[str, FileFacts], notes: Notes, gathered: Gathered) -> None:
        self._files = files
        self._notes = notes
        self._noted: dict[str, Mapping[str, list[Any]]] = {}
        self._raw = dict(gathered)

    def named(self, table: str) -> Mapping[str, list[Any]]:
        """One of the tables."""
        known = self._noted.get(table)
        if known is None:
            if table not in self._raw:
                self._raw.update(tables_of(self._files.values(), _READING[table]))
            known = self._noted[table] = self._notes.of_project(self._raw[table], table)
        return known

    def screened(self, table: str, wanted: Callable[[str], bool]) -> Iterator[Any]:
        """What a table holds under the names that pass a test; of the others it is noted that there are."""
        named = self.named(table)
        names = self._raw[table].keys()
        self._notes.tested.setdefault(table, set()).update(names)
        for name in names:
            if wanted(name):
                yield from named[name]

    def calls_of(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Call sites whose callee ends in `name`."""
        return self.named("calls").get(name, [])

    def stores_of(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Attribute stores `anything.name = …`, in every function."""
        return self.named("stores").get(name, [])

    def items_stored(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Stores into the items of a container that is called so."""
        return self.named("items").get(name, [])

    def aliases_of(self, name: str) -> set[str]:
        """Names that `name` is bound to as it is, through a call (`step = torch.compile(train_step)`), by
        being passed as a keyword (`Spec(parallelize=parallelize_llama)`), or by way of a dictionary."""
        found = set(self.named("aliases").get(name, ()))
        for row in set(self.named("rows").get(name, ())):
            found.add(row)
            found.update(self.named("lookups").get(row, ()))
        if name in self.named("defined") or name in self.named("top"):
            found.update(self.named("keywords").get(name, ()))
        return found

    def other_names(self, names: Iterable[str]) -> set[str]:
        """The names, and all that something so called may have elsewhere: aliases of aliases included."""
        known, others = set(names), self.named("others")
        pending = list(known)
        while pending:
            more = set(others.get(pending.pop(), ())) - known
            known |= more
            pending += more
        return known

    def passed_on(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Calls that pass the function `name` as a keyword argument."""
        return self.named("passed").get(name, []) if name in self.named("defined") else []

    def decorated_with(self, name: str) -> list[tuple[FunctionRef | ClassRef, Expr]]:
        """Functions and classes with a decorator that ends in `name`."""
        return self.named("decorated").get(name, [])

    def derived_from(self, name: str) -> list[ClassRef]:
        """Classes that list a base called `name`, under that name or another that it is imported as."""
        return self.named("derived").get(name, [])

    def texts_of(self, name: str) -> list[str]:
        """The literal strings passed anywhere as keyword `name`: what a configuration field may say."""
        return sorted(set(self.named("texts").get(name, ())))

    def times_defined(self, name: str) -> int:
        """How many functions and methods of the project have a name."""
        return len(self.named("definitions").get(name, ()))

    def is_known(self, name: str) -> bool:
        """Whether anything in the project is called so: a definition, an attribute, an item of a dict."""
        known = name in self.named("known") or name in self.named("defined")
        return known or name in ("__call__", "apply", "forward")


def tables_of(files: Iterable[FileFacts], reading: Reading) -> dict[str, Table]:
    """The tables that one way of reading files fills."""
    tables: dict[str, Table] = {name: defaultdict(list) for name in reading.tables}
    for file in files:
        reading.read(file, *tables.values())
    return tables
