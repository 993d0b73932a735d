"""A progress line for people who wait: only on a terminal, only when a run takes longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType

PATIENCE = 1.0
"""Seconds before the line appears; a run that ends sooner never shows it."""

PAUSE = 0.1
"""Seconds between two updates."""


class Progress:
    """Call it with files done and files in all; as a context manager it wipes its line at the end."""

    def __init__(
        self, wanted: bool = True, text: str = "reading {done} of {total} files", unit: int = 1
    ) -> None:
        # Python has no stream at all where the caller closed it.
        self._stream = sys.stderr if wanted and sys.stderr is not None and sys.stderr.isatty() else None
        self._next = time.monotonic() + PATIENCE
        self._shown = False
        self._text, self._unit = text, unit

    def __call__(self, done: int, total: int) -> None:
        """Show how far the run is, if it is time to."""
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        self._next = now + PAUSE
        self._shown = True
        told = self._text.format(done=done // self._unit, total=total // self._unit or "?")
        self._stream.write(f"\r\x1b[K{told}" if done != total else "\r\x1b[Kchecking")
        self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
