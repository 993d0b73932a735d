"""A deep stack for work that recurses as deeply as the code it reads is nested."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LEVELS = 20_000
_STACK = 512 * 1024 * 1024
"""Bytes of address space, not of memory: the system provides what is used."""


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
        # A daemon, so that Ctrl-C ends the program and not just the wait.
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join()
    except RuntimeError as error:  # what a thread raises is kept in `failed`: this one could not be started
        raise MemoryError(str(error)) from None
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(before)
    if failed:
        raise failed[0]
    return done[0]
