"""Finds and ends the processes that a command started and left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

STEPS = ((0, 1.0), (signal.SIGTERM, 3.0), (9, 3.0))
"""Signals to those that are left, and the seconds that each has; none first, for many end by themselves."""

PAUSE = 0.05
"""Seconds between two looks."""

_CHILD_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of linux/prctl.h."""


def adopt_orphans() -> None:
    """Become the parent of what a command leaves behind, on Linux: the init of a container may reap none."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> frozenset[int]:
    """The processes whose parent is this one; none where the system does not list them."""
    found = set()
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal() and _parent(entry.path) == os.getpid():
                found.add(int(entry.name))
    return frozenset(found)


def _parent(folder: str) -> int | None:
    try:
        text = Path(folder, "stat").read_bytes()
    except OSError:
        return None
    # The name stands in parentheses and may hold some; state and parent follow.
    fields = text.rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 else None


def end_remains(group: int, others: Collection[int]) -> int:
    """End what is left of a group, on Linux all that was adopted, and return how many it took signals.

    `others` are children that have nothing to do with it.
    """
    forced: set[int] = set()
    for number, seconds in STEPS:
        deadline = time.monotonic() + seconds
        sent: set[int] = set()
        while left := _left(group, others):
            for process in left - sent if number else ():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
                forced.add(process)
            # What loses its parent by that is adopted in turn.
            sent |= left
            if time.monotonic() > deadline:
                break
            time.sleep(PAUSE)
        else:
            break
    return len(forced)


def _left(group: int, others: Collection[int]) -> set[int]:
    """The numbers to send signals to; one that is negative stands for a group."""
    if sys.platform == "linux":
        return {process for process in children() - set(others) if not _reaped(process)}
    try:
        if not group:
            return set()
        os.kill(-group, 0)
    except (ProcessLookupError, PermissionError):  # as macOS says of the dead
        return set()
    return {-group}


def _reaped(process: int) -> bool:
    """Whether a child has ended; then nothing is left of it."""
    try:
        return os.waitpid(process, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
