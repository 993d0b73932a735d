"""Finds the file that a path of a log means: the job ran elsewhere, perhaps from an older state of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from dynamo_lint.sources import Sources

_INSTALLED = re.compile(r".*[/\\](?:site-packages|dist-packages)[/\\]")


class Places:
    """The linted files by what a log calls them."""

    def __init__(self, sources: Sources, paths: Iterable[str]) -> None:
        self.sources = sources
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            self._by_name[path.rpartition("/")[2]].append(path)
        self._known: dict[str, str | None] = {}

    def paths(self) -> list[str]:
        """All linted files."""
        return sorted(path for paths in self._by_name.values() for path in paths)

    def file(self, logged: str) -> str | None:
        """The linted file whose path ends most like a logged one; None where two do, or none."""
        if logged not in self._known:
            self._known[logged] = self._find(logged)
        return self._known[logged]

    def spelled(self, logged: str) -> str:
        """The linted file that a logged path means; as logged where there is none."""
        return self.file(logged) or logged

    def moved(self, logged: str, line: int, text: str) -> bool:
        """Whether another text than the logged one stands at a line now; False where that cannot be told."""
        path = self.file(logged)
        return path is not None and bool(text) and not _same(self.sources.line(path, line), text)

    def line_now(self, logged: str, line: int, text: str) -> int:
        """The line nearest to a logged one that holds its text now; the same number if none does."""
        path = self.file(logged)
        if path is None or not text or _same(self.sources.line(path, line), text):
            return line
        found = [number for number, one in enumerate(self.lines(path), 1) if _same(one, text)]
        return min(found, key=lambda number: abs(number - line), default=line)

    def lines(self, path: str) -> list[str]:
        """The lines of a linted file; none where it cannot be read."""
        try:
            return self.sources.text(path).split("\n")
        except (OSError, ValueError, SyntaxError):
            return []

    def _find(self, logged: str) -> str | None:
        if logged.startswith("<"):
            return None
        installed = _INSTALLED.match(logged)
        parts = _parts(logged[installed.end() :] if installed else logged)
        ranked = sorted(
            ((_common(parts, _parts(path)), path) for path in self._by_name.get(parts[-1], ())), reverse=True
        )
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        if installed and ranked[0][0] < len(parts):
            return None
        return ranked[0][1]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\]", path) if part not in ("", ".")] or [""]


def _common(one: list[str], other: list[str]) -> int:
    """How many parts two paths have in common at their ends."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _same(one: str, other: str) -> bool:
    """Whether two lines are the same but for their spaces."""
    return one.split() == other.split()
