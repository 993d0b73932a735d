"""Functions parsed by libcst, with positions in the file."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst
from libcst._nodes.internal import CodegenState

from dynamo_lint.index.ir import Function
from dynamo_lint.program.refs import Position

if TYPE_CHECKING:
    from types import TracebackType


class Offsets(CodegenState):
    """Writes a tree without keeping the text, and remembers where each node began and ended."""

    def __init__(self, module: cst.Module, text: str) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.offset = 0
        self.spans: dict[cst.CSTNode, tuple[int, int]] = {}
        """Start and end of each node, without the whitespace around it."""
        self._starts: list[int] = []
        self._lines = [0]
        for line in text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        module._codegen(self)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    # --- what code generation calls ---------------------------------------------------------------------

    def add_indent_tokens(self) -> None:
        """Indentation is written."""
        for token in self.indent_tokens:
            self.offset += len(token)

    def add_token(self, value: str) -> None:
        """A token is written."""
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        """A node begins, with its whitespace."""
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        """A node ends; most have no narrower span."""
        start = self._starts.pop()
        if node not in self.spans:
            self.spans[node] = (start, self.offset)

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Narrow:
        """Give the node itself as what is written inside the `with`, without whitespace."""
        return _Narrow(self, node, start_node, end_node)


class _Narrow:
    """Records the span of a node; a class, because a generator for each node takes twice as long."""

    __slots__ = ("_end", "_from", "_node", "_offsets", "_start")

    def __init__(
        self, offsets: Offsets, node: cst.CSTNode, start: cst.CSTNode | None, end: cst.CSTNode | None
    ) -> None:
        self._offsets, self._node, self._start, self._end = offsets, node, start, end

    def __enter__(self) -> None:
        self._from = self._offsets.offset

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return  # nested too deeply; the caller is told
        spans = self._offsets.spans
        start = self._from if self._start is None else spans[self._start][0]
        end = self._offsets.offset if self._end is None else spans[self._end][1]
        spans[self._node] = (start, end)


_DEEPEST = 1000
_NESTING = (*"+-*/%@|&^.[(", " else ")


class TooDeep(Exception):
    """Some expression is nested so deeply that libcst would take minutes to parse it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A function's syntax tree, with the shift from span lines to file lines."""

    definition: cst.FunctionDef
    offsets: Offsets
    module: cst.Module
    shift: int

    def position(self, node: cst.CSTNode) -> Position:
        """Where a node stands in its file."""
        start, end = self.offsets.spans[node]
        line, column = self.offsets.place(start)
        end_line, end_column = self.offsets.place(end)
        return Position(line + self.shift, column, end_line + self.shift, end_column)

    def text(self, node: cst.CSTNode) -> str:
        """A node's source, on one line."""
        return " ".join(self.module.code_for_node(node).split())


def open_function(source: str, function: Function, whole: Callable[[], str]) -> Opened | None:
    """Parse a function's own lines; the whole file only if they do not parse alone.

    None for a lambda, which has no statements, and if there is no such function any more; raises TooDeep if
    it cannot be parsed in reasonable time.
    """
    if function.qualname.endswith("<lambda>"):
        return None
    span = _lines(source)[function.first_line - 1 : function.end_line]
    if not span:
        return None
    indented = span[0][:1] in {" ", "\t"}
    # An indented def needs a block around it: one line above keeps every column true.
    text = "\n".join((["if 1:"] if indented else []) + span) + "\n"
    shift = function.first_line - 1 - int(indented)
    return _parse(text, function.line, shift) or _parse(whole(), function.line, 0)


def _too_deep(text: str) -> bool:
    """Whether some expression is nested deeper than libcst's parser can take.

    Its time grows with the cube of the depth (libcst 1.9: a sum of 1000 terms takes a second, one of 3000
    takes 18), while `ast` takes milliseconds.
    """
    # Each level takes one of these; most functions have fewer in all.
    if sum(map(text.count, _NESTING)) < _DEEPEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            level: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # libcst will not parse it either
    depth = 0
    while level and depth <= _DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return bool(level)


@lru_cache(maxsize=4)
def _lines(source: str) -> list[str]:
    # Functions of one file are mostly opened one after the other.
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parse(text: str, line: int, shift: int) -> Opened | None:
    if _too_deep(text):
        raise TooDeep
    try:
        module = cst.parse_module(text)
        offsets = Offsets(module, text)
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, UnicodeError):
        return None
    for definition in _definitions(module):
        # A definition begins at its `def`, below the decorators.
        if offsets.place(offsets.spans[definition.name][0])[0] + shift == line:
            return Opened(definition, offsets, module, shift)
    return None


def _definitions(module: cst.Module) -> Iterator[cst.FunctionDef]:
    """All functions, outermost first: the one that is looked for nearly always is."""
    waiting: deque[cst.CSTNode] = deque([module])
    while waiting:
        current = waiting.popleft()
        if isinstance(current, cst.FunctionDef):
            yield current
        if isinstance(
            current,
            cst.BaseStatement
            | cst.BaseSuite
            | cst.Module
            | cst.Else
            | cst.Finally
            | cst.ExceptHandler
            | cst.MatchCase,
        ):
            waiting.extend(current.children)
