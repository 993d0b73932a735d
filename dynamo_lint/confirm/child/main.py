"""Runs one probe in a process of its own: a request file in, a reply file out."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from dynamo_lint.confirm.model import Reply, Request, from_json

NO_TORCH = 42
"""Exit status where torch is not installed."""


def main() -> None:
    """Take the request in the file that is named first and reply in the one named second."""
    request_file, reply_file = map(Path, sys.argv[1:3])
    _end_with_the_command(reply_file.parent)
    request = from_json(Request, json.loads(request_file.read_text(encoding="utf-8")))
    write = _Writer(reply_file)
    write(Reply("start"))
    try:
        import torch
    except ImportError as error:
        write(Reply("start", error=f"torch cannot be imported: {error}"))
        sys.exit(NO_TORCH)
    torch.set_num_threads(1)  # two runs must agree to the last bit
    sys.argv[1:] = []
    from dynamo_lint.confirm.child.testimony import reply_to

    if request.confined:
        from dynamo_lint.confirm.child.confined import confine

        confine(reply_file.parent)
    gc.freeze()  # torch's own objects are there for good: no search through all objects need pass them
    reply_to(request, write)


def _end_with_the_command(folder: Path) -> None:
    """See to it that this process, what it started and its folder go when the command does, even if killed.

    The command holds the other end of standard input, for which the probe gets an empty one.
    """
    held = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        if os.read(held, 1):
            return  # somebody else runs this
        shutil.rmtree(folder, ignore_errors=True)
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes replies; each stands in for the one before, so that a crash leaves the last."""

    file: Path

    def __call__(self, reply: Reply) -> Reply:
        draft = self.file.with_suffix(".part")
        draft.write_text(json.dumps(asdict(reply)), encoding="utf-8")
        draft.replace(self.file)
        return reply


if __name__ == "__main__":
    main()
