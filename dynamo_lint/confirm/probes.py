"""Finds probes, functions named `probe_*` at the top level of a file, and their projects; runs nothing."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.decoding import decode
from dynamo_lint.trouble import Trouble


@dataclass(frozen=True, slots=True)
class ProbeRef:
    """A probe by file and name."""

    path: Path
    name: str
    line: int


def probes(path: Path) -> tuple[str, ...]:
    """Names of the probes of a file, in order."""
    return tuple(probe.name for probe in probes_of(path))


def probes_of(path: Path) -> list[ProbeRef]:
    """The probes of a file, in order."""
    tree = ast.parse(decode(files.read(path)))
    return [
        ProbeRef(path, node.name, node.lineno)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("probe_")
    ]


def find(names: Iterable[str], home: Path) -> list[ProbeRef]:
    """The probes that are named: a file, a folder with probes somewhere in it, or `file::probe_name`."""
    found: dict[tuple[Path, str], ProbeRef] = {}
    for name in names:
        for probe in _named(name, home):
            found.setdefault((probe.path, probe.name), probe)
    return list(found.values())


def _named(name: str, home: Path) -> list[ProbeRef]:
    file, _, wanted = name.partition("::")
    path = home / file
    if path.is_dir():
        tops = [files.around(path)]
        candidates = [one for one in sorted(path.rglob("*.py")) if one.is_file() and files.inside(one, tops)]
        chosen = [probe for one in candidates if _mentions_probes(one) for probe in _read(one)]
    elif path.is_file():
        chosen = _read(path)
    else:
        raise Trouble(f"{file}: no such file")
    if wanted:
        chosen = [probe for probe in chosen if probe.name == wanted]
    if not chosen:
        what = f"no probe named {wanted}" if wanted else "no function named probe_*"
        raise Trouble(f"{file}: contains {what}")
    return chosen


def _mentions_probes(path: Path) -> bool:
    try:
        return b"def probe_" in files.read(path)
    except OSError:
        return False


def _read(path: Path) -> list[ProbeRef]:
    try:
        return probes_of(path)
    except (OSError, SyntaxError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Trouble(f"{path}: cannot be read: {why}") from None


def folder_of(path: Path) -> Path:
    """The smallest folder that holds a probe's file and every file that it imports, as far as can be seen."""
    path = path.resolve()
    return Path(os.path.commonpath([str(file.parent) for file in closure(path, home_of(path))]))


def home_of(path: Path) -> Path:
    """The project's folder: the nearest one with a mark of a project, or else the file's own."""
    for folder in path.parents:
        if any((folder / mark).exists() for mark in files.PROJECT_MARKS):
            return folder
    return path.parent


def closure(path: Path, home: Path) -> set[Path]:
    """A file and the files of the project that it imports, directly or not."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [one for one in imported(file, path.parent, home) if one not in found]
    return found


def imported(file: Path, script: Path, home: Path) -> Iterator[Path]:
    """The files of the project that a file imports; `script` is the folder of the program that runs."""
    try:
        tree = ast.parse(decode(files.read(file)))
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                for alias in names:
                    yield from _files(alias.name, (script, home, home / "src"))
            case ast.ImportFrom(module, names, level):
                ways = [file.parents[level - 1]] if level else [script, home, home / "src"]
                yield from _files(module or "", ways)
                for alias in names:
                    yield from _files(".".join(filter(None, (module, alias.name))), ways)


def _files(dotted: str, ways: Iterable[Path]) -> Iterator[Path]:
    """The file of a module in the first of some folders, unless a link leads out of the project."""
    parts = dotted.split(".") if dotted else []
    for way in ways:
        target = way.joinpath(*parts)
        for file in (target.with_suffix(".py") if parts else target / "__init__.py", target / "__init__.py"):
            if file.is_file():
                real = file.resolve()
                if real == file or files.inside(real, [files.around(way)]):
                    yield real
                return
