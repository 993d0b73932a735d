"""Jupyter notebooks: the code cells of one as a module, and where the lines of that module stand.

The cells are taken in their order, as one program. Each keeps its lines: what IPython understands and Python
does not (magics, shell commands, questions) becomes a line that does nothing. Of the JSON the place of each
source is known, so that a cell can be rewritten alone.
"""

from __future__ import annotations

import errno
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_lint.dataclass import dataclass

ENDING = ".ipynb"
LINE_END = re.compile(r"\r\n|\r|\n")

_OLDEST = 4
"""The first version of the format in which a notebook has cells of its own, without sheets."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

_CELL_MAGIC = re.compile(r"[ \t]*%%(\S*)")
_BODY_RUNS = frozenset({"capture", "debug", "ipytest", "memit", "prun", "time", "timeit"})
"""Cell magics that run the cell below them as Python, in the notebook itself; others take it as text."""
_TIMED = re.compile(
    r"([ \t]*)%time(?:it)?[ \t]+((?:-[nrp][ \t]*\d+[ \t]+|--?[a-z][a-z-]*[ \t]+)*)"
    r"(?!(?:async|class|def|for|if|match|try|while|with)\b)(?=\S)"
)
"""Line magics that run the statement behind them."""
_ASSIGNED = re.compile(r"([\w., \t\[\]]+)=[ \t]*[%!](?!=)")
"""`files = !ls`, `t = %timeit -o f()`."""
_COMMAND = re.compile(
    r"[ \t]*(?:[%!?]|(?:autoreload|cat|cd|conda|cp|load_ext|ls|mamba|matplotlib|mkdir|mv|pip|rm|uv)"
    r"[ \t]+(?!(?:and|else|if|in|is|not|or)\b)[A-Za-z.~])"
)
"""Magics, commands and questions, also those that IPython knows without their mark."""
_TOKEN = re.compile(
    r"#.*|(?P<open>[\[({])|(?P<close>[\])}])|(?P<quotes>\"\"\"|''')|(?P<question>\?)|(?P<joint>\\$)"
    r"|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?"
)
_UNTIL = {quotes: re.compile(rf"(?:\\.|[^\\])*?{quotes}") for quotes in ('"""', "'''")}
_COOKIE = re.compile(r"\A((?:.*\n)?[ \t\f]*#.*?)coding(?=[:=])")
"""What Python would take for the encoding of a file (PEP 263), and no notebook has."""


class OtherLanguage(OSError):
    """A notebook has no Python that could be read."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell."""

    number: int
    """Its place among all cells, from 1."""
    first: int
    """The line of the module that it begins at."""
    source: str
    code: str
    """Its source as Python, with as many lines, which end in `\\n`."""
    start: int
    """Where its source begins in the JSON: a string, or a list of strings."""
    end: int


@dataclass(frozen=True, slots=True)
class Notebook:
    """The JSON of a notebook, and its code cells in order."""

    text: str
    cells: tuple[Cell, ...]

    @property
    def code(self) -> bytes:
        """The module that the code cells are, each with a line end behind it."""
        text = "".join(f"{cell.code}\n" for cell in self.cells)
        return _COOKIE.sub(r"\1c0ding", text).encode("utf-8", "replace")

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line of the module stands in; None where there is no cell at all."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.first)
        return self.cells[max(at, 1) - 1] if self.cells else None

    def place(self, line: int) -> tuple[int, int] | None:
        """The number of the cell that a line of the module stands in, and its line there."""
        cell = self.cell_at(line)
        return (cell.number, line - cell.first + 1) if cell is not None else None

    def line_of_json(self, line: int) -> int:
        """The line of the file that a line of the module stands on."""
        if (cell := self.cell_at(line)) is None:
            return 1
        at, left = cell.start, line - cell.first
        for literal in literals(self.text, cell) if self.text[at] == "[" else ():
            at, left = literal.start, left - len(LINE_END.findall(literal.text))
            if left < 0:
                break
        return self.text.count("\n", 0, at) + 1


@dataclass(frozen=True, slots=True)
class Literal:
    """A string in the JSON of a notebook, and where it stands there."""

    text: str
    start: int
    end: int


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.endswith(ENDING)


def code_of(path: str, stored: bytes) -> bytes:
    """The Python in a file: a notebook's code cells, or else all of it; raises OSError as `read` does."""
    return read(stored).code if is_notebook(path) else stored


def read(stored: bytes) -> Notebook:
    """The notebook in these bytes; raises OSError if they are none, and OtherLanguage if it is not Python."""
    try:
        text = stored.decode("utf-8")
        document = json.loads(text.removeprefix("\ufeff"))
    except UnicodeDecodeError:
        raise _refused("it is not UTF-8, as notebooks are") from None
    except json.JSONDecodeError as error:
        raise _refused(f"it is not JSON: {error.msg} (line {error.lineno})") from None
    except ValueError:
        raise _refused("it has a number of too many digits") from None
    except (RecursionError, MemoryError):
        raise _refused("it is nested too deeply") from None
    version = document.get("nbformat") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise _refused("it is not a notebook: it says no `nbformat`")
    if version < _OLDEST:
        raise _refused(
            f"it is a notebook of format {version}, and cells are known from {_OLDEST} on; "
            "`jupyter nbconvert --to notebook --inplace` converts it"
        )
    language = _language(document)
    if not language.lower().startswith(("python", "ipython")):
        raise OtherLanguage(errno.EINVAL, f"it is a notebook in {language}, not in Python")
    return Notebook(text, tuple(_cells(document, text)))


def literals(text: str, cell: Cell) -> Iterator[Literal]:
    """The strings that the source of a cell is written as."""
    spans = [(cell.start, cell.end)] if text[cell.start] == '"' else _items(text, cell.start)
    for start, end in spans:
        yield Literal(_DECODER.raw_decode(text, start)[0], start, end)


def _refused(why: str) -> OSError:
    return OSError(errno.EINVAL, why)


def _language(document: Mapping[str, Any]) -> str:
    """The language that the metadata of a notebook names; Python where they name none."""
    metadata = document.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(table) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and isinstance(name := about.get(key), str) and name:
            return name
    return "python"


def _cells(document: Mapping[str, Any], text: str) -> Iterator[Cell]:
    """The code cells of a document, whose text is valid JSON."""
    cells = document.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _refused("it is not a notebook: it has no list of `cells`")
    top = dict(_members(text, len(text) - len(text.lstrip("\ufeff \t\r\n"))))
    line = 1
    for number, (cell, (start, _)) in enumerate(zip(cells, _items(text, top["cells"][0]), strict=True), 1):
        if cell.get("cell_type") != "code" or "source" not in cell or _is_foreign(cell):
            continue
        source = cell["source"]
        if isinstance(source, list) and all(isinstance(part, str) for part in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise _refused(f"it is not a notebook: the source of cell {number} is no text")
        code = as_python(LINE_END.sub("\n", source))
        yield Cell(number, line, source, code, *dict(_members(text, start))["source"])
        line += code.count("\n") + 1


def _is_foreign(cell: Mapping[str, Any]) -> bool:
    """Whether an editor with kernels of several languages runs a cell in another than Python."""
    editor = metadata.get("vscode") if isinstance(metadata := cell.get("metadata"), dict) else None
    return isinstance(editor, dict) and editor.get("languageId", "python") != "python"


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object at an offset, each with where its value begins and ends."""
    at = _next(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _next(text, _next(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield key, (start, end)
        at = _after(text, end)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where each item of the array at an offset begins and ends."""
    at = _next(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield at, end
        at = _after(text, end)


def _after(text: str, end: int) -> int:
    """Where the next item begins behind one, or where the last one's array or object ends."""
    at = _next(text, end)
    return _next(text, at + 1) if text[at] == "," else at


def _next(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match is not None else at


def as_python(source: str) -> str:
    """The source of a cell as Python, line by line: what only IPython understands does nothing."""
    lines = _without_indent(source.split("\n"))
    for number, line in enumerate(lines):
        magic = _CELL_MAGIC.match(line)
        if magic is None and line.strip():
            break
        if magic is not None:
            if magic[1] not in _BODY_RUNS:
                return "\n" * (len(lines) - 1)
            lines[number] = ""
    state = _State()
    command = False
    for number, line in enumerate(lines):
        if command:  # goes on behind a backslash
            lines[number] = ""
        elif state.is_fresh:
            lines[number] = line = _without_mark(line)
            command = state.read(line) or _COMMAND.match(line) is not None
            if command:
                state = _State()
                lines[number] = f"{line[: len(line) - len(line.lstrip())]}pass"
        else:
            state.read(line)
        command = command and line.endswith("\\")
    return "\n".join(lines)


def _without_indent(lines: list[str]) -> list[str]:
    """The lines without the indentation of the first, which IPython takes from all that have it."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(indent) for line in lines] if indent else lines


def _without_mark(line: str) -> str:
    """A line with the statement that a magic runs, or the name that is given its result, and no magic."""
    if timed := _TIMED.match(line):
        # The statement keeps its column.
        return f"{timed[1]}0;".ljust(timed.end()) + line[timed.end() :]
    if assigned := _ASSIGNED.match(line):
        return f"{assigned[1]}= get_ipython()"
    return line


@dataclass(slots=True)
class _State:
    """How far the text before a line leaves a statement, or a string, open."""

    depth: int = 0
    quotes: str = ""
    joined: bool = False

    @property
    def is_fresh(self) -> bool:
        """Whether a statement can begin here."""
        return not (self.depth or self.quotes or self.joined)

    def read(self, line: str) -> bool:
        """Go over a line; whether it has a question mark, which Python has only in strings and comments."""
        at, asks, self.joined = 0, False, False
        while at <= len(line):
            if self.quotes:
                end = _UNTIL[self.quotes].match(line, at)
                if end is None:
                    return asks
                self.quotes, at = "", end.end()
            token = _TOKEN.search(line, at)
            if token is None:
                return asks
            at = token.end()
            match token.lastgroup:
                case "open":
                    self.depth += 1
                case "close":
                    self.depth = max(self.depth - 1, 0)
                case "quotes":
                    self.quotes = token[0]
                case "question":
                    asks = True
                case "joint":
                    self.joined = True
        return asks
