"""Files that Git tracks although a .gitignore names them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from dynamo_lint import files

_HEADER = struct.Struct(">4sII")
_FIXED = 60
"""Bytes of an entry before its flags: times, device, owner, size, and a SHA-1."""
_EXTENDED = 0x4000
_OLDEST, _COMPRESSED = 2, 4
_LARGEST_INDEX = 500_000_000
"""Bytes; a million files take about a hundred of them, in millions."""
_LARGEST_POINTER = 10_000
"""Bytes of a file `.git`, which holds one path."""


class Repositories:
    """The repositories that some paths lie in, each looked at only when it is asked about."""

    def __init__(self) -> None:
        self._above: dict[str, str | None] = {}
        self._tracked: dict[str, frozenset[str]] = {}

    def keep(self, path: str) -> bool:
        """Whether a path that a .gitignore names belongs to the project: Git tracks it, or files below it.

        Where there is no repository, as in an archive of one, nobody says what was ignored in vain.
        """
        repository = self.around(os.path.dirname(path))
        if repository is None:
            return True
        if repository not in self._tracked:
            self._tracked[repository] = _with_folders(tracked(repository))
        return os.path.relpath(path, repository).replace(os.sep, "/") in self._tracked[repository]

    def around(self, folder: str) -> str | None:
        """The working tree of Git that a folder is, or lies in."""
        if folder not in self._above:
            above = os.path.dirname(folder)
            if os.path.exists(os.path.join(folder, ".git")):
                self._above[folder] = folder
            else:
                self._above[folder] = None if above == folder else self.around(above)
        return self._above[folder]


def tracked(repository: str) -> frozenset[str]:
    """The paths in the index of a repository, relative to it; none if it has no index that can be read.

    The layout is that of git's Documentation/gitformat-index.txt. Git is not run: the configuration of a
    repository can name programs that it starts.
    """
    try:
        return frozenset(_paths(files.read(os.path.join(_folder_of(repository), "index"), _LARGEST_INDEX)))
    except (OSError, ValueError, IndexError, struct.error):
        return frozenset()


def _folder_of(repository: str) -> str:
    """The folder of Git: elsewhere for a submodule, or a further working tree."""
    folder = os.path.join(repository, ".git")
    if os.path.isdir(folder):
        return folder
    text = files.read(folder, _LARGEST_POINTER).decode("utf-8")
    return os.path.join(repository, text.partition("gitdir:")[2].strip())


def _paths(index: bytes) -> Iterator[str]:
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or not _OLDEST <= version <= _COMPRESSED:
        raise ValueError("not an index of git")
    at, path = _HEADER.size, b""
    for _ in range(count):
        start, flags = at, int.from_bytes(index[at + _FIXED : at + _FIXED + 2], "big")
        at += _FIXED + (4 if flags & _EXTENDED else 2)
        kept = b""
        if version == _COMPRESSED:
            cut, at = _number(index, at)
            kept = path[: len(path) - cut]
        end = index.index(b"\0", at)
        path = kept + index[at:end]
        yield os.fsdecode(path)
        # Entries are padded to multiples of eight, unless they are compressed.
        at = end + 1 if version == _COMPRESSED else start + (end - start) // 8 * 8 + 8


def _number(index: bytes, at: int) -> tuple[int, int]:
    """A number of variable width (git's varint.c), and where it ends."""
    byte = index[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = index[at]
        value = (value + 1) << 7 | byte & 0x7F
    return value, at + 1


def _with_folders(paths: frozenset[str]) -> frozenset[str]:
    found = set(paths)
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
