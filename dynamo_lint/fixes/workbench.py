"""What every fixer works with: the state tables, and parsed files with exact spans, opened when asked for."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from dynamo_lint.findings import Edit, Span
from dynamo_lint.index.facts import MODULE_KEY, Function
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.sources import Sources
from dynamo_lint.state.model import Lookup, Position
from dynamo_lint.state.origins import Tables

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_NODES = 500_000
"""Of all trees that stay open from one finding to the next: about 150 MB."""


@dataclass(slots=True)
class OpenFile:
    """One file's tree; positions are 1-based and count code points, as everywhere else."""

    path: str
    lines: list[str]
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]
    nodes: tuple[ast.AST, ...]
    """All of the tree, outermost first."""
    functions: tuple[Function, ...]
    """The index's functions of this file, innermost last among those around a line."""

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Where a node stands."""
        return Span(
            self.path,
            node.lineno,
            self._column(node.lineno, node.col_offset),
            node.end_lineno or node.lineno,
            self._column(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node's source as it stands; lines after the first keep their indentation."""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        first = self.lines[span.line - 1][span.column - 1 :]
        last = self.lines[span.end_line - 1][: span.end_column - 1]
        return "\n".join([first, *self.lines[span.line : span.end_line - 1], last])

    def one_line(self, node: ast.expr) -> str:
        """An expression's source without line breaks, in its own spelling where that can be kept."""
        text = self.text(node)
        if "\n" not in text:
            return text
        joined = re.sub(r"\s*\n\s*", "", re.sub(r",\s*\n\s*(?=[^\s)\]}])", ", ", text))
        try:
            same = ast.dump(ast.parse(joined, mode="eval").body) == ast.dump(node)
        except SyntaxError:
            same = False
        return joined if same else ast.unparse(node)

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Put something else in a node's place."""
        return Edit(self.span(node), text)

    def insert_after(self, statement: ast.stmt, text: str) -> Edit:
        """A new line below a statement, indented like it."""
        line = statement.end_lineno or statement.lineno
        end = len(self.lines[line - 1]) + 1
        return Edit(Span(self.path, line, end, line, end), f"\n{self.indent(statement)}{text}")

    def remove(self, statement: ast.stmt) -> Edit:
        """Take a statement out with its line."""
        span = self.span(statement)
        return Edit(Span(self.path, span.line, 1, span.end_line + 1, 1), "")

    def indent(self, statement: ast.stmt) -> str:
        """The white space before a statement."""
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def alone(self, statement: ast.stmt) -> bool:
        """Nothing else stands on the statement's lines but a comment."""
        span = self.span(statement)
        before = self.lines[span.line - 1][: span.column - 1]
        after = self.lines[span.end_line - 1][span.end_column - 1 :].strip()
        return not before.strip() and (not after or after.startswith("#")) and span.end_line < len(self.lines)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement a node belongs to."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function around a node; None at the top level of the file or of a class."""
        for outer in self.above(node):
            if isinstance(outer, ast.ClassDef):
                return None
            if isinstance(outer, FUNCTIONS):
                return outer
        return None

    def reference(self, node: ast.AST) -> FunctionRef:
        """The index's name for the function around a node."""
        scope = self.scope(node)
        key = next(
            (f.key for f in self.functions if scope is not None and f.line == scope.lineno), MODULE_KEY
        )
        return FunctionRef(self.path, key)

    def definition(self, function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The tree of one of the index's functions."""
        return next((n for n in self.nodes if isinstance(n, FUNCTIONS) and n.lineno == function.line), None)

    def at(self, position: Position, *kinds: type[ast.AST]) -> ast.AST | None:
        """The largest node of these kinds that starts at a position."""
        found = None
        for node in self.nodes:
            if isinstance(node, kinds) and isinstance(node, ast.expr | ast.stmt):
                span = self.span(node)
                if (span.line, span.column) == (position.line, position.column):
                    found = found or node
        return found

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="replace")) + 1


@dataclass(slots=True)
class Workbench:
    """The tables of one run and its files."""

    tables: Tables
    sources: Sources
    opened: dict[str, OpenFile | None] = field(default_factory=dict)
    assigned: dict[ast.AST, dict[str, list[ast.expr | None]]] = field(default_factory=dict)
    """By scope and name, what the scope assigns to the name."""
    loaded: dict[ast.AST, dict[str, list[ast.AST]]] = field(default_factory=dict)
    """By scope and name, where the scope reads the name."""
    calls: dict[str, dict[int, list[ast.Call]]] = field(default_factory=dict)
    """By file and line, the calls that begin there."""
    lookups: dict[tuple[str, int, int], list[Lookup]] | None = None
    """By file, line and column, the lookups of hot code."""

    def tidy(self) -> None:
        """Close the files, between two findings, if there are many: an edit holds nothing of a tree."""
        if sum(len(file.nodes) for file in self.opened.values() if file is not None) > _MOST_NODES:
            for table in (self.opened, self.assigned, self.loaded, self.calls):
                table.clear()

    def file(self, path: str) -> OpenFile | None:
        """A file's tree; None if it cannot be read any more."""
        if path not in self.opened:
            self.opened[path] = self._open(path)
        return self.opened[path]

    def calls_at(self, span: Span) -> list[ast.Call]:
        """The calls that stand exactly at a span."""
        file = self.file(span.path)
        if file is None:
            return []
        if span.path not in self.calls:
            self.calls[span.path] = defaultdict(list)
            for node in file.nodes:
                if isinstance(node, ast.Call):
                    self.calls[span.path][node.lineno].append(node)
        return [node for node in self.calls[span.path].get(span.line, ()) if file.span(node) == span]

    def lookups_at(self, span: Span) -> list[Lookup]:
        """What hot code looks up by name at a place, seen with every class of `self`."""
        if self.lookups is None:
            self.lookups = defaultdict(list)
            for hot, state in self.tables.functions:
                for lookup in state.lookups:
                    place = hot.function.path, lookup.position.line, lookup.position.column
                    self.lookups[place].append(lookup)
        return self.lookups.get((span.path, span.line, span.column), [])

    def files_with(self, text: str) -> tuple[str, ...]:
        """The project's files that hold a text, whatever it means there."""
        return self.sources.holding("text", text, self.tables.project.files)

    def files_naming(self, name: str) -> tuple[str, ...]:
        """The project's files that may speak of an attribute: as `.name`, or as the text `"name"`."""
        return self.sources.holding("attribute", name, self.tables.project.files)

    def has_word(self, name: str) -> bool:
        """Some file of the project uses a name, for whatever."""
        return bool(self.sources.holding("word", name, self.tables.project.files))

    def _open(self, path: str) -> OpenFile | None:
        try:
            text = self.sources.text(path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        nodes: list[ast.AST] = [tree]
        parents: dict[ast.AST, ast.AST] = {}
        for node in nodes:  # grows on the way
            for child in ast.iter_child_nodes(node):
                parents[child] = node
                nodes.append(child)
        functions = tuple(self.tables.project.files[path].functions.values())
        return OpenFile(path, text.split("\n"), tree, parents, tuple(nodes), functions)
