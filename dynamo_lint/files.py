"""Reading and writing files beside others that anybody may have put there.

A repository can contain links, and on disk a FIFO or a link to a device: opening one may never return,
reading one may fill the memory. So a file is opened without waiting, and looked at before it is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LARGEST_TEXT = 64_000_000
"""Bytes of a configuration or a baseline."""
LARGEST_SOURCE = 64_000_000
"""Bytes of a source file."""
LARGEST_INDEX = 1_000_000_000
"""Bytes of the index of Git."""
LARGEST_LIST = 4_000_000
"""Bytes of a `.gitignore`, or of the file of Git that names another folder."""

_OPENED = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

DRAFT = ".dynamo-lint-"
"""How the name of a file begins that is not in its place yet."""


def read_bounded(path: str | Path, largest: int, *, links: bool = False) -> tuple[bytes, float]:
    """The bytes of a regular file, and when it was modified, in seconds.

    Raises `OSError` as opening and reading do, and also for a link (unless `links` are to be followed), for
    what is no regular file and for more than `largest` bytes.
    """
    if not links and not _NO_LINK and os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a link")
    descriptor = os.open(path, _OPENED | (0 if links else _NO_LINK))
    with open(descriptor, "rb", buffering=0) as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if about.st_size > largest:
            raise OSError(errno.EFBIG, f"it is larger than {largest // 1_000_000} MB")
        parts = []
        left = largest + 1
        while left and (part := file.read(left)):
            parts.append(part)
            left -= len(part)
        if not left:
            raise OSError(errno.EFBIG, f"it is larger than {largest // 1_000_000} MB")
        return b"".join(parts), about.st_mtime


def read_text(file: Path) -> str:
    """The text of a file in UTF-8 that somebody named; raises what reading and decoding raise."""
    return read_bounded(file, LARGEST_TEXT, links=True)[0].decode("utf-8")


def write_whole(path: str | Path, data: bytes, mode: int = 0o600) -> None:
    """Put bytes in the place of a file, all of them or none; a link there is replaced, not followed.

    The draft beside it is created exclusively: what somebody planted under its name is not written to.
    """
    folder, name = os.path.split(path)
    draft = os.path.join(folder, f"{DRAFT}{name}-{os.urandom(8).hex()}")
    descriptor = os.open(
        draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NO_LINK, 0o600
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        if mode != 0o600:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


class Roots:
    """The folders and files that a run may read and write: what a link leads out of them to is not."""

    def __init__(self, named: Iterable[str | Path]) -> None:
        self._roots = tuple(os.path.realpath(path) for path in named)
        self._folders: dict[str, bool] = {}
        """Whether files in a folder lie inside, as far as the folder decides."""

    def hold(self, path: str) -> bool:
        """Whether the real place of a path lies in one of the roots."""
        if os.path.islink(path):
            return self._inside(os.path.realpath(path))
        folder = os.path.dirname(path)
        if folder not in self._folders:
            self._folders[folder] = self._inside(os.path.realpath(folder))
        return self._folders[folder] or self._inside(os.path.realpath(path))

    def _inside(self, real: str) -> bool:
        return any(real == root or real.startswith(os.path.join(root, "")) for root in self._roots)
