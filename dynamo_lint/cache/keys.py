"""Addresses of cache entries: a hash of everything their content depends on."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


def key(*parts: object) -> bytes:
    """The address of what was computed from these parts by this program."""
    digest = hashlib.blake2b(_program(), digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def content(source: bytes) -> bytes:
    """The address of a file's content."""
    return hashlib.blake2b(source, digest_size=16).digest()


@lru_cache(maxsize=1)
def _program() -> bytes:
    """This very program: the Python it runs on (whose parser decides), and our own code and tables."""
    package = Path(__file__).parent.parent
    return content(repr((sys.version_info[:3], sorted(_stamps(package)))).encode())


def _stamps(folder: Path) -> Iterable[tuple[str, int, int]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _stamps(Path(entry.path))
        elif entry.name.endswith((".py", ".toml")):
            about = entry.stat()
            yield entry.path, about.st_size, about.st_mtime_ns
