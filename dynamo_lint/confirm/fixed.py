"""Before and after: the same probes on a copy of the project to which the fixes have been applied."""

from __future__ import annotations

import difflib
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.config import DEFAULT_EXCLUDE
from dynamo_lint.confirm.messages import Digest
from dynamo_lint.confirm.receipt import Receipt
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


def copied(root: Path, files: Mapping[str, bytes], to: Path) -> Path:
    """A copy of a project with some files replaced; caches, environments and large files stay behind."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {
            name
            for name in names
            if name in DEFAULT_EXCLUDE or name.startswith(".") or _large(Path(folder) / name)
        }

    copy = to / root.name
    shutil.copytree(root, copy, ignore=left_out, symlinks=True)
    for path, content in files.items():
        (copy / path).write_bytes(content)
    return copy


def _large(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > LARGEST


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
