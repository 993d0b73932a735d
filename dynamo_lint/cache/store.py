"""The cache: one file per entry in the user's own cache folder, authenticated, written by rename.

A repository may ship any file, so nothing in one is believed. An entry is read only if it is a plain
file that carries a code made with this user's key, and is written beside its place and moved there, so that a
run that is killed leaves whole files, and any number of runs may share the folder. Entries are addressed by
what they were made from: none is ever wrong, only missing. Every fault of a file is a miss.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from dynamo_lint.files import DRAFT, read_bounded, write_whole

_CODE = 16
"""Bytes of the code before an entry's value."""
_SECRET = 32
"""Bytes of the user's key."""
_LARGEST = 256_000_000
"""Bytes of an entry."""
_KEPT_DAYS = 14
_DAY = 86400
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of dynamo-lint: see https://bford.info/cachedir/\n"


class Unusable(Exception):
    """A folder that cannot be a cache, and why."""


def home() -> Path:
    """The folder of this user for the caches of all projects; it need not exist."""
    from platformdirs import user_cache_path

    return user_cache_path("dynamo-lint", appauthor=False)


def folder_of(project: Path) -> Path:
    """The cache folder of a project, which is known by its real path."""
    name = os.fsencode(os.path.realpath(project))
    return home() / hashlib.blake2b(name, digest_size=16).hexdigest()


def open_store(folder: Path, warn: Callable[[str], None]) -> Store | None:
    """The cache in a folder, which is created; None where it cannot be used, and `warn` is told why."""
    try:
        base = home()
        _own(base)
        secret = _secret(base / "key")
        if _own(folder):
            write_whole(folder / "CACHEDIR.TAG", _TAG.encode())
            write_whole(folder / ".gitignore", b"*\n")
        return Store(folder, secret, warn)
    except (OSError, Unusable, RuntimeError) as error:
        warn(f"no cache is used: {folder}: {getattr(error, 'strerror', None) or error}")
        return None


class Store:
    """Values by key. A fault of the folder is told to `warn` once, and the run goes on without."""

    def __init__(self, folder: Path, secret: bytes, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._secret = secret
        self._warn = warn
        self._now = time.time()
        self._shards: dict[str, str | None] = {}
        """Folders of entries by the first byte of their keys; None for one that is not to be used."""

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that have an entry."""
        found: dict[bytes, bytes] = {}
        for key in keys:
            value = self._load(key)
            if value is not None:
                found[key] = value
        return found

    def save(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these values."""
        self.save_all(entries.items())

    def save_all(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these values, one after the other."""
        for key, value in entries:
            shard = self._shard(key, create=True)
            if shard is not None:
                try:
                    write_whole(os.path.join(shard, key.hex()), self._code(key, value) + value)
                except OSError as error:
                    self._shards[key[:1].hex()] = None
                    self._fault(error)

    def close(self) -> None:
        """Drop what no run has asked for in two weeks, once a day."""
        stamp = self._folder / "pruned"
        try:
            if self._now - os.lstat(stamp).st_mtime < _DAY:
                return
        except OSError:
            pass
        with suppress(OSError):
            write_whole(stamp, b"")
            for path in self._stale():
                with suppress(OSError):
                    os.unlink(path)

    # --- files ------------------------------------------------------------------------------------------

    def _load(self, key: bytes) -> bytes | None:
        shard = self._shard(key, create=False)
        if shard is None:
            return None
        path = os.path.join(shard, key.hex())
        try:
            data, when = read_bounded(path, _LARGEST)
        except OSError:
            return None
        value = data[_CODE:]
        if not hmac.compare_digest(self._code(key, value), data[:_CODE]):
            return None
        if self._now - when > _DAY:
            with suppress(OSError):
                os.utime(path, follow_symlinks=False)
        return value

    def _code(self, key: bytes, value: bytes) -> bytes:
        return hashlib.blake2b(key + value, key=self._secret, digest_size=_CODE).digest()

    def _shard(self, key: bytes, *, create: bool) -> str | None:
        """The folder of an entry, if it is a folder and no link; made where it is to be written to."""
        name = key[:1].hex()
        if self._shards.get(name) is None and (create or name not in self._shards):
            if name in self._shards and not create:
                return None
            path = os.path.join(self._folder, name)
            try:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(path, 0o700)
                self._shards[name] = path if stat.S_ISDIR(os.lstat(path).st_mode) else None
            except FileNotFoundError:
                return None  # nothing was kept there yet
            except OSError as error:
                self._shards[name] = None
                self._fault(error)
        return self._shards.get(name)

    def _stale(self) -> Iterator[str]:
        """Entries that were not asked for in two weeks, and drafts of runs that were killed."""
        for number in range(256):
            shard = self._shard(bytes([number]), create=False)
            for entry in os.scandir(shard) if shard is not None else ():
                age = self._now - entry.stat(follow_symlinks=False).st_mtime
                if age > (_DAY if entry.name.startswith(DRAFT) else _KEPT_DAYS * _DAY):
                    yield entry.path

    def _fault(self, error: OSError) -> None:
        """Say once that the cache cannot be used."""
        self._warn(f"the cache in {self._folder} cannot be used: {error.strerror}")
        self._warn = lambda _: None


def _own(folder: Path) -> bool:
    """Make a folder for this user alone; raise `Unusable` for one that others may write to."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
        return True
    except FileExistsError:
        pass
    about = os.lstat(folder)
    if not stat.S_ISDIR(about.st_mode):
        raise Unusable("it is no folder, or a link")
    if hasattr(os, "getuid"):
        if about.st_uid != os.getuid():
            raise Unusable("it belongs to somebody else")
        if about.st_mode & 0o022:
            raise Unusable("others may write to it: chmod go-w")
    return False


def _secret(file: Path) -> bytes:
    """The key of this user, made at the first run; nobody else may read it."""
    if not os.path.lexists(file):
        draft = file.with_name(f"{DRAFT}key-{os.urandom(8).hex()}")
        write_whole(draft, os.urandom(_SECRET))
        # A run at the same time may have been first: its key stays.
        with suppress(FileExistsError):
            os.link(draft, file) if hasattr(os, "link") else os.rename(draft, file)
        with suppress(FileNotFoundError):
            os.unlink(draft)
    about = os.lstat(file)
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o077):
        raise Unusable(f"{file} is not this user's alone: remove it")
    secret, _ = read_bounded(file, _SECRET)
    if len(secret) != _SECRET:
        raise Unusable(f"{file} is damaged: remove it")
    return secret
