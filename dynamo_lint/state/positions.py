"""Where each node of a tree stands, as offsets into its text: a fifth of what PositionProvider takes.

libcst's provider counts lines and columns of every token; here tokens only add up, and the few positions that
anybody asks for are turned into lines later. It relies on the same hooks of libcst's code generation.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import libcst as cst
from libcst._nodes.internal import CodegenState

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
        """What is written inside the `with` is the node itself, without whitespace."""
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
            return  # nested too deeply; whoever asked is told
        spans = self._offsets.spans
        start = self._from if self._start is None else spans[self._start][0]
        end = self._offsets.offset if self._end is None else spans[self._end][1]
        spans[self._node] = (start, end)
