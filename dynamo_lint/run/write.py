"""Puts rewritten files in place: each as a whole or not at all, and never over somebody else's change."""

from __future__ import annotations

import difflib
import os
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.fixes.cells import changed_cells
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.run.rewrite import Rewritten

_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def write(root: Path, done: Rewritten) -> dict[str, str]:
    """Replace the files; what could not be replaced, by path, with the reason.

    Files that one fix changed together are replaced together: half of a fix is worse than none. All their
    drafts are complete before the first is renamed, and signals to end wait meanwhile. Half of a group is
    left only where between two renames the process is killed, the power fails or the system refuses one.
    """
    left: dict[str, str] = {}
    for group in done.groups:
        paths = sorted(path for path in group if path in done.files)
        drafts: dict[Path, Path] = {}
        try:
            trouble = _prepare(root, done, paths, drafts)
            if trouble is None:
                with _undisturbed():
                    for target, draft in drafts.items():
                        draft.replace(target)
        except OSError as error:
            trouble = f"cannot be written: {error.strerror}"
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
        if trouble is not None:
            left |= dict.fromkeys(paths, trouble)
    return left


def tidy(root: Path, paths: Iterable[str]) -> None:
    """Remove drafts of runs that were killed from beside these files, where this run may write."""
    top = os.path.realpath(root)
    for folder in sorted({os.path.dirname(os.path.realpath(root / path)) for path in paths}):
        if files.inside(folder, [top, files.around(root)]):
            files.remove_leftovers(folder)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Within it signals to end wait; other threads than the main one are never told of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    # A mask of signals would not do: what another thread receives is handled in this one all the same.
    before = {number: signal.signal(number, lambda one, _: heard.append(one)) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for number in dict.fromkeys(heard):
            signal.raise_signal(number)


def _prepare(root: Path, done: Rewritten, paths: list[str], drafts: dict[Path, Path]) -> str | None:
    """Write a draft beside each file; why the group has to be left alone, if it has to."""
    for path in paths:
        target = Path(os.path.realpath(root / path))
        if not files.inside(target, [os.path.realpath(root), files.around((root / path).parent)]):
            return f"{path} is a link that leads out of the project; name the file itself"
        now = files.read(target)
        if target in drafts or now == done.files[path]:
            continue  # the same file under another name
        if now != done.originals[path]:
            return f"{path} changed on disk during the run; not rewritten"
        if not target.stat().st_mode & 0o222:
            return f"{path} is read-only"
        with _undisturbed():
            handle, drafts[target] = files.create_beside(target, 0o600)
        with open(handle, "wb") as stream:
            stream.write(done.files[path])
            stream.flush()
            os.fsync(stream.fileno())
        _give(drafts[target], target)
        shutil.copymode(target, drafts[target])
    return None


def _give(draft: Path, target: Path) -> None:
    """Give a draft to whom the file belongs: root in a container rewrites the files of somebody else."""
    mine, theirs = os.stat(draft), os.stat(target)
    if hasattr(os, "chown") and (mine.st_uid, mine.st_gid) != (theirs.st_uid, theirs.st_gid):
        with suppress(OSError):  # not ours to give away: it stays with who rewrote it
            os.chown(draft, theirs.st_uid, theirs.st_gid)


def diff(done: Rewritten, spell: dict[str, str]) -> bytes:
    """Return the changes as a unified diff, its lines in the bytes of the files; `spell` says how to write
    each path. Those of a notebook are shown cell by cell, as text: no tool applies them.
    """
    lines = (
        line
        for path in sorted(done.files)
        for line in _changes(path, _quoted(spell.get(path, path)), done.originals[path], done.files[path])
    )
    return "".join(lines).encode("utf-8", "surrogateescape")


def _changes(path: str, shown: str, before: bytes, after: bytes) -> Iterator[str]:
    if not is_notebook(path):
        yield from _unified(shown, before, after)
        return
    for number, old, new in changed_cells(before, after):
        # The last line of a cell has no line end, which nobody wants to be told.
        yield from _unified(f"{shown}:cell {number}", f"{old}\n".encode(), f"{new}\n".encode())


def _quoted(path: str) -> str:
    """A path as Git writes it in a patch: in quotes where one of its characters could end the line."""
    escaped = "".join(
        f"\\{char}" if char in '"\\' else f"\\{ord(char):03o}" if ord(char) < 32 or ord(char) == 127 else char
        for char in path
    )
    return path if escaped == path else f'"{escaped}"'


def _unified(path: str, before: bytes, after: bytes) -> Iterator[str]:
    old, new = _lines(before), _lines(after)
    for line in difflib.unified_diff(old, new, path, path):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(raw: bytes) -> list[str]:
    """Lines as a patch counts them: they end at a line feed and nowhere else, whatever the encoding."""
    pieces = raw.decode("utf-8", "surrogateescape").split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
