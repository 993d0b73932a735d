"""Opens one function of a file with libcst, so that cost grows with what is hot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from dynamo_lint.index.facts import Function
from dynamo_lint.state.model import Position


@dataclass(frozen=True, slots=True)
class Opened:
    """A function's syntax tree, with the shift from span lines to file lines."""

    definition: cst.FunctionDef
    positions: Mapping[cst.CSTNode, CodeRange]
    module: cst.Module
    shift: int

    def position(self, node: cst.CSTNode) -> Position:
        """Where a node stands in its file."""
        span = self.positions[node]
        return Position(
            span.start.line + self.shift,
            span.start.column + 1,
            span.end.line + self.shift,
            span.end.column + 1,
        )

    def text(self, node: cst.CSTNode) -> str:
        """A node's source, on one line."""
        return " ".join(self.module.code_for_node(node).split())


def open_function(source: str, function: Function) -> Opened | None:
    """Parse a function's own lines; the whole file only if they do not parse alone."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    span = lines[function.first_line - 1 : function.end_line]
    if not span:
        return None
    indented = span[0][:1] in {" ", "\t"}
    # An indented def needs a block around it: one line above keeps every column true.
    text = "\n".join((["if 1:"] if indented else []) + span) + "\n"
    shift = function.first_line - 1 - int(indented)
    return _parse(text, function.line, shift) or _parse(source, function.line, 0)


def _parse(text: str, line: int, shift: int) -> Opened | None:
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    for definition in _definitions(wrapper.module):
        # PositionProvider starts a definition at its `def`, below the decorators.
        if positions[definition.name].start.line + shift == line:
            return Opened(definition, positions, wrapper.module, shift)
    return None


def _definitions(node: cst.CSTNode) -> list[cst.FunctionDef]:
    found: list[cst.FunctionDef] = []
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, cst.FunctionDef):
            found.append(current)
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
    return found
