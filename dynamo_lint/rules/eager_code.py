"""The nodes of eager code with what is around them, and the compile calls in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.index import ir
from dynamo_lint.index.walking import children
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef, Position
from dynamo_lint.state.provenance import Tables

Loop = ast.For | ast.AsyncFor | ast.While
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """A node of a function's body and what is around it, which all that it holds have in common."""

    node: ast.AST
    around: Visit | None
    loops: tuple[Loop, ...]
    """The loops around the node, outermost first."""

    @property
    def above(self) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        visit = self.around
        while visit is not None:
            yield visit.node
            visit = visit.around


def position(node: ast.expr | ast.stmt) -> Position:
    """Where a node stands."""
    end_line, end_column = node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    return Position(node.lineno, node.col_offset + 1, end_line, end_column)


def line_of(tables: Tables, ref: FunctionRef, line: int) -> Position:
    """A line of a function, without its indentation."""
    text = tables.bodies.line(ref, line)
    return Position(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)


def walk(body: list[ast.stmt]) -> Iterator[Visit]:
    """All nodes of a function's own body, in the order of the text; not those of functions inside it."""
    waiting = [Visit(statement, None, ()) for statement in reversed(body)]
    while waiting:
        visit = waiting.pop()
        yield visit
        if isinstance(visit.node, _INNER):
            continue
        loops = visit.loops
        if isinstance(visit.node, ast.For | ast.AsyncFor | ast.While):
            loops = (*loops, visit.node)
        waiting += [Visit(child, visit, loops) for child in reversed(children(visit.node))]


def compile_calls(project: Project) -> Iterator[tuple[FunctionRef, ir.CallSite]]:
    """Every call of `torch.compile`, by symbol."""
    names = {"compile", *project.aliases_of("compile")}
    for name in sorted(names):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            if ExternalSymbol(COMPILE) in symbols:
                yield where, site
