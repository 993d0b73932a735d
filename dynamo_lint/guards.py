"""The values that Dynamo guards on, as a file of the project lists those that a team agreed on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass
from dynamo_lint.trouble import Trouble

SCHEMA_VERSION = 1
_FIELDS = ("region", "kind", "name", "type")
Identity = tuple[str, str, str, str]
"""The region, what it is, its name and its type: who writes it, and where, may change."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A value that compiled code reads."""

    region: str
    """Identity of what is compiled: `src/model.py::Net`."""
    kind: str
    """`attribute`, `global` or `environment`."""
    name: str
    """`Net.top_k`, `pkg.model:DEBUG`, or the name of the variable."""
    type: str
    places: tuple[str, ...]
    """Where it is set."""
    writers: str
    """`compiled` code, `outside` of it, its `constructor` alone, `import` of its file, or `nobody`."""

    @property
    def identity(self) -> Identity:
        """The part of it that a team agrees on."""
        return self.region, self.kind, self.name, self.type


def read_guards(file: Path, root: Path) -> frozenset[Identity]:
    """The values that a file lists, with paths from the linted root; a `Trouble` says what is wrong.

    In the file paths count from its folder, so that it does not matter where a run starts.
    """
    try:
        document = json.loads(files.read(file).decode("utf-8"))
    except FileNotFoundError:
        raise Trouble(
            f"{file}: no such file; write it with `dynamo-lint regions --guards --update`"
        ) from None
    except OSError as error:
        raise Trouble(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Trouble(f"{file}: is no guard surface: {error}") from None
    rows = document.get("guards") if isinstance(document, dict) else None
    if not isinstance(rows, list) or document.get("schema_version") != SCHEMA_VERSION:
        raise Trouble(f'{file}: is no guard surface: needs "schema_version": {SCHEMA_VERSION} and "guards"')
    found = set()
    for number, row in enumerate(rows):
        values = [row.get(key) for key in _FIELDS] if isinstance(row, dict) else [None]
        if not all(isinstance(value, str) for value in values):
            wanted = ", ".join(f'"{key}"' for key in _FIELDS)
            raise Trouble(f"{file}: is no guard surface: entry {number} needs {wanted}, each a text")
        region, kind, name, type_ = map(str, values)
        found.add((_from(file.parent, region, root), kind, name, type_))
    return frozenset(found)


def _from(folder: Path, region: str, other: Path) -> str:
    """A region whose path counts from one folder, counted from another."""
    path, mark, name = region.partition("::")
    return os.path.relpath(folder / path, other).replace(os.sep, "/") + mark + name


def written(surface: Iterable[Guarded], file: Path, root: Path) -> str:
    """The text of a file that lists the values."""
    found = {(_from(root, one.region, file.parent), *one.identity[1:]) for one in surface}
    rows = [dict(zip(_FIELDS, one, strict=True)) for one in sorted(found)]
    return json.dumps({"schema_version": SCHEMA_VERSION, "guards": rows}, indent=1) + "\n"
