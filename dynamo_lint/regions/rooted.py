"""The name under which a project imports its own folder: a package, whatever the checkout is called.

`from mylib.engine.model import Net` means `engine/model.py` where the folder of the project is installed, or
put on the path from above, as `mylib`. Nothing in the folder says so, so it is told by the imports: what they
name below `mylib` is there, in the files that they name. A library would have to be laid out in the same way.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection, Mapping
from typing import Any

from dynamo_lint.index.facts import FileFacts, Import

_FEWEST = 3
"""Different imports that are right: fewer may be so by chance."""
_RIGHT = 0.9
"""The part of them that has to be: what a build writes is not there yet."""


def file_of(files: Collection[str], stem: str) -> str | None:
    """The file of a module, or of a package, by its path without an ending."""
    return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in files), None)


class OwnFolder:
    """The files of a project by dotted names that start with a name of its folder."""

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        named: Callable[[str], Mapping[str, list[Any]]],
        bound: Callable[[str], Collection[str]],
    ) -> None:
        self._files = files
        self._named = named
        """Tables of the project by their names."""
        self._bound = bound
        """The names that a file binds."""
        self._own: dict[str, bool] = {}
        nearest = {path.rpartition("/")[0] for path, file in files.items() if file.is_code}
        top = os.path.commonpath(list(nearest)) if nearest else ""
        self._top = f"{top}/" if top else ""
        self._folders: set[str] = set()
        for folder in nearest:
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = folder.rpartition("/")[0]

    def find(self, dotted: str) -> str | None:
        """The file that a dotted name means if its first part is a name of the project's folder."""
        first, _, rest = dotted.partition(".")
        path = self.at_top(rest)
        if path is None:
            return None
        if first not in self._own:
            self._own[first] = self._is_own(first)
        return path if self._own[first] else None

    def at_top(self, rest: str) -> str | None:
        """The file of a dotted name below the folder that all code of the project is in."""
        return file_of(self._files, f"{self._top}{rest.replace('.', '/')}") if rest else None

    def _is_own(self, name: str) -> bool:
        below = (folder for folder in self._folders if len(folder) >= len(self._top))
        if self._is_module(name) or any(folder.rpartition("/")[2] == name for folder in below):
            return False
        answers = [self._is_there(one) for one in dict.fromkeys(self._named("imports").get(name, ()))]
        told = [right for right in answers if right is not None]
        return sum(told) >= max(_FEWEST, _RIGHT * len(told))

    def _is_there(self, target: Import) -> bool | None:
        """Whether the project has what an import names; None where that is no more than its folder."""
        rest = target.module.partition(".")[2]
        if target.name in (None, "*"):
            return self._is_module(rest) if rest else None
        if self._is_module(f"{rest}.{target.name}" if rest else target.name):
            return True
        path = self.at_top(rest)
        return path is not None and (bool(self._files[path].stars) or target.name in self._bound(path))

    def _is_module(self, rest: str) -> bool:
        return f"{self._top}{rest.replace('.', '/')}" in self._folders or self.at_top(rest) is not None
