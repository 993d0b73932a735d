"""The content of files: bytes for the index, text and lines for what looks closer.

That of a notebook is the module that its code cells are; only who writes or shows it asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dynamo_lint import files
from dynamo_lint.index.decoding import decode
from dynamo_lint.index.notebooks import Notebook, is_notebook, read
from dynamo_lint.searches import SEARCHES

if TYPE_CHECKING:
    from dynamo_lint.index.ir import Function

OUTLINE = ""
"""Stands for the outline of a file among its functions."""
NO_OVERLAY: Mapping[str, bytes] = MappingProxyType({})


class Sources:
    """Text by path relative to a root; an overlay hides what is on disk.

    Each file is read once and kept: a file that is edited during a run stays what it was at its start.
    """

    def __init__(self, root: Path, overlay: Mapping[str, bytes] = NO_OVERLAY) -> None:
        self.root = root
        self._top = str(root)
        self.overlay = overlay
        self._raw: dict[str, bytes] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self.consulted: set[str] = set()
        """Files whose content was asked for."""
        self.opened: dict[str, dict[str, Sequence[tuple[int, int]]]] = {}
        """Of other files the functions whose text was asked for, or the outline, with their lines."""
        self.searched: dict[tuple[str, str], tuple[str, ...]] = {}
        """Searches that were made in all files, how and for what, and the files that answered."""

    def watched(self) -> Sources:
        """The same content, with a memory of its own of what is asked for."""
        same = Sources(self.root, self.overlay)
        same._raw, same._texts, same._lines = self._raw, self._texts, self._lines
        same._notebooks = self._notebooks
        return same

    def raw(self, path: str) -> bytes:
        """The code in a file; raises what reading raises."""
        self.consulted.add(path)
        return self._bytes(path)

    def stored(self, path: str) -> bytes:
        """The bytes of a file as they are stored; raises what reading raises."""
        if is_notebook(path):
            return self.notebook(path).text.encode()
        return self._bytes(path)

    def notebook(self, path: str) -> Notebook:
        """A notebook with its cells; raises what reading raises."""
        if path not in self._notebooks:
            self._notebooks[path] = read(self._read(path))
        return self._notebooks[path]

    def cell(self, path: str, line: int) -> tuple[int, int] | None:
        """The number of the cell of a notebook that a line stands in, and its line there; None elsewhere."""
        try:
            return self.notebook(path).place(line) if is_notebook(path) else None
        except OSError:
            return None

    def _bytes(self, path: str) -> bytes:
        found = self._raw.get(path)
        if found is None:
            found = self._raw[path] = self.notebook(path).code if is_notebook(path) else self._read(path)
        return found

    def _read(self, path: str) -> bytes:
        found = self.overlay.get(path)
        return files.read(os.path.join(self._top, path)) if found is None else found

    def text(
        self, path: str, function: Function | None = None, outline: Sequence[tuple[int, int]] | None = None
    ) -> str:
        """The text of a file with `\\n` line ends; raises what reading and decoding raise.

        Who names a function of the file, or the lines of its outline, looks at these alone.
        """
        if outline is not None:
            self.opened.setdefault(path, {})[OUTLINE] = outline
        elif function is None or function.outer is None:
            self.consulted.add(path)
        else:
            self.opened.setdefault(path, {})[function.key] = [(function.first_line, function.end_line)]
        if path not in self._texts:
            self._texts[path] = decode(self._bytes(path))
        return self._texts[path]

    def line(self, path: str, number: int) -> str:
        """One line without its end; empty where the file has no such line or cannot be read."""
        self.consulted.add(path)
        if path not in self._lines:
            try:
                self._lines[path] = self.text(path).split("\n")
            except (OSError, ValueError, SyntaxError):
                self._lines[path] = []
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def count(self, path: str) -> int:
        """How many lines a file has; none if it cannot be read."""
        self.line(path, 1)
        lines = self._lines[path]
        return len(lines) - (lines[-1:] == [""])

    def stretch(self, path: str, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text from one line and column to another, both from 1."""
        lines = [self.line(path, number) for number in range(start[0], end[0] + 1)]
        lines[-1] = lines[-1][: end[1] - 1]
        lines[0] = lines[0][start[1] - 1 :]
        return "\n".join(lines)

    def holding(self, how: str, text: str, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of all files that hold a text, in one of the ways of `SEARCHES`."""
        if (how, text) not in self.searched:
            self.searched[how, text] = tuple(path for path in paths if self.holds(how, text, path))
        return self.searched[how, text]

    def holds(self, how: str, text: str, path: str) -> bool:
        """Whether one file does; none does that cannot be read."""
        try:
            return SEARCHES[how](text.encode(), self._bytes(path))
        except OSError:
            return False
