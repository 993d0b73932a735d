"""The cache file: one SQLite database of checked entries that any number of runs may share.

SQLite brings locking and rollback, so a run that is killed leaves a whole file behind. Entries are addressed
by what they were made from, so none is ever wrong, only missing: every fault of the file is a miss.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

FOLDER = ".dynamo_lint_cache"
_FILE = "entries.db"
_SCHEMA = "CREATE TABLE entries (key BLOB PRIMARY KEY, used INTEGER, value BLOB) WITHOUT ROWID"
_KEPT_DAYS = 14
_MOST_KEYS = 500
"""Per query; SQLite allows 999 parameters at least."""
_MOST_SAVED = 200
"""Entries per write."""
_PATIENCE = 2.0
"""Seconds to wait for another run that is writing."""


def open_store(folder: Path, warn: Callable[[str], None]) -> Store | None:
    """The cache in a folder, which is created; None where it cannot be used, and `warn` is told why."""
    try:
        _make(folder)
        return Store(folder / _FILE, warn)
    except (OSError, sqlite3.Error) as error:
        warn(f"the cache in {folder} cannot be used: {getattr(error, 'strerror', None) or error}")
        return None


class Store:
    """Values by key. Whatever goes wrong is told to `warn` once, and the run goes on without."""

    def __init__(self, file: Path, warn: Callable[[str], None]) -> None:
        self._file = file
        self._warn = warn
        self._today = int(time.time()) // 86400
        self._database: sqlite3.Connection | None = self._open()

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that have an entry."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        old: list[bytes] = []
        for start in range(0, len(wanted), _MOST_KEYS):
            part = wanted[start : start + _MOST_KEYS]
            marks = ",".join("?" * len(part))
            for key, used, value in self._ask(f"SELECT * FROM entries WHERE key IN ({marks})", part):
                if isinstance(value, bytes) and _checksum(key, value[8:]) == value[:8]:
                    found[key] = value[8:]
                    if used != self._today:
                        old.append(key)
        if old:
            self._write("UPDATE entries SET used = ? WHERE key = ?", [(self._today, key) for key in old])
        return found

    def save(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these values, all of them or none."""
        rows = [(key, self._today, _checksum(key, value) + value) for key, value in entries.items()]
        self._write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)

    def save_all(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep these values, some at a time, because all of them together may be large."""
        rest = iter(entries)
        while part := dict(islice(rest, _MOST_SAVED)):
            self.save(part)

    def close(self) -> None:
        """Drop what no run has asked for in two weeks, and let go of the file."""
        if self._database is not None:
            self._write("DELETE FROM entries WHERE used < ?", [(self._today - _KEPT_DAYS,)])
        if self._database is not None:
            self._database.close()
            self._database = None

    # --- the database -----------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            return _connect(self._file)
        except sqlite3.OperationalError:
            raise  # it cannot be opened at all
        except sqlite3.DatabaseError:
            self._file.unlink()  # no database, or not this one
            return _connect(self._file)

    def _ask(self, query: str, values: list[bytes]) -> list[tuple[bytes, int, bytes]]:
        if self._database is not None:
            try:
                return self._database.execute(query, values).fetchall()
            except sqlite3.Error as error:
                self._fault(error)
        return []

    def _write(self, query: str, rows: Sequence[tuple[object, ...]]) -> None:
        if self._database is not None:
            try:
                with self._database:
                    self._database.execute("BEGIN IMMEDIATE")
                    self._database.executemany(query, rows)
            except sqlite3.Error as error:
                self._fault(error)

    def _fault(self, error: sqlite3.Error) -> None:
        """Go on without the cache. A damaged file is removed; another run that is busy is no fault at all."""
        if isinstance(error, sqlite3.OperationalError):
            if "locked" in str(error):
                return
            self._warn(f"the cache {self._file} cannot be used: {error}")
        else:
            with suppress(OSError):
                self._file.unlink()
        if self._database is not None:
            self._database.close()
            self._database = None


def _connect(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        # The file may come from anybody: its schema must not run anything.
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA synchronous = OFF")
        schema = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master")]
        if not schema:
            database.execute(_SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS"))
            schema = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master")]
        if schema != [_SCHEMA]:
            raise sqlite3.DatabaseError("it holds other tables")
    except BaseException:
        database.close()
        raise
    return database


def _make(folder: Path) -> None:
    """Create the folder, marked so that Git, search tools and backups pass it over."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    (folder / ".gitignore").write_text("*\n", encoding="ascii")
    tag = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of dynamo-lint: see https://bford.info/cachedir/\n"
    (folder / "CACHEDIR.TAG").write_text(tag, encoding="ascii")


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, key=key, digest_size=8).digest()
