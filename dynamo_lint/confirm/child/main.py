"""Runs one probe in a process of its own: a request file in, a reply file out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.confirm.messages import Reply, request_from_json

NO_TORCH = 42
"""Exit status where torch is not installed."""


def main() -> None:
    """Take the request in the file that is named first and reply in the one named second."""
    request_file, reply_file = map(Path, sys.argv[1:3])
    request = request_from_json(json.loads(request_file.read_text(encoding="utf-8")))
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

    reply_to(request, write)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes replies; each stands in for the one before, so that a crash leaves the last."""

    file: Path

    def __call__(self, reply: Reply) -> Reply:
        draft = self.file.with_suffix(".part")
        draft.write_text(json.dumps(reply.to_json()), encoding="utf-8")
        draft.replace(self.file)
        return reply


if __name__ == "__main__":
    main()
