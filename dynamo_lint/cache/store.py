"""The cache: packs of sealed entries in a folder that any number of runs may share.

A pack is written once, under a name of its own, and never changed, so a run that is killed leaves whole packs
behind. Entries are addressed by what they were made from and sealed with a key that only the user has (see
`place`): whatever else lies in the folder, whoever put it there, is a miss.

A pack is a mark, the number of its entries, a row for each of them (address, place, length, day), the seal of
these rows, and then each entry: its seal and its value.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path

from dynamo_lint import files

_MARK = b"dynlint1"
_HEAD = struct.Struct("<8sI")
_ROW = struct.Struct("<16sQII")
_SEAL = 16
_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}\.pack")
"""The time in front: the latest pack has the last word on an address."""
_LARGEST = 200_000_000
"""Bytes of a pack."""
_MOST_WAITING = _SMALL = 4_000_000
"""Bytes of new entries that are held back for one pack; many packs below it are put together."""
_MOST_SMALL = 32
_MOST_PACKS = 2000
_MOST_BYTES = 1_000_000_000
"""Of all packs of a folder; beyond it the oldest go."""
_KEPT_DAYS = 14
_DAY = 86400


_Row = tuple[bytes, int, int, int]
"""The address of an entry, where it starts in its pack, its length, and the day it is from."""


def is_pack(name: str) -> bool:
    """Whether a file is called as a pack is."""
    return _NAME.fullmatch(name) is not None


class Store:
    """Values by address. Whatever goes wrong is told to `warn` once, and the run goes on without."""

    def __init__(self, folder: Path, seal: bytes, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._seal_key = seal
        self._warn = warn
        self._broken = False
        self._today = int(time.time()) // _DAY
        self._waiting: dict[bytes, bytes] = {}
        self._weight = 0
        self._sizes: dict[str, int] = {}
        """The packs, in the order of their age, and their bytes."""
        self._old: set[str] = set()
        """Packs that nobody has asked for anything today."""
        self._used: set[str] = set()
        self._entries: dict[bytes, tuple[str, _Row]] = {}
        """The pack and the row of each address."""
        for name in self._packs():
            self._index(name)

    def load(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those addresses that have an entry."""
        found: dict[bytes, bytes] = {}
        wanted: dict[str, list[_Row]] = {}
        for key in keys:
            if (waiting := self._waiting.get(key)) is not None:
                found[key] = waiting
            elif (entry := self._entries.get(key)) is not None:
                wanted.setdefault(entry[0], []).append(entry[1])
        for name, rows in wanted.items():
            found.update(self._read(name, rows))
        return found

    def save(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these values."""
        if self._broken:
            return
        for key, value in entries.items():
            self._waiting[key] = value
            self._weight += len(value)
        if self._weight > _MOST_WAITING:
            self._write()

    def save_new(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values whose addresses say all about them: those that are there already stay."""
        for key, value in entries:
            if (known := self._entries.get(key)) is not None:
                self._used.add(known[0])
            else:
                self.save({key: value})

    def close(self) -> None:
        """Write what is left, drop what no run has asked for in two weeks, put small packs together."""
        self._write()
        for name in ("", *(self._used & self._old)):
            with suppress(OSError):
                os.utime(self._folder / name)
        small = [name for name, size in self._sizes.items() if size < _SMALL]
        if len(small) > _MOST_SMALL:
            self._put_together(small)
        self._prune()

    # --- reading ----------------------------------------------------------------------------------------

    def _packs(self) -> list[str]:
        """The names of the packs, the oldest first; how large they are is noted."""
        found = []
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    found.append((entry.name, about.st_size))
                    if int(about.st_mtime) // _DAY < self._today:
                        self._old.add(entry.name)
        self._sizes = dict(sorted(found)[-_MOST_PACKS:])
        return list(self._sizes)

    def _index(self, name: str) -> None:
        """Note where the entries of a pack are."""
        with suppress(OSError, struct.error), files.opened(self._folder / name, links=False) as handle:
            mark, count = _HEAD.unpack(os.read(handle, _HEAD.size))
            size = count * _ROW.size
            if mark != _MARK or size > min(self._sizes[name], _LARGEST):
                return
            rows, seal = os.read(handle, size), os.read(handle, _SEAL)
            if compare_digest(seal, self._seal(_MARK, rows)):
                self._entries.update({row[0]: (name, row) for row in _ROW.iter_unpack(rows)})

    def _read(self, name: str, rows: Iterable[_Row]) -> dict[bytes, bytes]:
        """The values of these entries of a pack; the addresses of those that are not whole are forgotten."""
        found: dict[bytes, bytes] = {}
        with suppress(OSError), files.opened(self._folder / name, links=False) as handle:
            for key, start, length, _ in rows:
                os.lseek(handle, start, os.SEEK_SET)
                sealed = os.read(handle, length)
                value = sealed[_SEAL:]
                if compare_digest(sealed[:_SEAL], self._seal(key, value)):
                    found[key] = value
        if found:
            self._used.add(name)
        for key, *_ in rows:
            if key not in found:
                self._entries.pop(key, None)
        return found

    def _seal(self, key: bytes, value: bytes) -> bytes:
        return hashlib.blake2b(key + value, key=self._seal_key, digest_size=_SEAL).digest()

    # --- writing ----------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Write what waits into a pack of its own."""
        if self._waiting:
            self._write_pack(self._waiting, dict.fromkeys(self._waiting, self._today))
            self._waiting, self._weight = {}, 0

    def _write_pack(self, values: Mapping[bytes, bytes], days: Mapping[bytes, int]) -> bool:
        name = f"{time.time_ns():016x}-{os.urandom(8).hex()}.pack"
        table: list[_Row] = []
        at = _HEAD.size + len(values) * _ROW.size + _SEAL
        for key, value in values.items():
            table.append((key, at, _SEAL + len(value), days[key]))
            at += _SEAL + len(value)
        rows = b"".join(_ROW.pack(*row) for row in table)
        draft = None
        try:
            handle, draft = files.create_beside(self._folder / name, 0o600)
            with open(handle, "wb") as stream:
                stream.write(_HEAD.pack(_MARK, len(values)) + rows + self._seal(_MARK, rows))
                stream.writelines(
                    part for key, value in values.items() for part in (self._seal(key, value), value)
                )
            draft.replace(self._folder / name)
        except OSError as error:
            self._broken = True
            self._warn(f"the cache in {self._folder} cannot be used: {error.strerror}")
            if draft is not None:
                with suppress(OSError):
                    draft.unlink()
            return False
        self._sizes[name] = at
        self._entries.update({row[0]: (name, row) for row in table})
        return True

    def _put_together(self, names: list[str]) -> None:
        """One pack in place of many; what is old, or was replaced by a later pack, is left out."""
        chosen = set(names)
        rows: dict[str, list[_Row]] = {}
        for name, row in self._entries.values():
            if name in chosen and row[3] >= self._today - _KEPT_DAYS:
                rows.setdefault(name, []).append(row)
        values: dict[bytes, bytes] = {}
        for name, mine in rows.items():
            values.update(self._read(name, mine))
        days = {row[0]: row[3] for mine in rows.values() for row in mine}
        if not values or self._write_pack(values, days):
            self._remove(names)

    def _prune(self) -> None:
        """Drop packs that no run has asked for anything in two weeks, and drafts of runs that were killed."""
        total = sum(self._sizes.values())
        for name, size in list(self._sizes.items()):
            if total > _MOST_BYTES:
                self._remove([name])
                total -= size
        files.remove_leftovers(self._folder, shared=True)
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                if entry.name in self._old - self._used:
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    if age > _KEPT_DAYS * _DAY:
                        self._remove([entry.name])

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._sizes.pop(name, None)
            with suppress(OSError):
                (self._folder / name).unlink()
