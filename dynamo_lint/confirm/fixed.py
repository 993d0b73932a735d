"""Before and after: the same probes on a copy of the project to which the fixes have been applied."""

from __future__ import annotations

import difflib
import math
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dynamo_lint import files
from dynamo_lint.config import DEFAULT_EXCLUDE
from dynamo_lint.confirm.model import Digest, Receipt
from dynamo_lint.confirm.verdicts import ProbeReport

LARGEST = 10_000_000
"""Bytes; larger files are data and checkpoints, which no probe should need."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A probe before and after the fixes."""

    before: ProbeReport
    after: ProbeReport
    same_outputs: bool | None
    """Whether each call returned the same numbers; None where one of the runs failed."""
    graphs: tuple[str, ...]
    """Operations that came (`+ add`) or went (`- mul`) in the first graph of each function."""


def copied(root: Path, fixed: Mapping[str, bytes], to: Path, needed: Iterable[str] = ()) -> Path:
    """A copy of a project with some files replaced; caches, environments and large files stay behind.

    Folders with files that are `needed` are copied whatever they are called. No link in the copy leads out of
    it: a linked file is copied, a link to a folder leads to its copy, and other links stay behind.
    """
    copy = to / root.name
    above = {str(parent) for path in (*needed, *fixed) for parent in PurePosixPath(path).parents}
    _copy_folder(Path(os.path.realpath(root)), copy, "", above)
    for path, content in fixed.items():
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)
    return copy


def _copy_folder(root: Path, copy: Path, below: str, needed: Collection[str]) -> None:
    (copy / below).mkdir(parents=True)
    for entry in sorted(os.scandir(root / below), key=lambda entry: entry.name):
        path = f"{below}/{entry.name}" if below else entry.name
        left_out = entry.name in DEFAULT_EXCLUDE or entry.name.startswith(".")
        if left_out and not (entry.is_dir() and path in needed):
            continue
        if entry.is_dir():
            if not entry.is_symlink() or (path in needed and files.inside(entry.path, [str(root)])):
                _copy_folder(root, copy, path, needed)
            elif files.inside(entry.path, [str(root)]):
                there = copy / os.path.relpath(os.path.realpath(entry.path), root)
                (copy / path).symlink_to(os.path.relpath(there, (copy / path).parent), True)
        elif entry.is_file() and entry.stat().st_size <= LARGEST:
            with suppress(PermissionError):  # then the program cannot read it either
                shutil.copy2(entry.path, copy / path)


def compared(before: ProbeReport, after: ProbeReport) -> Comparison:
    """Return the comparison of one probe before and after the fixes."""
    ours, theirs = before.reply.receipt, after.reply.receipt
    same = None
    if ours and theirs and ours.failure is None and theirs.failure is None:
        same = _same(before.reply.outputs, after.reply.outputs)
    return Comparison(before, after, same, tuple(_changes(ours, theirs)) if ours and theirs else ())


def _same(ours: Sequence[Digest], theirs: Sequence[Digest]) -> bool:
    return len(ours) == len(theirs) and all(
        len(one) == len(other)
        and all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) for a, b in zip(one, other, strict=True))
        for one, other in zip(ours, theirs, strict=True)
    )


def _changes(ours: Receipt, theirs: Receipt) -> Iterable[str]:
    first, last = _graphs(ours), _graphs(theirs)
    for function in dict.fromkeys([*first, *last]):
        lines = difflib.ndiff(first.get(function, ()), last.get(function, ()))
        changes = [line for line in lines if line[:1] in "+-"]
        if changes:
            yield f"{function}: {', '.join(changes)}"


def _graphs(receipt: Receipt) -> dict[str, tuple[str, ...]]:
    """The first graph of each function."""
    found: dict[str, tuple[str, ...]] = {}
    for one in receipt.compiles:
        found.setdefault(one.function, one.operations)
    return found
