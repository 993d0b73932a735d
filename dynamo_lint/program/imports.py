"""Import resolution: the file of the project that an import statement means.

A project may import its own folder under a package name that nothing in the folder says. It is inferred from
the imports: where what they name below `mylib` lies in the files that they name, `mylib` is the folder.
"""

from __future__ import annotations

import os.path
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from dynamo_lint.index.ir import FileFacts, Import

MODULES = "modules"
"""The table of files, by the last part of what imports may call them."""
SCRIPTS = "scripts"
"""The table of folders with a script."""
Ask = Callable[[str, str], None]
"""Notes a table of the project, and a name in it that an answer rests on."""
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
        ask: Ask,
    ) -> None:
        self._files = files
        self._ask = ask
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
        self._ask(MODULES, rest.rpartition(".")[2])
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


_OUTSIDE = sys.stdlib_module_names | {"torch"}
"""Names that mean no file of a project, whatever lies beside the one that imports them."""


class ModuleFinder:
    """Looks modules up by dotted name, as seen from the file that imports them."""

    def __init__(self, files: Mapping[str, FileFacts], own_folder: OwnFolder, ask: Ask) -> None:
        self._files = files
        self._ask = ask
        self._own_folder = own_folder
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        self._run_in: set[str] = set()
        """Folders with a script: it finds what lies beside it first, and so does all that it imports."""
        for path, file in files.items():
            self._by_name[file.module].append(path)
            folder, _, name = path.rpartition("/")
            tail = folder.rpartition("/")[2] if file.is_package else name.rpartition(".")[0] or name
            self._by_tail[tail].append(path)
            if file.is_script:
                self._run_in.add(folder)
        self._found: dict[tuple[str, str], str | None] = {}
        self._relative: dict[tuple[str, int, str], tuple[str | None, str]] = {}

    def find(self, dotted: str, importer: str) -> str | None:
        """Return the file that `import dotted` in `importer` means, memoised: imports repeat."""
        key = (dotted, importer)
        if key not in self._found:
            self._found[key] = self._find(dotted, importer)
        return self._found[key]

    def imported(self, dotted: str, level: int, importer: str) -> tuple[str | None, str]:
        """The file that `from dotted import …` means after some leading dots, and its whole dotted name.

        Leading dots count folders: they lead to the right file whatever the folders are called, and whether
        or not each of them is a package.
        """
        if not level:
            return self.find(dotted, importer), dotted
        key = (dotted, level, importer)
        if key not in self._relative:
            self._relative[key] = self._below(dotted, level, importer)
        return self._relative[key]

    def _below(self, dotted: str, level: int, importer: str) -> tuple[str | None, str]:
        file = self._files[importer]
        package = file.module.split(".") if file.is_package else file.module.split(".")[:-1]
        whole = ".".join([*package[: len(package) - level + 1], *([dotted] if dotted else [])])
        if not dotted:
            return self.find(whole, importer), whole
        self._ask(MODULES, dotted.rpartition(".")[2])
        folders = importer.split("/")
        stem = "/".join([*folders[: max(len(folders) - level, 0)], *dotted.split(".")])
        return file_of(self._files, stem) if level <= len(folders) else None, whole

    def _find(self, dotted: str, importer: str) -> str | None:
        """Path of the project file that `import dotted` in `importer` means, or None for an outside module.

        The siblings of a script win, then packages by name, then a path that ends like the dotted name (a
        namespace package or a source root that is not the linted root), the nearest of several; then what
        lies beside the scripts of a package, or above; and last a path below the project's folder, which may
        be the package that the first part names.
        """
        self._ask(MODULES, dotted.rpartition(".")[2])
        tail = dotted.replace(".", "/")
        folder, slash, _ = importer.rpartition("/")
        file = self._files[importer]
        siblings = (f"{folder}{slash}{tail}.py", f"{folder}{slash}{tail}/__init__.py")
        sibling = next((path for path in siblings if path in self._files and path != importer), None)
        alone = not file.is_package and "." not in file.module
        outside = dotted.partition(".")[0] in _OUTSIDE
        if sibling is not None and (alone or (file.is_script and not outside)):
            return sibling
        named = [path for path in self._by_name.get(dotted, ()) if "." in dotted or _is_top(path)]
        if outside:  # only what is run from that folder finds the file before the library
            named = [path for path in named if importer.startswith(_folder(path))]
        if sibling is not None and not outside and named and all("/" in path for path in named):
            return sibling  # nearer than what lies beside scripts in another folder
        if not named:
            first, _, last = dotted.rpartition(".")
            if first and not outside:
                ends = (f"/{tail}.py", f"/{tail}/__init__.py")
                named = [path for path in self._by_tail.get(last, ()) if f"/{path}".endswith(ends)]
        if not named and sibling is not None and not outside and self._is_run_in(folder):
            return None if _imports(self._files[sibling], dotted) else sibling
        if not named and not outside:
            own = self._above(tail, importer) or self._own_folder.find(dotted)
            return own if own != importer else None
        return max(named, key=lambda path: (_shared(path, importer), path), default=None)

    def in_namespace(self, dotted: str, name: str) -> str | None:
        """The file that `dotted.name` means after `import dotted.other`, where the top folder is no
        package."""
        if dotted.partition(".")[0] in _OUTSIDE or self._own_folder.at_top(dotted) is not None:
            return None
        return self._own_folder.at_top(f"{dotted}.{name}")

    def _above(self, tail: str, importer: str) -> str | None:
        """The file beside a script above: its folder is on the path of all that it imports."""
        folder = importer.rpartition("/")[0]
        while folder:
            folder = folder.rpartition("/")[0]
            found = file_of(self._files, f"{folder}/{tail}" if folder else tail)
            own = found is not None and not _imports(self._files[found], tail.replace("/", "."))
            if own and self._is_run_in(folder):
                return found
        return None

    def _is_run_in(self, folder: str) -> bool:
        self._ask(SCRIPTS, folder)
        return folder in self._run_in


def _imports(file: FileFacts, dotted: str) -> bool:
    """Whether a file imports a module: one that is called like itself is a library that it is made for."""
    bound = (binding.value for function in file.functions.values() for binding in function.bindings)
    return any(isinstance(one, Import) and one.level == 0 and one.module == dotted for one in bound)


def _folder(path: str) -> str:
    """The folder, with its slash, that a module or package lies in."""
    where = path.removesuffix("/__init__.py")
    return where[: where.rfind("/") + 1]


def _is_top(path: str) -> bool:
    """A top-level module or package: reachable by its bare name from anywhere in the project."""
    return path.count("/") <= (2 if path.endswith("/__init__.py") else 1)


def _shared(path: str, other: str) -> int:
    """How many leading folders two paths have in common."""
    count = 0
    for mine, theirs in zip(path.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
