"""A deep stack for work that recurses as deeply as the code it reads is nested."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LEVELS = 20_000
_STACK = 512 * 1024 * 1024
"""Bytes of address space, not of memory: the system provides what is used."""
_TRIES, _PAUSE = 40, 0.05
"""How often, and after how many seconds, a thread for which there is no room is started again."""


def with_deep_stack(work: Callable[[], T]) -> T:
    """Return or raise as `work` does, in a thread whose stack is large enough for `_LEVELS` calls.

    Raises MemoryError if there is no room for such a thread.
    """
    if sys.getrecursionlimit() >= _LEVELS:
        return work()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # raised again where it is waited for
            failed.append(error)

    before, limit = threading.stack_size(_STACK), sys.getrecursionlimit()
    sys.setrecursionlimit(_LEVELS)
    try:
        _started(run).join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(before)
    if failed:
        raise failed[0]
    return done[0]


def _started(run: Callable[[], None]) -> threading.Thread:
    """Return a thread that runs.

    One that was waited for gives its stack back a moment later: where there is room for one alone, the next
    may have to wait for that.
    """
    for left in reversed(range(_TRIES)):
        # A daemon, so that Ctrl-C ends the program and not just the wait.
        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not left:
                raise MemoryError(str(error)) from None
            time.sleep(_PAUSE)
        else:
            return thread
    raise MemoryError
