"""The project of a probe: the folder that holds its file and all that it imports from there."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.index.decoding import decode

MARKS = ("dynamo-lint.toml", "pyproject.toml", ".git")


def folder_of(path: Path) -> Path:
    """The smallest folder that holds a probe's file and every file that it imports, as far as can be seen."""
    path = path.resolve()
    files = closure(path, home_of(path))
    return Path(os.path.commonpath([str(file.parent) for file in files]))


def home_of(path: Path) -> Path:
    """The project's folder: the nearest one with a mark of a project, or else the file's own."""
    for folder in path.parents:
        if any((folder / mark).exists() for mark in MARKS):
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
