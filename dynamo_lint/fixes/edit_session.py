"""The files that a fix edits, parsed once, with the edits so far."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from dynamo_lint.distribution import Home
from dynamo_lint.findings import Edit, Fix, Span
from dynamo_lint.index.ir import MODULE_KEY, Function
from dynamo_lint.index.walking import children
from dynamo_lint.interpreter.ended import Break, graph_breaks
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position
from dynamo_lint.searches import IN_CODE
from dynamo_lint.sources import Sources
from dynamo_lint.state.model import AttributeState, Lookup
from dynamo_lint.state.provenance import Tables

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
REFLECTION = frozenset(
    {"vars", "attrgetter", "getattr", "setattr", "hasattr", "delattr", "__setattr__", "__delattr__"}
)
"""Calls that reach an attribute by a text, or all of them."""
_MOST_FILES = 20
"""Whose uses of a name a person can judge."""
_MOST_NODES = 500_000
"""Of all trees that stay open from one finding to the next: about 150 MB."""


class Unclear(Exception):
    """The rewrite cannot be shown to be right; the message says what stands against it."""


class Elsewhere(Unclear):
    """The rewrite is for another sort of state: another one may be right, and has better reasons if not."""


def fix_of(message: str, edits: Iterable[Edit], against: str | None) -> Fix:
    """A fix; what stands `against` it makes it unsafe."""
    if against is None:
        return Fix("safe", message, tuple(edits))
    return Fix("unsafe", f"{message} (unsafe: {against})", tuple(edits), against)


def suggestion(message: str, edits: Iterable[Edit], why: str) -> Fix:
    """Edits that no command makes, because of what a person has to judge first."""
    return Fix("display", message, tuple(edits), why)


@dataclass(slots=True)
class OpenFile:
    """One file's tree; positions are 1-based and count code points, as everywhere else."""

    path: str
    lines: list[str]
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]
    nodes: tuple[ast.AST, ...]
    """All of the tree, outermost first."""
    keys: dict[int, str]
    """The index's names of functions, by the line of their `def`."""
    definitions: dict[int, ast.FunctionDef | ast.AsyncFunctionDef]
    """By that line as well."""
    by_line: dict[int, list[ast.expr | ast.stmt]]
    """The nodes that begin on a line, outermost first."""
    speaking: dict[str, list[ast.AST]]
    """By a name, the attributes called so and the calls that are given it as a text."""
    texts: dict[str, list[ast.Constant | ast.keyword]]
    """By a text, the literals and the keywords that are it."""
    reflecting: list[ast.AST]
    """Where objects are looked into without the name of an attribute, in the order of lines."""
    bound: set[str]
    """The names that something in the file is given, but for imports."""

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

    def insert_before(self, statement: ast.stmt, text: str) -> Edit:
        """A new line above a statement, or above its decorators, indented like it."""
        line = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
        return Edit(Span(self.path, line, 1, line, 1), f"{self.indent(statement)}{text}\n")

    def insert_after(self, statement: ast.stmt, text: str) -> Edit:
        """A new line below a statement, indented like it."""
        return self.add_lines(statement, f"{self.indent(statement)}{text}")

    def add_lines(self, statement: ast.stmt, *lines: str) -> Edit:
        """New lines below a statement, as they are."""
        line = statement.end_lineno or statement.lineno
        end = len(self.lines[line - 1]) + 1
        return Edit(Span(self.path, line, end, line, end), "".join(f"\n{text}" for text in lines))

    def remove(self, statement: ast.stmt) -> Edit:
        """Take a statement out with its line."""
        span = self.span(statement)
        return Edit(Span(self.path, span.line, 1, span.end_line + 1, 1), "")

    def remove_with_gap(self, statement: ast.stmt) -> Edit:
        """Take a statement out with its line, and with the blank lines below it where no code is above."""
        span = self.span(statement)
        end = span.end_line
        above = self.parents[statement]
        if getattr(above, "body", [None])[0] is statement or not self.lines[span.line - 2].strip():
            while end < len(self.lines) - 1 and not self.lines[end].strip():
                end += 1
        return Edit(Span(self.path, span.line, 1, end + 1, 1), "")

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
        return FunctionRef(
            self.path, MODULE_KEY if scope is None else self.keys.get(scope.lineno, MODULE_KEY)
        )

    def definition(self, function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The tree of one of the index's functions."""
        return self.definitions.get(function.line)

    def at(self, position: Position, *kinds: type[ast.AST]) -> ast.AST | None:
        """The largest node of these kinds that starts at a position."""
        for node in self.by_line.get(position.line, ()):
            if isinstance(node, kinds) and self.span(node).column == position.column:
                return node
        return None

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="replace")) + 1


@dataclass
class Workbench:
    """The tables of one run and its files."""

    tables: Tables
    sources: Sources
    shipped: tuple[Home, ...] = ()
    """The folders with metadata of distributions."""
    opened: dict[str, OpenFile | None] = field(default_factory=dict)
    assigned: dict[ast.AST, dict[str, list[ast.expr | None]]] = field(default_factory=dict)
    """By scope and name, what the scope assigns to the name."""
    loaded: dict[ast.AST, dict[str, list[ast.AST]]] = field(default_factory=dict)
    """By scope and name, where the scope reads the name."""
    said: dict[ast.AST, dict[str, int]] = field(default_factory=dict)
    """By function and name, the line of the first statement that speaks of such an attribute."""
    calls: dict[str, dict[int, list[ast.Call]]] = field(default_factory=dict)
    """By file and line, the calls that begin there."""
    memo: dict[object, object] = field(default_factory=dict)
    """By question, what was worked out once and holds nothing of a tree."""
    held: int = 0
    """The nodes of the open trees."""

    def tidy(self) -> None:
        """Close the files, between two findings, if there are many: an edit holds nothing of a tree."""
        if self.held > _MOST_NODES:
            for table in (self.opened, self.assigned, self.loaded, self.said, self.calls):
                table.clear()
            self.held = 0

    @cached_property
    def hot(self) -> frozenset[FunctionRef]:
        """The functions that Dynamo traces."""
        return frozenset(one.function for one in self.tables.regions.hot)

    @cached_property
    def below(self) -> dict[ClassRef, list[ClassRef]]:
        """Each class and those below it."""
        project = self.tables.project
        return _grouped((base, ref) for ref in project.classes() for base in project.mro(ref))

    @cached_property
    def states(self) -> dict[tuple[str, int, int], list[AttributeState]]:
        """The attributes that hot code writes at a place, by file, line and column: once for each write."""
        return _grouped(
            ((site.hot.function.path, site.position.line, site.position.column), state)
            for state in self.tables.attributes
            for site in state.writes
        )

    @cached_property
    def breaks(self) -> dict[tuple[str, int, int], list[Break]]:
        """The lines that end the graph, by file, line and column."""
        return _grouped(
            ((one.hot.function.path, one.position.line, one.position.column), one)
            for one in graph_breaks(self.tables)
        )

    @cached_property
    def states_outside(self) -> dict[tuple[str, int], list[AttributeState]]:
        """The attributes that no hot code writes, by the file and line of what does."""
        return _grouped(
            (place, state)
            for state in self.tables.attributes
            if not state.writes
            for place in dict.fromkeys((one.path, one.line) for one in state.outside)
        )

    @cached_property
    def lookups(self) -> dict[tuple[str, int, int], list[Lookup]]:
        """The lookups by name in hot code, for every class of `self`, by file, line and column."""
        return _grouped(
            ((hot.function.path, lookup.position.line, lookup.position.column), lookup)
            for hot, state in self.tables.functions
            for lookup in state.lookups
        )

    def file(self, path: str) -> OpenFile | None:
        """A file's tree; None if it cannot be read any more."""
        if path not in self.opened:
            file = self.opened[path] = self._open(path)
            self.held += len(file.nodes) if file is not None else 0
        return self.opened[path]

    def open(self, path: str) -> OpenFile:
        """A file's tree; raises Unclear if it cannot be read any more."""
        file = self.file(path)
        if file is None:
            raise Unclear(f"{path} cannot be read")
        return file

    def first_said(self, function: ast.FunctionDef) -> dict[str, int]:
        """By name, the line of the first statement of a function's body that speaks of such an attribute."""
        if function not in self.said:
            lines = self.said[function] = {}
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Attribute):
                        lines.setdefault(node.attr, statement.lineno)
        return self.said[function]

    def call_at(self, span: Span) -> tuple[OpenFile, ast.Call]:
        """The file, and the call that stands exactly at a span; raises Unclear if none does."""
        file = self.open(span.path)
        if span.path not in self.calls:
            calls = (node for node in file.nodes if isinstance(node, ast.Call))
            self.calls[span.path] = _grouped((node.lineno, node) for node in calls)
        for node in self.calls[span.path].get(span.line, ()):
            if file.span(node) == span:
                return file, node
        raise Unclear("it is not a call")

    def files(self, how: str, text: str) -> tuple[str, ...]:
        """The project's files that hold a text, in one of the ways of `searches.SEARCHES`."""
        return self.sources.holding(how, text, self.tables.project.code)

    def files_of_code(self, how: str, text: str) -> tuple[str, ...]:
        """Those of them that hold it in their code, and not in a comment or a docstring alone."""
        return self.files(f"{how}{IN_CODE}", text)

    def few_files(self, how: str, text: str) -> tuple[str, ...]:
        """The same; raises Unclear where there are so many that nobody would read the edits."""
        paths = self.files(how, text)
        if len(paths) > _MOST_FILES:
            raise Unclear(f"{len(paths)} files speak of `{text}`")
        return paths

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
            for child in children(node):
                parents[child] = node
                nodes.append(child)
        file = OpenFile(path, text.split("\n"), tree, parents, tuple(nodes), {}, {}, {}, {}, {}, [], set())
        for function in self.tables.project.files[path].functions.values():
            file.keys.setdefault(function.line, function.key)
        for node in nodes:
            if isinstance(node, ast.expr | ast.stmt):
                _file_away(node, file)
            match node:
                case ast.Constant(value=str() as word) | ast.keyword(arg=str() as word):
                    file.texts.setdefault(word, []).append(node)
                case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    file.bound.add(name)
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    file.bound.add(name)
        file.reflecting.sort(key=lambda node: node.lineno)  # type: ignore[attr-defined]
        return file


def _grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    """The second of each pair, by the first."""
    found: dict[_Key, list[_Item]] = defaultdict(list)
    for key, item in pairs:
        found[key].append(item)
    return found


def _file_away(node: ast.expr | ast.stmt, file: OpenFile) -> None:
    """Put a node where it is looked for."""
    file.by_line.setdefault(node.lineno, []).append(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            file.definitions.setdefault(node.lineno, node)
        case ast.Attribute(attr=name):
            file.speaking.setdefault(name, []).append(node)
            if name == "__dict__":
                file.reflecting.append(node)
        case ast.Call():
            for text in {
                a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
            }:
                file.speaking.setdefault(text, []).append(node)
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in REFLECTION:
                    file.reflecting.append(node)
