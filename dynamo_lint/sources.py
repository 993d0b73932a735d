"""Reading source text again for the few files that matter after indexing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dynamo_lint.index.summarize import decode


class Sources:
    """Decoded text by path relative to a root, read when first asked for."""

    def __init__(self, root: Path, given: Mapping[str, bytes] | None = None) -> None:
        self._root = root
        self._given = given or {}
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}

    def text(self, path: str) -> str:
        """The text of a file with `\\n` line ends; raises what reading and decoding raise."""
        if path not in self._texts:
            raw = self._given[path] if path in self._given else (self._root / path).read_bytes()
            self._texts[path] = decode(raw)
        return self._texts[path]

    def line(self, path: str, number: int) -> str:
        """One line without its end; empty where the file has no such line or cannot be read."""
        if path not in self._lines:
            try:
                self._lines[path] = self.text(path).split("\n")
            except (OSError, ValueError, SyntaxError):
                self._lines[path] = []
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def stretch(self, path: str, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text from one line and column to another, both from 1."""
        lines = [self.line(path, number) for number in range(start[0], end[0] + 1)]
        lines[-1] = lines[-1][: end[1] - 1]
        lines[0] = lines[0][start[1] - 1 :]
        return "\n".join(lines)
