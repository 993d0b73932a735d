"""The statements of one function, parsed by `ast`: only what needs more than the index is read so closely."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.walking import children
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef


@dataclass(slots=True)
class Bodies:
    """The statements of functions, each parsed once."""

    project: Project
    read_source: Callable[[str], str]
    lines: dict[str, list[str]] = field(default_factory=dict)
    known: dict[FunctionRef, list[ast.stmt] | None] = field(default_factory=dict)
    _generators: dict[FunctionRef, bool] = field(default_factory=dict)

    def of(self, ref: FunctionRef) -> list[ast.stmt] | None:
        """The statements of a function or file, at their lines in the file; None if it cannot be read."""
        if ref not in self.known:
            self.known[ref] = self._parse(ref)
        return self.known[ref]

    def is_generator(self, ref: FunctionRef) -> bool:
        """Whether a function is a generator."""
        if ref not in self._generators:
            self._generators[ref] = _yields(self.of(ref) or [])
        return self._generators[ref]

    def _parse(self, ref: FunctionRef) -> list[ast.stmt] | None:
        if ref.path not in self.lines:
            text = self.read_source(ref.path).replace("\r\n", "\n").replace("\r", "\n")
            self.lines[ref.path] = text.split("\n")
        lines = self.lines[ref.path]
        if ref.key == MODULE_KEY:
            tree = _parsed("\n".join(lines))
            return tree.body if tree is not None else None
        function = self.project.function(ref)
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


def _yields(body: list[ast.stmt]) -> bool:
    """Whether statements make a generator of their function."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending += children(node)
    return False


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
