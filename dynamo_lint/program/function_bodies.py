"""The text of functions, parsed by `ast`: only what needs more than the index is read so closely."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import MODULE_KEY, Function
from dynamo_lint.index.walking import children, nodes
from dynamo_lint.program.outlines import Lines, outline
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef, Position

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_Placed = ast.expr | ast.stmt | ast.arg


@dataclass(frozen=True, slots=True)
class Opened:
    """A function's statement, and the lines of its file."""

    definition: Definition
    lines: list[str]

    def position(self, node: _Placed) -> Position:
        """Where a node stands in its file."""
        return position_in(self.lines, node)

    def text(self, node: ast.expr) -> str:
        """A node's source, on one line."""
        at = self.position(node)
        lines = self.lines[at.line - 1 : at.end_line]
        lines[-1] = lines[-1][: at.end_column - 1]
        lines[0] = lines[0][at.column - 1 :]
        return " ".join(" ".join(lines).split())


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in some statements, whatever they are bound to."""

    attributes: frozenset[str]
    read: Mapping[str, frozenset[int]]
    """Bare names that are read, and the lines on which they are."""
    namespaces: frozenset[int]
    """The lines that take up a `__dict__` or call `vars`."""
    operators: Mapping[tuple[int, object], frozenset[type[ast.operator]]]
    """By the line of an assignment and a name, or a key, in it, the operators in there."""


def _mentions(statements: Sequence[ast.stmt]) -> Mentions:
    attributes: set[str] = set()
    read: dict[str, set[int]] = {}
    namespaces: set[int] = set()
    operators: dict[tuple[int, object], frozenset[type[ast.operator]]] = {}
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name("vars")):
                namespaces.add(node.lineno)
            case ast.Attribute(attr=name):
                attributes.add(name)
            case ast.Name(name, ast.Load()):
                read.setdefault(name, set()).add(node.lineno)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                parts = [*ast.walk(node)]
                kinds = frozenset(
                    type(part.op) for part in parts if isinstance(part, ast.AugAssign | ast.BinOp)
                )
                for part in parts:
                    if isinstance(part, ast.Name | ast.Constant):
                        word = part.id if isinstance(part, ast.Name) else part.value
                        operators[node.lineno, word] = kinds
    lines = {name: frozenset(at) for name, at in read.items()}
    return Mentions(frozenset(attributes), lines, frozenset(namespaces), operators)


class ReadSource(Protocol):
    """Gives the text of a file; if only a function of it is looked at, or its outline, that is noted."""

    def __call__(
        self, path: str, function: Function | None = None, outline: Sequence[Lines] | None = None, /
    ) -> str:
        """The whole text, with `\\n` line ends."""


@dataclass(slots=True)
class Bodies:
    """The syntax trees of functions, each parsed once, at their lines in the file."""

    project: Project
    read_source: ReadSource
    lines: dict[str, list[str]] = field(default_factory=dict)
    trees: dict[FunctionRef, ast.Module | None] = field(default_factory=dict)
    opened: dict[FunctionRef, Opened | None] = field(default_factory=dict)
    outlines: dict[str, list[ast.stmt] | None] = field(default_factory=dict)
    generators: dict[FunctionRef, bool] = field(default_factory=dict)
    mentioned: dict[FunctionRef, Mentions] = field(default_factory=dict)

    def mentions(self, ref: FunctionRef) -> Mentions:
        """The names that a function or file mentions; none where it cannot be read."""
        if ref not in self.mentioned:
            self.mentioned[ref] = _mentions(self.of(ref) or [])
        return self.mentioned[ref]

    def of(self, ref: FunctionRef) -> list[ast.stmt] | None:
        """The statements of a function or file; None if it cannot be read."""
        if ref.key == MODULE_KEY:
            tree = self.tree(ref)
            return tree.body if tree is not None else None
        opened = self.open(ref)
        return opened.definition.body if opened is not None else None

    def is_generator(self, ref: FunctionRef) -> bool:
        """Whether a function is a generator."""
        if ref not in self.generators:
            self.generators[ref] = _yields(self.of(ref) or [])
        return self.generators[ref]

    def open(self, ref: FunctionRef) -> Opened | None:
        """The function itself; None for a lambda, which has no statements, and if there is none any more."""
        if ref not in self.opened:
            found = next(self._definitions(ref), None)
            self.opened[ref] = Opened(found, self.lines[ref.path]) if found is not None else None
        return self.opened[ref]

    def tree(self, ref: FunctionRef) -> ast.Module | None:
        """The lines of a function, alone, or of a file; None if they cannot be parsed."""
        if ref not in self.trees:
            self.trees[ref] = _parsed(self._text(ref))
        return self.trees[ref]

    def position(self, path: str, node: _Placed) -> Position:
        """Where a node of a file stands."""
        return position_in(self.lines[path], node)

    def _definitions(self, ref: FunctionRef) -> Iterator[Definition]:
        function = self.project.function(ref)
        if function.qualname.endswith("<lambda>"):
            return
        # The whole file is parsed only if the lines do not parse alone.
        for one in (ref, FunctionRef(ref.path, MODULE_KEY)):
            tree = self.tree(one)
            for node in nodes(tree) if tree is not None else ():
                if isinstance(node, Definition) and node.lineno == function.line:
                    yield node

    def outline(self, path: str) -> list[ast.stmt] | None:
        """The statements of a file, with nothing inside the functions in it and in its classes."""
        if path not in self.outlines:
            tree = _parsed(self.read_source(path, None, ()))
            lines = outline(tree) if tree is not None else None
            self._split(path, self.read_source(path, None, lines))
            self.outlines[path] = tree.body if tree is not None else None
        return self.outlines[path]

    def line(self, ref: FunctionRef, line: int) -> str:
        """A line in a function or its file."""
        function = self._function(ref)
        inside = function is not None and function.first_line <= line <= function.end_line
        return self._lines(ref if inside else FunctionRef(ref.path, MODULE_KEY))[line - 1]

    def _lines(self, ref: FunctionRef) -> list[str]:
        """The lines of a file, which are looked at in one function."""
        return self._split(ref.path, self.read_source(ref.path, self._function(ref)))

    def _split(self, path: str, text: str) -> list[str]:
        if path not in self.lines:
            self.lines[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self.lines[path]

    def _function(self, ref: FunctionRef) -> Function | None:
        return self.project.function(ref) if ref.key != MODULE_KEY else None

    def _text(self, ref: FunctionRef) -> str:
        lines, function = self._lines(ref), self._function(ref)
        if function is None:
            return "\n".join(lines)
        span = lines[function.first_line - 1 : function.end_line]
        # Empty lines above keep every line number true, and an indented def needs a block around it.
        above = function.first_line - 1
        if span and span[0][:1] in {" ", "\t"}:
            span, above = ["if 1:", *span], above - 1
        return "\n" * above + "\n".join(span) + "\n"


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


def position_in(lines: list[str], node: _Placed) -> Position:
    """Where a node stands: `ast` counts bytes from 0, people count characters from 1."""
    last = node.end_lineno or node.lineno
    end = node.end_col_offset or node.col_offset
    return Position(
        node.lineno, _column(lines[node.lineno - 1], node.col_offset), last, _column(lines[last - 1], end)
    )


def _column(line: str, offset: int) -> int:
    return 1 + (offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore")))
