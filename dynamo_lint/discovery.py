"""Which files to read, and which of them to report on.

Naming a folder lints the Python files below it, minus what .gitignore and `exclude` leave out. Naming a
file reads its whole project, because what is compiled is rarely decided in the file that suffers, but
reports on that file alone: so a hook that passes changed files agrees with a run over everything.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from dynamo_lint.findings import FileError

LARGEST = 1_000_000
"""Bytes; larger files are generated or data, and are passed over unless they are named."""

PROJECT_MARKS = ("dynamo-lint.toml", "pyproject.toml", ".git")

NAMELESS = Path("<stdin>")
"""What a text without a file name is called; it belongs to no project."""


class DiscoveryError(Exception):
    """A path that cannot be linted."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files of one run; all paths are POSIX and relative to `root`."""

    root: Path
    files: tuple[str, ...]
    """To be read, sorted."""
    reported: frozenset[str]
    """The part of `files` whose findings are wanted."""
    passed_over: tuple[str, ...] = ()
    """Files that were left out for their size."""
    errors: tuple[FileError, ...] = ()
    """Folders that could not be listed."""
    given: Mapping[str, bytes] = field(default_factory=dict)
    """Content that stands in for what is on the disk, by path."""


@dataclass(frozen=True, slots=True)
class Ignores:
    """Ignore patterns with the folder that each set of them is relative to, outermost first."""

    specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    def match(self, path: Path, is_folder: bool) -> bool:
        """The innermost set that has an opinion decides, as in Git."""
        verdict = False
        text = str(path)  # `Path.relative_to` would take half of the time of a cached run
        for folder, spec in self.specs:
            top = os.path.join(folder, "")
            if text.startswith(top):
                relative = text[len(top) :].replace(os.sep, "/") + ("/" if is_folder else "")
                opinion = spec.check_file(relative).include
                verdict = verdict if opinion is None else opinion
        return verdict

    def below(self, folder: Path) -> Ignores:
        """These patterns and those of the folder's own .gitignore."""
        spec = _gitignore(folder)
        return Ignores((*self.specs, (folder, spec))) if spec else self


@dataclass(frozen=True, slots=True)
class Walked:
    """What lies below one folder."""

    files: tuple[Path, ...]
    passed_over: tuple[Path, ...]
    unlistable: tuple[tuple[Path, str], ...]


def base(paths: Sequence[Path], given: Collection[Path] = ()) -> Path:
    """The deepest folder that holds all the paths: where the search for a configuration starts."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise DiscoveryError("the current folder does not exist any more; change to one that does") from None
    for path in paths:
        if path not in given and not path.exists():
            raise DiscoveryError(f"{path}: no such file or folder")
    folders = [absolute if absolute.is_dir() else absolute.parent for absolute in map(_absolute, paths)]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:
        raise DiscoveryError("the paths lie on different drives; lint one drive at a time") from None


def discover(
    paths: Sequence[Path],
    exclude: Sequence[tuple[Path, Sequence[str]]],
    force_exclude: bool = False,
    given: Mapping[Path, bytes] | None = None,
) -> Discovered:
    """Find the Python files for the given paths; each set of `exclude` patterns counts from its folder.

    `given` holds the content of those paths that need not exist.
    """
    given = given or {}
    base(paths, given)
    excludes = Ignores(tuple((folder, GitIgnoreSpec.from_lines(lines)) for folder, lines in exclude))
    for path in paths:
        if path not in given and (path.is_char_device() or path.is_block_device()):
            raise DiscoveryError(f"{path}: is a device, not a file; `-` reads stdin")
    named = [_absolute(path) for path in paths]
    folders = [path for path in named if path.is_dir()]
    single = [path for path in named if not path.is_dir()]
    if force_exclude:
        folders = [path for path in folders if not _left_out(path, excludes)]
        single = [path for path in single if not _left_out(path, excludes)]
    projects = {project for path in single if path.name != NAMELESS.name and (project := _project(path))}

    walks = {folder: _walk(folder, excludes) for folder in {*folders, *projects}}
    reported = {file for folder in folders for file in walks[folder].files} | set(single)
    everything = {file for walk in walks.values() for file in walk.files} | reported
    root = _root([*named, *projects])
    return Discovered(
        root=root,
        files=tuple(sorted(_relative(file, root) for file in everything)),
        reported=frozenset(_relative(file, root) for file in reported),
        passed_over=tuple(
            sorted(
                {_relative(f, root) for walk in walks.values() for f in walk.passed_over if f not in reported}
            )
        ),
        errors=tuple(
            FileError(path, 1, f"this folder cannot be listed: {why}")
            for path, why in sorted(
                {(_relative(f, root), why) for walk in walks.values() for f, why in walk.unlistable}
            )
        ),
        given={_relative(_absolute(path), root): text for path, text in given.items()},
    )


def _walk(top: Path, excludes: Ignores) -> Walked:
    """All Python files below `top`; links to folders come last, so that files keep their real names."""
    ignores = _gitignores_above(top)
    # A folder that was named is wanted even where it is ignored as a whole: then only what lies below counts.
    if ignores.match(top, True):
        ignores = Ignores()
    if excludes.match(top, True) or not any(top.is_relative_to(folder) for folder, _ in excludes.specs):
        excludes = Ignores(tuple((top, spec) for _, spec in excludes.specs))
    files: list[Path] = []
    passed_over: list[Path] = []
    unlistable: list[tuple[Path, str]] = []
    seen: set[str] = set()
    pending = [(top, ignores)]
    links: list[tuple[Path, Ignores]] = []
    while pending or links:
        folder, outer = pending.pop() if pending else links.pop(0)
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        inner = outer.below(folder)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            unlistable.append((folder, error.strerror or str(error)))
            continue
        for entry in entries:
            path = folder / entry.name
            try:
                is_folder = entry.is_dir()
                if not is_folder and not (entry.name.endswith(".py") and entry.is_file()):
                    continue
                size = entry.stat().st_size
            except OSError:
                continue  # gone by now, or a link to itself
            if excludes.match(path, is_folder) or inner.match(path, is_folder):
                continue
            if is_folder:
                (links if entry.is_symlink() else pending).append((path, inner))
            else:
                (files if size <= LARGEST else passed_over).append(path)
    return Walked(tuple(files), tuple(passed_over), tuple(unlistable))


def _gitignores_above(path: Path) -> Ignores:
    """The .gitignore files of the folders above `path`, as far as its repository reaches."""
    repository = next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), None)
    ignores = Ignores()
    if repository is not None:
        for folder in reversed([folder for folder in path.parents if folder.is_relative_to(repository)]):
            ignores = ignores.below(folder)
    return ignores


def _left_out(path: Path, excludes: Ignores) -> bool:
    """A named path that `--force-exclude` drops."""
    is_folder = path.is_dir()
    return excludes.match(path, is_folder) or _gitignores_above(path).match(path, is_folder)


def _gitignore(folder: Path) -> GitIgnoreSpec | None:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return GitIgnoreSpec.from_lines(lines)


def _project(file: Path) -> Path | None:
    """The nearest folder that looks like a project; a home or root folder is never taken for one."""
    too_wide = {Path.home(), Path(file.anchor)}
    for folder in file.parents:
        if folder not in too_wide and any((folder / mark).exists() for mark in PROJECT_MARKS):
            return folder
    return None


def _root(paths: Sequence[Path]) -> Path:
    cwd = Path.cwd()
    if all(path.is_relative_to(cwd) for path in paths):
        return cwd
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))


def _absolute(path: Path) -> Path:
    # Not resolved: a path is reported the way it was given.
    return Path(os.path.normpath(path.absolute()))


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
