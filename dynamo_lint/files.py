"""Files that may come from anybody: only regular ones of bounded size are read, and links are told apart.

A checkout can hold links to any file of the user, devices that never end, and pipes that nobody writes to.
What a user names on the command line is the user's own choice; all else is opened here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LARGEST = 64_000_000
"""Bytes; nothing that is written by hand is that large."""

CONFIGURATIONS = ("dynamo-lint.toml", "pyproject.toml")
"""Names of configuration files, looked for in each folder in this order."""
PROJECT_MARKS = (*CONFIGURATIONS, ".git")

_PIECE = 1_000_000
"""Bytes that are asked for at once where a file is larger than it said."""
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

_DRAFT = ".dynamo-lint-draft-{}-{}"
_DRAFTS = re.compile(r"\.dynamo-lint-draft-(\d{1,9})-[0-9a-f]{16}")
_LONG_AGO = 86400.0
"""Seconds after which nobody waits to rename a draft, whatever the number of its process is used for now."""


def read(path: str | Path, largest: int = LARGEST, links: bool = True) -> bytes:
    """The content of a regular file, behind a link only if `links`; all else is an OSError and not opened."""
    with opened(path, links) as handle:
        return _bounded(handle, os.fstat(handle).st_size, largest)


@contextmanager
def opened(path: str | Path, links: bool = True) -> Iterator[int]:
    """A regular file, open for reading."""
    _must_be_regular(os.stat(path, follow_symlinks=links))
    handle = os.open(path, _FLAGS | _NO_WAIT | (0 if links else _NO_LINK))
    try:
        # Once more, because another file may have taken its place.
        _must_be_regular(os.fstat(handle))
        yield handle
    finally:
        os.close(handle)


def read_named(path: str | Path, largest: int = LARGEST) -> bytes:
    """The content of whatever a user has named: `<(command)` is a pipe, and `/dev/null` a device."""
    handle = os.open(path, _FLAGS)
    try:
        return _bounded(handle, 0, largest)
    finally:
        os.close(handle)


def create_beside(target: Path, mode: int = 0o666) -> tuple[int, Path]:
    """A new file in the folder of another, open for writing, which is to be renamed to it or removed.

    Its name cannot be told beforehand, but says who makes it: `remove_leftovers` knows it if that is killed.
    """
    draft = target.with_name(_DRAFT.format(os.getpid(), os.urandom(8).hex()))
    return os.open(draft, _WRITE | os.O_CREAT | os.O_EXCL | _NO_LINK, mode), draft


def remove_leftovers(folder: str | Path, shared: bool = False) -> None:
    """Remove the drafts in a folder that runs have left there which were killed.

    Those of processes that this system does not know stay for a day where other systems share the folder.
    """
    with suppress(OSError):
        owners = {os.geteuid(), os.stat(folder).st_uid} if hasattr(os, "geteuid") else {0}
        for entry in list(os.scandir(folder)):
            if not (named := _DRAFTS.fullmatch(entry.name)):
                continue
            about = os.lstat(entry.path)
            is_old = about.st_mtime < time.time() - _LONG_AGO
            is_left = is_old or (not shared and _is_gone(int(named[1])))
            if is_left and stat.S_ISREG(about.st_mode) and about.st_uid in owners:
                os.unlink(entry.path)


def _is_gone(process: int) -> bool:
    """Whether no other process has this number; outside of POSIX there is no way to ask without harm."""
    if process == os.getpid():
        return True  # a number used anew, as in containers: this one has no drafts yet
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def inside(path: str | Path, tops: Iterable[str]) -> bool:
    """Whether a path, all its links followed, lies in one of these folders or is one; they are real paths."""
    real = os.path.realpath(path)
    return any(real == top or real.startswith(os.path.join(top, "")) for top in tops)


def project_above(folder: Path, marks: Iterable[str] = PROJECT_MARKS) -> Path | None:
    """The nearest folder, from this one up, that looks like a project; a home or root folder never does."""
    too_wide = {Path(folder.anchor)}
    with suppress(RuntimeError):  # a user without a home
        too_wide.add(Path.home())
    for above in (folder, *folder.parents):
        if above not in too_wide and any((above / mark).exists() for mark in marks):
            return above
    return None


def around(folder: str | Path) -> str:
    """How far links in a folder may lead: its repository, or else its project, or else the folder itself."""
    real = Path(os.path.realpath(folder))
    return str(project_above(real, (".git",)) or project_above(real) or real)


def _must_be_regular(about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


def _bounded(handle: int, expected: int, largest: int) -> bytes:
    pieces = []
    room = largest + 1
    wanted = min(expected + 1, room)
    while room > 0 and (piece := os.read(handle, wanted)):
        pieces.append(piece)
        room -= len(piece)
        wanted = min(_PIECE, room)
    if room <= 0:
        raise OSError(errno.EFBIG, f"it is larger than {size(largest)}")
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def size(number: int) -> str:
    """Return a number of bytes as people write it."""
    return f"{number // 1_000_000} MB" if number >= 1_000_000 else f"{number // 1000} kB"
