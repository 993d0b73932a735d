"""The tables by name of a whole project, filled while other processes still read files.

This process has little to do then. What it fills may be asked for by nobody, so it begins only where there
will be questions: in a project that imports torch and speaks of compiling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, FileFacts
from dynamo_lint.regions.uses import Reading, Table

Gathered = Mapping[str, Table]
"""Some of the tables, by their names."""
NOTHING: Gathered = {}


class Gathering:
    """The tables of some readings, which grow file by file: whole once all were added in their order."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = readings
        self._tables: dict[str, Table] = {}
        self._waiting: list[FileFacts] | None = []
        """The files so far, as long as none shows that anybody will ask."""

    @property
    def tables(self) -> Gathered:
        """The tables of all readings, as far as files were added; or none."""
        return self._tables

    def add(self, file: FileFacts) -> None:
        """Take in the next file."""
        if self._waiting is None:
            self._read([file] if self._tables else [])
            return
        self._waiting.append(file)
        if file.compiles and _imports_torch(file):
            files, self._waiting = self._waiting, None
            self._tables = {name: defaultdict(list) for one in self._readings for name in one.tables}
            self._read(files)

    def _read(self, files: list[FileFacts]) -> None:
        try:
            for file in files:
                for reading in self._readings:
                    reading.read(file, *(self._tables[name] for name in reading.tables))
        except RecursionError:
            self._tables = {}  # who asks for one fills it, with more room than there is here


def _imports_torch(file: FileFacts) -> bool:
    """Whether the top level of a file imports torch, or something from it."""
    module = file.functions.get(MODULE_KEY)
    bound = [binding.value for binding in module.bindings] if module is not None else []
    return any(isinstance(v, facts.Import) and v.module.partition(".")[0] == "torch" for v in bound)
