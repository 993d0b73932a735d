"""The statements of one function, parsed by `ast`: only what needs more than the index is read so closely."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dynamo_lint.index.ir import MODULE_KEY, Function
from dynamo_lint.program.outlines import Lines, outline
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef


class ReadSource(Protocol):
    """Gives the text of a file; if only a function of it is looked at, or its outline, that is noted."""

    def __call__(
        self, path: str, function: Function | None = None, outline: Sequence[Lines] | None = None, /
    ) -> str:
        """The whole text, with `\\n` line ends."""


@dataclass(slots=True)
class Bodies:
    """The statements of functions, each parsed once."""

    project: Project
    read_source: ReadSource
    lines: dict[str, list[str]] = field(default_factory=dict)
    known: dict[FunctionRef, list[ast.stmt] | None] = field(default_factory=dict)
    outlines: dict[str, list[ast.stmt] | None] = field(default_factory=dict)

    def of(self, ref: FunctionRef) -> list[ast.stmt] | None:
        """The statements of a function or file, at their lines in the file; None if it cannot be read."""
        if ref not in self.known:
            self.known[ref] = self._parse(ref)
        return self.known[ref]

    def outline(self, path: str) -> list[ast.stmt] | None:
        """The statements of a file, with nothing inside the functions in it and in its classes."""
        if path not in self.outlines:
            tree = _parsed(self.read_source(path, None, ()))
            lines = outline(tree) if tree is not None else None
            self.read_source(path, None, lines)
            self.outlines[path] = tree.body if tree is not None else None
        return self.outlines[path]

    def line(self, ref: FunctionRef, line: int) -> str:
        """A line in a function or its file."""
        function = self._function(ref)
        inside = function is not None and function.first_line <= line <= function.end_line
        return self._lines(ref if inside else FunctionRef(ref.path, MODULE_KEY))[line - 1]

    def _lines(self, ref: FunctionRef) -> list[str]:
        """The lines of a file, which are looked at in one function."""
        text = self.read_source(ref.path, self._function(ref))
        if ref.path not in self.lines:
            self.lines[ref.path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self.lines[ref.path]

    def _function(self, ref: FunctionRef) -> Function | None:
        return self.project.function(ref) if ref.key != MODULE_KEY else None

    def _parse(self, ref: FunctionRef) -> list[ast.stmt] | None:
        lines = self._lines(ref)
        function = self._function(ref)
        if function is None:
            tree = _parsed("\n".join(lines))
            return tree.body if tree is not None else None
        span = lines[function.first_line - 1 : function.end_line]
        # Empty lines above keep every line number true, and an indented def needs a block around it.
        above = function.first_line - 1
        if span and span[0][:1] in {" ", "\t"}:
            span, above = ["if 1:", *span], above - 1
        tree = _parsed("\n" * above + "\n".join(span) + "\n")
        if tree is None:
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno == function.line:
                return node.body
        return None


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
