"""Opens what a user names: logs, folders of logs, traces, and what is packed."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from dynamo_lint import files
from dynamo_lint.logs.records import records
from dynamo_lint.logs.tally import Tally
from dynamo_lint.trouble import Trouble

ENDINGS = ("", ".err", ".gz", ".json", ".jsonl", ".log", ".out", ".stderr", ".stdout", ".txt")
"""How the names of logs in a folder end; a file that is named itself may be called anything."""

_RANK = re.compile(r"rank[_\-.]?(\d{1,5})", re.IGNORECASE)

Progress = Callable[[int, int], None]
"""Is told how many bytes have been read, and of how many."""


def read_logs(
    paths: Sequence[Path], ignored: Sequence[str] = (), progress: Progress = lambda done, total: None
) -> Tally:
    """Add up all records of the logs; raises `Trouble` for what cannot be opened.

    `-` is stdin. `ignored` are texts: a record that holds one is known and not counted.
    """
    tally = Tally(ignored)
    chosen = [one for path in paths for one in _files(path)]
    total = sum(_size(one) for one in chosen)
    done = 0
    for number, path in enumerate(chosen):
        hint = _rank(path) if len(chosen) > 1 else None
        before = done
        try:
            with _opened(path) as stream:
                for record in records(stream, lambda count, start=before: progress(start + count, total)):  # type: ignore[misc]
                    tally.add(record, hint, number)
        except (OSError, EOFError) as error:
            if isinstance(error, OSError) and error.strerror:
                raise Trouble(f"{path}: cannot be read: {error.strerror}") from None
            tally.notes.add("truncated")
        done += _size(path)
    return tally


def _files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder, the logs below it that are its own."""
    if str(path) == "-" or not path.is_dir():
        if str(path) != "-" and not path.exists():
            raise Trouble(f"{path}: there is no such file or folder")
        yield path
        return
    tops = [files.around(path)]
    found = [
        one
        for one in sorted(path.rglob("*"))
        if one.suffix.lower() in ENDINGS and one.is_file() and files.inside(one, tops)
    ]
    if not found:
        raise Trouble(f"{path}: holds no logs ({', '.join(ENDINGS[1:])})")
    yield from found


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
    elif path.suffix.lower() == ".gz":
        with gzip.open(path) as packed:
            yield cast(BinaryIO, packed)
    else:
        with path.open("rb") as stream:
            yield stream


def _size(path: Path) -> int:
    """Bytes; 0 where that is not known before."""
    return os.path.getsize(path) if str(path) != "-" and path.is_file() else 0


def _rank(path: Path) -> int | None:
    """The rank that the name of a file or of its folder tells: `rank3.log`, `attempt_0/3/stderr.log`."""
    if found := _RANK.search(path.name):
        return int(found[1])
    return int(path.parent.name) if path.parent.name.isdigit() and len(path.parent.name) < 6 else None
