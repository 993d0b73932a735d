"""Reading a small text file that somebody named."""

from __future__ import annotations

import errno
from pathlib import Path

LARGEST = 64_000_000
"""Bytes; no configuration or baseline is that large, and a device could be read until memory ends."""


def read_text(file: Path) -> str:
    """The text of a file in UTF-8; raises what reading and decoding raise."""
    with file.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1_000_000} MB")
    return data.decode("utf-8")
