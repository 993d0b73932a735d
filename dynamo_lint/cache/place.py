"""Where the cache lies, and the key that its entries are sealed with: both belong to the user alone.

Never in the checkout by default, because a repository could bring a cache of its own; and wherever it lies,
an entry is believed only if it was sealed with the key in the user's own folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.cache.store import Store, is_pack
from dynamo_lint.dataclass import dataclass

NAME = "dynamo-lint"
FORMER = ".dynamo_lint_cache"
"""Where earlier versions kept it, in the checkout."""
_PROJECT = re.compile(r"[0-9a-f]{32}")
_KEY = "key"
_KEY_SIZE, _LARGEST_KEY = 32, 1000
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of dynamo-lint: see https://bford.info/cachedir/\n"
_HIDDEN = "*\n"
"""A .gitignore that hides all beside it."""
_KEPT_SECONDS = 30 * 86400
"""How long the cache of a project stays that nobody lints any more."""


class _NoCache(Exception):
    """Why there is none, for people."""


def open_store(project: Path, named: Path | None, warn: Callable[[str], None]) -> Store | None:
    """The cache of a project, in a folder of the user's or in the one that is `named`.

    None where it cannot be used, and `warn` is told why.
    """
    try:
        home = _home(project)
        seal = _key(home / _KEY)
        if named is None:
            folder = home / _name(project)
            if not folder.exists():
                _forget_projects(home)
        else:
            folder = _named(named)
        return Store(_owned(folder, named is None), seal, warn)
    except _NoCache as reason:
        warn(f"no cache: {reason}")
    except OSError as error:
        warn(f"the cache in {named or error.filename} cannot be used: {error.strerror}")
    return None


@dataclass(frozen=True, slots=True)
class Cleared:
    """A cache that was removed."""

    folder: Path
    files: int
    bytes: int


def clear(project: Path | None, named: Path | None = None) -> list[Cleared]:
    """Remove the cache of a project, or those of all projects, or the one in a folder that is named.

    Only what a run writes there goes, and no link is followed; the key stays. Raises OSError.
    """
    home = _user_folder() / NAME
    if named is not None:
        try:
            folders = [_named(named)]
        except _NoCache as reason:
            raise OSError(errno.EPERM, str(reason)) from None
    elif project is not None:
        folders = [home / _name(project)]
    else:
        entries = sorted(os.scandir(home), key=lambda entry: entry.name) if home.is_dir() else []
        folders = [Path(entry.path) for entry in entries if _PROJECT.fullmatch(entry.name)]
    return [_cleared(folder) for folder in folders if folder.is_dir() and not folder.is_symlink()]


def _cleared(folder: Path) -> Cleared:
    files.remove_leftovers(folder)
    gone = [entry for entry in os.scandir(folder) if _is_own(entry)]
    size = sum(entry.stat(follow_symlinks=False).st_size for entry in gone)
    for entry in gone:
        os.unlink(entry.path)
    with suppress(OSError):  # something else is in it
        folder.rmdir()
    return Cleared(folder, len(gone), size)


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Whether a run has written a file of a cache: a pack, or one of the marks beside them."""
    if not entry.is_file(follow_symlinks=False):
        return False
    own = {"CACHEDIR.TAG": _TAG, ".gitignore": _HIDDEN}.get(entry.name)
    return is_pack(entry.name) if own is None else files.read(entry.path, links=False) == own.encode()


def _name(project: Path) -> str:
    """The name of the folder that the cache of a project has."""
    return hashlib.blake2b(os.fsencode(os.path.realpath(project)), digest_size=16).hexdigest()


def _home(project: Path) -> Path:
    """The folder of all our caches, which no project may hold."""
    base = _user_folder()
    if not base.is_absolute():
        raise _NoCache("the system names no folder for caches")
    home = base / NAME
    tops = [top for top in (os.path.realpath(project), files.around(project)) if top != os.path.dirname(top)]
    if files.inside(home, tops) or files.project_above(Path(os.path.realpath(base))):
        raise _NoCache(f"{home} lies in a project, which may have brought it along")
    return _owned(home, True)


def _user_folder() -> Path:
    if sys.platform == "linux":
        # What platformdirs says too, but importing it takes a tenth of a run from the cache.
        return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    from platformdirs import user_cache_path

    return user_cache_path()


def _named(folder: Path) -> Path:
    """A folder that was named on the command line; one in the checkout must not be a way out of it."""
    here = Path.cwd()
    lexical = Path(os.path.normpath(folder.absolute()))
    if lexical.is_relative_to(here) and not files.inside(
        lexical, [os.path.realpath(here), files.around(here)]
    ):
        raise _NoCache(f"{folder} is, or lies behind, a link out of the project")
    return lexical


def _owned(folder: Path, private: bool) -> Path:
    """The folder, which is created; it must be the user's, no link, and nobody else may write in it."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        about = os.lstat(folder)
        if not stat.S_ISDIR(about.st_mode):
            raise _NoCache(f"{folder} is a link, or no folder") from None
        if _is_foreign(about) or _is_open(about, 0o022):
            raise _NoCache(f"{folder} is not yours, or can be written by others") from None
    else:
        _tag(folder, private)
    return folder


def _tag(folder: Path, private: bool) -> None:
    """Mark a new folder, so that backups pass it over, and Git where it may lie in a checkout."""
    (folder / "CACHEDIR.TAG").write_text(_TAG, encoding="ascii")
    if not private:
        (folder / ".gitignore").write_text(_HIDDEN, encoding="ascii")


def _key(file: Path) -> bytes:
    """The user's own key, made at the first run."""
    for _ in range(2):
        with suppress(FileNotFoundError):
            about = os.lstat(file)
            if not stat.S_ISREG(about.st_mode) or _is_foreign(about) or _is_open(about, 0o077):
                raise _NoCache(f"{file} is not a file that only you can read; remove it")
            key = files.read(file, _LARGEST_KEY, links=False)
            if len(key) == _KEY_SIZE:
                return key
        handle, draft = files.create_beside(file, 0o600)
        with open(handle, "wb") as stream:
            stream.write(os.urandom(_KEY_SIZE))
        draft.replace(file)
    raise _NoCache(f"{file} cannot be written")


def _is_foreign(about: os.stat_result) -> bool:
    return hasattr(os, "getuid") and about.st_uid != os.getuid()


def _is_open(about: os.stat_result, to: int) -> bool:
    return os.name == "posix" and bool(about.st_mode & to)


def _forget_projects(home: Path) -> None:
    """Drop the caches of projects that have not been linted for a month."""
    for entry in os.scandir(home):
        is_project = _PROJECT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        if is_project and entry.stat().st_mtime < time.time() - _KEPT_SECONDS:
            with suppress(OSError):
                for file in os.scandir(entry.path):
                    os.unlink(file.path)
                os.rmdir(entry.path)
