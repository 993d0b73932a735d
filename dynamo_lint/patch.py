"""The lines that a unified diff adds or changes, by file: what `git diff` writes, and `diff -u`.

https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.trouble import Trouble

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+(?P<first>\d{1,9})(?:,(?P<new>\d{1,9}))? @@")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_PREFIXES = frozenset("abciow")
"""Set before a path by Git: old, new, commit, index, object, working tree."""
NOWHERE = "/dev/null"


@dataclass(frozen=True, slots=True)
class Patch:
    """The new lines of files."""

    name: str
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The lines that are new in each file, by the path as the patch writes it."""

    def of(self, root: Path, tops: tuple[Path, ...], paths: tuple[str, ...]) -> dict[str, frozenset[int]]:
        """The new lines of those of some files, relative to `root`, that the patch is about.

        It counts paths from one of the `tops`, perhaps behind a prefix such as `b/`.
        """
        here = {str(root / path): path for path in paths}
        found: dict[str, frozenset[int]] = {}
        for written, lines in self.lines.items():
            prefix, _, short = written.partition("/")
            names = (short, written) if prefix in _PREFIXES else (written, short)
            named = (str(top / name) for name in names if name for top in tops)
            if path := next((here[one] for one in named if one in here), None):
                found[path] = found.get(path, frozenset()) | lines
        return found


def read(file: Path, text: bytes | None = None) -> Patch:
    """The patch in a file that a user named, or in `text`; raises `Trouble` for what is none."""
    name = str(file)
    try:
        raw = files.read_named(file) if text is None else text
    except FileNotFoundError:
        raise Trouble(f"{name}: no such file; write it with `git diff main > {name}`") from None
    except OSError as error:
        raise Trouble(f"{name}: cannot be read: {error.strerror}") from None
    return Patch(name, _added(name, raw.split(b"\n")))


def _added(name: str, lines: list[bytes]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    path: str | None = None
    headers = 0
    numbered = iter(enumerate(lines, 1))
    for number, raw in numbered:
        line = raw.decode("utf-8", "surrogateescape").rstrip("\r")
        if line.startswith(("diff --git ", "--- ")):
            path = None if line.startswith("diff") else path
            headers += 1
        elif line.startswith("+++ "):
            path = _path(line.removeprefix("+++ "))
            headers += 1
        elif line.startswith("@@@"):
            raise Trouble(
                f"{name}:{number}: is the diff of a merge; compare two commits: `git diff main HEAD`"
            )
        elif line.startswith("@@"):
            hunk = _HUNK.match(line)
            if hunk is None or path is None:
                why = "no file is named before this hunk" if hunk else "expected `@@ -1,2 +1,3 @@`"
                raise Trouble(f"{name}:{number}: is not a unified diff: {why}")
            new = _hunk(name, number, hunk, numbered)
            if path != NOWHERE:
                found.setdefault(path, set()).update(new)
    if not headers and any(line.strip() for line in lines):
        raise Trouble(f"{name}:1: is not a unified diff: it names no file; write one with `git diff`")
    return {path: frozenset(new) for path, new in found.items()}


def _hunk(name: str, start: int, hunk: re.Match[str], lines: Iterator[tuple[int, bytes]]) -> Iterator[int]:
    """The numbers of the lines that a hunk adds; it ends where it has as many lines as its head says."""
    old, new = (1 if hunk[side] is None else int(hunk[side]) for side in ("old", "new"))
    at, number = int(hunk["first"]), start
    while old > 0 or new > 0:
        number, line = next(lines, (number, b"end"))
        mark = line[:1]
        if mark == b"+" and new > 0:
            yield at
            at, new = at + 1, new - 1
        elif mark == b"-" and old > 0:
            old -= 1
        elif mark in (b" ", b"", b"\r") and old > 0 and new > 0:  # mail takes the blank off an empty line
            at, old, new = at + 1, old - 1, new - 1
        elif mark != b"\\":
            raise Trouble(
                f"{name}:{number}: is not a unified diff: the hunk of line {start} is shorter than it says"
            )


def _path(written: str) -> str:
    """A file name as a header has it: in quotes, or before a tab and a time."""
    if not written.startswith('"'):
        return written.partition("\t")[0].rstrip()
    text = written[1:].rpartition('"')[0].encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(_unescaped, text).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    word = match[1].decode("latin-1")
    return bytes([int(word, 8) & 0xFF if word.isdecimal() else _ESCAPES.get(word, ord(word))])
