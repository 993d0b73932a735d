"""Runs a function in a forked copy of this process, so that nothing it does is felt by the next one.

A program cannot be imported twice with impunity: it registers operators, sets options of torch, starts
threads.
Each run of a probe therefore starts from the same process, with torch loaded and the program not.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import TypeVar

Made = TypeVar("Made")


class Died(Exception):
    """The copy ended without an answer; the text says how."""


def apart(function: Callable[[], Made]) -> Made:
    """Return or raise as `function` does, computed in a copy of this process where the system has copies."""
    if not hasattr(os, "fork"):
        return function()
    with TemporaryDirectory(prefix="dynamo-lint-") as folder:
        answer = Path(folder) / "answer"
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _answer(function, answer)
        _, status = os.waitpid(child, 0)
        if not answer.exists():
            code = os.waitstatus_to_exitcode(status)
            raise Died(f"crashed with {Signals(-code).name}" if code < 0 else f"ended with status {code}")
        made, error = pickle.loads(answer.read_bytes())
    if error is not None:
        raise error
    result: Made = made
    return result


def _answer(function: Callable[[], object], file: Path) -> None:
    """Compute, write, and leave without the clean-up that belongs to the original process."""
    status = 1
    try:
        try:
            told = pickle.dumps((function(), None))
        except BaseException as error:
            told = pickle.dumps((None, Raised.of(error)))
        draft = file.with_suffix(".part")
        draft.write_bytes(told)
        draft.replace(file)
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class Raised(Exception):
    """An exception raised in a copy: its class, the first line of its message, its traceback."""

    @staticmethod
    def of(error: BaseException) -> Raised:
        """An exception of any class as one that every process knows."""
        if isinstance(error, Raised):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        places = tuple((frame.filename, frame.lineno or 0) for frame in frames)
        message = (str(error).strip().splitlines() or [""])[0]
        return Raised(f"{type(error).__name__}: {message}".rstrip(": "), places)

    @property
    def text(self) -> str:
        """Class and message."""
        return str(self.args[0])

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Files and lines, the innermost last."""
        return tuple(self.args[1])
