"""Terminals: colour or not, display width, wrapping, and text without control characters."""

from __future__ import annotations

import os
import re
import textwrap
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

_ORDERS = re.compile(
    r"(?<!\S)::(?=(?:error|warning|notice|debug|group|endgroup|echo|(?:add|remove|set|save|stop|internal)-[a-z-]+)"
    r"(?:[\s:]|$))|##(?=\w*\[)",
    re.IGNORECASE,
)
"""What a CI service takes for an order wherever a log says it: `::error ::`, `##[error]`, `##vso[...]`."""


@dataclass(frozen=True, slots=True)
class Look:
    """How text for people is laid out."""

    colour: bool = False
    width: int = 100
    root: Path = Path()
    """The linted root, as an absolute path."""
    cwd: Path = Path()

    def paint(self, text: str, **style: Any) -> str:
        """Coloured text, if colour is wanted."""
        return click.style(text, **style) if self.colour else text

    def place(self, path: str, *numbers: int) -> str:
        """`path:line:column` that can be clicked: relative to the working directory, or else absolute."""
        absolute = self.root / path
        near = absolute.relative_to(self.cwd) if absolute.is_relative_to(self.cwd) else absolute
        return ":".join((clean(near.as_posix()), *map(str, numbers)))

    def brief(self, path: str, line: int) -> str:
        """`path:line` beside a place that was given in full: below the root if that is elsewhere."""
        return self.place(path, line) if self.root.is_relative_to(self.cwd) else f"{clean(path)}:{line}"

    def wrapped(self, text: str, first: str = "  ", rest: str = "  ") -> str:
        """A paragraph that fits the width; code and paths are never broken."""
        return textwrap.fill(
            clean(text),
            self.width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )


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


def terminal_width() -> int:
    """The terminal's width (COLUMNS overrides it), within what can be read with comfort."""
    return max(60, min(_columns(), 120))


def _columns() -> int:
    """As `shutil.get_terminal_size` has it, without the compressions that its module imports."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 10 and int(told):
        return int(told)
    try:
        return os.get_terminal_size(1).columns or 100  # 1 is stdout
    except OSError:  # closed, or no terminal
        return 100


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
    return sum(map(char_width, text))


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
