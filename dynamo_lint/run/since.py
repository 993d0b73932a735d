"""The findings of the commit at which the working tree and a revision part, for `check --since`.

The files of that commit are put into a temporary folder, as they lie in the repository and with the same
folders around them, and linted there with the settings of the working tree.
"""

from __future__ import annotations

import os
import posixpath
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dynamo_lint import files, git
from dynamo_lint.baseline import Key
from dynamo_lint.config import Settings
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.discovery import (
    CODE,
    ENVIRONMENT,
    LARGEST_SETTINGS,
    SETTINGS,
    Discovered,
    DiscoveryError,
    discover,
)
from dynamo_lint.index.launcher_names import kind_of
from dynamo_lint.older import Older, key_of
from dynamo_lint.run.check import hear
from dynamo_lint.run.reading import ALONE, Effort, read_content
from dynamo_lint.sources import Sources
from dynamo_lint.trouble import Trouble

_LAYOUT = frozenset({".gitignore", ENVIRONMENT, *files.CONFIGURATIONS})
"""Names of files that say where a project begins and what belongs to it."""
_MOST_BYTES = 8_000_000_000
"""Bytes of the code of one commit."""
_SAME = 60
"""Bytes of an entry of Git's index that nobody reads here."""


@dataclass(frozen=True, slots=True)
class Base:
    """A commit that was put into a folder, under the path that its repository has."""

    repository: git.Repository
    folder: Path
    paths: frozenset[str]
    """Code of the commit, from the top of the repository."""
    submodules: tuple[str, ...]

    def there(self, path: Path) -> Path:
        """The path below the folder that stands for an absolute path."""
        return self.folder.joinpath(*path.parts[1:])

    def within(self, path: Path) -> str:
        """A path of the working tree from the top of the repository."""
        return path.relative_to(self.repository.top).as_posix()


def older_findings(
    revision: str,
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    effort: Effort = ALONE,
) -> Older:
    """The findings of the merge base of a revision and HEAD."""
    git.check_revision(revision)
    first = found.named[0]
    repository = git.open_repository(first if first.is_dir() else first.parent)
    for path in found.named:
        if not path.is_relative_to(repository.top):
            raise Trouble(f"{path}: is not in the repository {repository.top}, which --since compares with")
    commit = repository.merge_base(revision)
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-since-") as folder:
        base = _put(repository, commit, Path(os.path.realpath(folder)) / "base")
        _add_submodules(base, found)
        keys = _keys(base, settings, found, catalogue, sources, effort)
    return Older(revision, commit, tuple(keys))


def _keys(
    base: Base,
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    effort: Effort,
) -> list[Key]:
    here = _named_there(base, found.named)
    if not here:
        return []
    there = [(base.there(home.absolute()), lines) for home, lines in found.exclude]
    try:
        before = discover(here, there, cwd=base.there(found.root))
    except DiscoveryError:
        return []
    before = replace(before, reported=frozenset(before.files), heard=frozenset(before.launchers))
    nested = tuple(replace(one, top=base.there(one.home)) for one in settings.nested)
    moved = replace(settings, top=base.there(settings.home.absolute()), baseline=None, nested=nested)
    texts = Sources(before.root)
    content = read_content(settings.region_comment, before, texts)
    heard = hear(moved, before, content, catalogue, texts, effort)
    renamed = _renamed(base, found, sources)
    return [key_of(finding, renamed) for finding in heard.reported]


def _named_there(base: Base, named: Sequence[Path]) -> list[Path]:
    """The paths to lint in the commit, so that it reads what the working tree reads for some paths."""
    wanted: dict[Path, None] = {}
    for path in named:
        if not (path.is_dir() and base.there(path).is_dir()):
            # A file belongs to the project around it, and so does what the commit has not.
            folder = path if path.is_dir() else path.parent
            wanted[base.there(files.project_above(folder) or base.repository.top)] = None
        wanted[base.there(path)] = None
    return [path for path in wanted if path.exists()]


def _put(repository: git.Repository, commit: str, folder: Path) -> Base:
    """Write what a commit has of code, of configurations and of the layout of projects into a new folder."""
    base = Base(repository, folder, frozenset(), ())
    top = base.there(repository.top)
    top.mkdir(parents=True)
    every = list(filter(_is_wanted, repository.entries(commit)))
    blobs = [one for one in every if not one.is_submodule]
    if (size := sum(one.size for one in blobs)) > _MOST_BYTES:
        raise Trouble(
            f"{repository.top}: the code of {commit[:7]} is larger than {files.size(_MOST_BYTES)} ({size:,})"
        )
    links = []
    for entry, content in repository.contents(blobs):
        if entry.is_link:
            links.append((entry.path, os.fsdecode(content)))
        else:
            _write(top / entry.path, content)
    # Last, so that nothing is written through one.
    for path, target in links:
        if not _leads_out(path, target):
            with suppress(OSError, ValueError):  # a link of a name that there is, or a system without links
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                (top / path).symlink_to(target)
    # Git tracks all that is here, whatever a .gitignore names: the index says so.
    _write(top / ".git" / "index", _index(one.path for one in blobs))
    return replace(
        base,
        paths=frozenset(one.path for one in blobs if one.path.endswith(CODE)),
        submodules=tuple(one.path for one in every if one.is_submodule),
    )


def _is_wanted(entry: git.Entry) -> bool:
    if entry.is_submodule or entry.is_link:
        return True
    name = posixpath.basename(entry.path)
    if name.endswith(CODE):
        return entry.size <= files.LARGEST
    wanted = name.endswith(SETTINGS) or kind_of(name) != ""
    return name in _LAYOUT or (wanted and entry.size <= LARGEST_SETTINGS)


def _add_submodules(base: Base, found: Discovered) -> None:
    """Add the code of other repositories as it is now: their earlier commits are not known here."""
    inside = tuple(f"{path}/" for path in base.submodules)
    for path in found.files if inside else ():
        file = Path(os.path.normpath(found.root / path))
        if file.is_relative_to(base.repository.top) and base.within(file).startswith(inside):
            with suppress(OSError):
                _write(base.there(file), files.read(file))


def _renamed(base: Base, found: Discovered, sources: Sources) -> dict[str, str]:
    """For files that the working tree has no more the names that they have now, both from the linted root."""
    top = base.repository.top
    gone = sorted(path for path in base.paths if not os.path.lexists(top / path))
    absolute = {path: Path(os.path.normpath(found.root / path)) for path in found.files}
    inside = {path: base.within(file) for path, file in absolute.items() if file.is_relative_to(top)}
    new = [path for path, within in inside.items() if within not in base.paths]
    if not gone or not new:
        return {}
    old_home, new_home = base.folder.parent / "old", base.folder.parent / "new"
    for path in gone:
        with suppress(OSError):
            _write(old_home / path, files.read(base.there(top) / path))
    for path in new:
        with suppress(OSError):
            _write(new_home / inside[path], sources.stored(path))
    return {
        os.path.relpath(top / old, found.root).replace(os.sep, "/"): os.path.relpath(
            top / now, found.root
        ).replace(os.sep, "/")
        for old, now in git.renames(old_home, new_home).items()
    }


def _write(file: Path, content: bytes) -> None:
    """Write a new file; of two names that this system does not tell apart the first one stays."""
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as stream:
            stream.write(content)


def _leads_out(path: str, target: str) -> bool:
    """Whether a link does not lead to a place in the tree that it is part of."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return posixpath.isabs(target) or place == ".." or place.startswith("../") or "\0" in target


def _index(paths: Iterable[str]) -> bytes:
    """An index of Git that names some paths, and says no more of them (see `discovery.tracked`)."""
    entries = []
    for name in sorted(map(os.fsencode, paths)):
        entry = bytes(_SAME) + struct.pack(">H", min(len(name), 0xFFF)) + name
        entries.append(entry + bytes(8 - len(entry) % 8))
    return struct.pack(">4sII", b"DIRC", 2, len(entries)) + b"".join(entries)
