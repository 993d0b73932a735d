"""Terminals: colour or not, display width, wrapping, and text without control characters."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click

from dynamo_lint.dataclass import dataclass

_ORDERS = re.compile(
    r"(?<!\S)::(?=(?:error|warning|notice|debug|group|endgroup|echo|(?:add|remove|set|save|stop|internal)-[a-z-]+)"
    r"(?:[\s:]|$))|##(?=\w*\[)",
    re.IGNORECASE,
)
"""What a CI service takes for an order wherever a log says it: `::error ::`, `##[error]`, `##vso[...]`."""

_WORDS = re.compile(r"(\s*)(\S+)")
_LEAST_ROOM = 20
"""Columns that a text beside a head needs, if it is not shorter."""


def no_cell(path: str, line: int) -> tuple[int, int] | None:
    """The cell of a line where there are no notebooks: none."""


def numbered(cell: tuple[int, int] | None, line: int, *column: int) -> str:
    """`line:column`; in the cell of a notebook `cell 3:line:column`."""
    return ":".join(map(str, (line, *column) if cell is None else (f"cell {cell[0]}", cell[1], *column)))


@dataclass(frozen=True, slots=True)
class Look:
    """How text for people is laid out."""

    colour: bool = False
    width: int = 100
    wraps: bool = False
    """The width is that of a terminal, or was named; in a pipe or a file a sentence stays one line."""
    root: Path = Path()
    """The linted root, as an absolute path."""
    cwd: Path = Path()
    cell: Callable[[str, int], tuple[int, int] | None] = no_cell
    """The number of the cell that a line of a notebook stands in, and its line there."""

    def paint(self, text: str, **style: Any) -> str:
        """Coloured text, if colour is wanted."""
        return click.style(text, **style) if self.colour else text

    def spot(self, path: str, line: int, *column: int) -> str:
        """`line:column` as it is written behind a path."""
        return numbered(self.cell(path, line), line, *column)

    def place(self, path: str, *numbers: int) -> str:
        """`path:line:column` that can be clicked: relative to the working directory, or else absolute."""
        absolute = self.root / path
        near = absolute.relative_to(self.cwd) if absolute.is_relative_to(self.cwd) else absolute
        return ":".join((clean(near.as_posix()), *([self.spot(path, *numbers)] if numbers else [])))

    def brief(self, path: str, line: int) -> str:
        """`path:line` beside a place that was given in full: below the root if that is elsewhere."""
        if self.root.is_relative_to(self.cwd):
            return self.place(path, line)
        return f"{clean(path)}:{self.spot(path, line)}"

    def wrapped(self, text: str, first: str = "  ", rest: str = "  ") -> str:
        """A paragraph that fits the width; words are never broken, so paths and codes can be copied."""
        return self.filled(clean(text), first, rest)

    def filled(self, text: str, first: str = "  ", rest: str = "  ") -> str:
        """The same of text that is clean already, and may be painted."""
        lines: list[str] = []
        line, used = first, shown_width(first)
        for number, (gap, word) in enumerate(_WORDS.findall(text)):
            width = shown_width(word)
            if number and used + len(gap) + width > self.width:
                lines.append(line)
                line, used, gap = rest, shown_width(rest), ""
            line += gap + word
            used += len(gap) + width
        return "\n".join([*lines, line])

    def line(self, text: str, first: str = "", rest: str = "    ") -> str:
        """A clean sentence, wrapped for a terminal only."""
        return self.filled(text, first, rest) if self.wraps else first + text

    def beside(self, head: str, text: str) -> str:
        """Clean text to the right of a head; below it where the head leaves little room."""
        indent = shown_width(head)
        if indent + min(_LEAST_ROOM, shown_width(text)) <= self.width:
            return self.filled(text, head, " " * indent)
        below = " " * (len(head) - len(head.lstrip()) + 4)
        return head.rstrip() + "\n" + self.filled(text, below, below)


def wants_colour(mode: str, stream: IO[str] | None) -> bool:
    """`always` and `never` are orders; `auto` asks NO_COLOR, then FORCE_COLOR, then the stream."""
    if mode != "auto":
        return mode == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    # Python has no stream at all where the caller closed it.
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def look_on(color: str, to_stderr: bool = False) -> Look:
    """How to lay out text on a stream; COLUMNS overrides the width of its terminal."""
    colour = wants_colour(color, sys.stderr if to_stderr else sys.stdout)
    columns = _columns(2 if to_stderr else 1)
    return Look(colour, max(40, min(columns or 100, 120)), wraps=columns > 0)


def _columns(descriptor: int) -> int:
    """The width of a terminal, 0 if there is none.

    As `shutil.get_terminal_size` has it, without the compressions that its module imports.
    """
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 10 and int(told):
        return int(told)
    try:
        return os.get_terminal_size(descriptor).columns
    except OSError:  # closed, or no terminal
        return 0


def clean(text: str) -> str:
    """Text that steers neither a terminal nor a CI service: what could is shown, character by character."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() or char == "\t" else _visible(char) for char in text)
    if "::" in text or "##" in text:
        text = _ORDERS.sub(lambda order: order[0][0] + "\ufffd", text)
    return text


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {word if number == 1 else plural or word + 's'}"


def char_width(char: str) -> int:
    """Terminal cells that a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def text_width(text: str) -> int:
    """Terminal cells that a text takes."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def shown_width(text: str) -> int:
    """The same of text that may be painted."""
    return text_width(click.unstyle(text) if "\x1b" in text else text)


def clipped(text: str, width: int) -> str:
    """Text cut to a width, with an ellipsis where something is missing."""
    if text_width(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += char_width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept) + "…"


def _visible(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
