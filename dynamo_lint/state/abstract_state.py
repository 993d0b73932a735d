"""The abstract state at a point of a function: values of locals, places written, and how two of them join."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.state.model import EnclosingTest, Key, Kind, Load, Origin, Place, Value

INT, BOOL, FLOAT = frozenset({Kind.INT}), frozenset({Kind.BOOL}), frozenset({Kind.FLOAT})
T = TypeVar("T")
_LONGEST_PAST = 200
"""Mentions of state that one value is known to come from."""
STR, TENSOR = frozenset({Kind.STR}), frozenset({Kind.TENSOR})


def is_namespace(node: ast.expr) -> bool:
    """`obj.__dict__` or `vars(obj)`."""
    match node:
        case ast.Attribute(attr="__dict__") | ast.Call(ast.Name("vars"), [_], []):
            return True
        case _:
            return False


def indices(node: ast.Subscript) -> list[ast.expr]:
    """The indices of a subscript: `a` and `b` of `x[a, b]`, but the one tuple of `x[(a, b)]`."""
    inner = node.slice
    if not isinstance(inner, ast.Tuple) or not inner.elts:
        return [inner]
    first, last = inner.elts[0], inner.elts[-1]
    own = (inner.lineno, inner.col_offset) < (first.lineno, first.col_offset)
    return [inner] if own and _end(last) < _end(inner) else inner.elts


def ends(index: ast.expr) -> list[ast.expr]:
    """The numbers that an index is made of: `a` and `b` of the slice `a:b`."""
    if not isinstance(index, ast.Slice):
        return [index]
    return [end for end in (index.lower, index.upper, index.step) if end is not None]


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def arguments_of(node: ast.Call) -> list[tuple[str | None, ast.expr]]:
    """The expressions that a call passes, each with its keyword or the stars before it."""
    return [
        *(("*", a.value) if isinstance(a, ast.Starred) else (None, a) for a in node.args),
        *((keyword.arg or "**", keyword.value) for keyword in node.keywords),
    ]


def unstarred(node: ast.expr) -> ast.expr:
    """An element of a display or a target, without the star before it."""
    return node.value if isinstance(node, ast.Starred) else node


def computed(values: list[Value], kinds: frozenset[Kind], bound: int | None = None) -> Value:
    """The result of an operation that has consumed its operands."""
    loads = frozenset[Load]().union(*(v.pending | v.derived for v in values))
    origins = frozenset[Origin]().union(*(via(v.origins, "computed") for v in values))
    return limited(Value(kinds, derived=loads, origins=origins, bound=bound))


def limited(value: Value) -> Value:
    """The value, without most of its past if that is longer than is ever read.

    A sum of thousands of terms would otherwise be looked at once for each pair of them.
    """
    if max(len(value.pending), len(value.derived), len(value.origins)) <= _LONGEST_PAST:
        return value
    return replace(
        value,
        pending=_first(value.pending, lambda load: (load.position.line, load.position.column, load.place)),
        derived=_first(value.derived, lambda load: (load.position.line, load.position.column, load.place)),
        origins=_first(value.origins, lambda origin: (origin.source, origin.name, origin.via)),
    )


def shallow(value: Value, depth: int = 3) -> Value:
    """The value with tuples in tuples down to a depth: `a = (a, a)` doubles what is inside each time."""
    if value.items is None:
        return value
    return replace(value, items=tuple(shallow(item, depth - 1) for item in value.items) if depth else None)


def _first(items: frozenset[T], order: Callable[[T], tuple[object, ...]]) -> frozenset[T]:
    return frozenset(sorted(items, key=order)[:_LONGEST_PAST])


def via(origins: frozenset[Origin], how: str) -> frozenset[Origin]:
    """Origins after one more operation; formatting is never forgotten."""
    keep = {"text", "str", "element", "index", "moved"}
    return frozenset(o if o.via in keep else replace(o, via=how) for o in origins if o.source != "literal")


def as_text(value: Value) -> Value:
    """A value inside a string; what already is a string stays what it was."""
    if value.kinds == STR:
        return value
    return replace(value, origins=via(value.origins, "text"))


def literal_int(value: Value) -> int | None:
    """The number a value is known to be."""
    if value.constants is None or len(value.constants) != 1:
        return None
    text = next(iter(value.constants))
    return int(text) if text.isdigit() else None


@dataclass(slots=True)
class Flow:
    """A point of control flow; forked at branches and merged behind them."""

    locals: dict[str, Value] = field(default_factory=dict)
    stored: dict[Place, Value] = field(default_factory=dict)
    """Places certainly written in this call, with their value."""
    written: frozenset[Key] = frozenset()
    """Attributes certainly written in this call by this function or one it called."""
    conditional: dict[str, dict[Place, Value]] = field(default_factory=dict)
    """Places written wherever a test was true, by the source of the test."""
    guards: frozenset[EnclosingTest] = frozenset()

    def fork(self) -> Flow:
        """An independent copy for one branch."""
        return replace(
            self, locals=dict(self.locals), stored=dict(self.stored), conditional=dict(self.conditional)
        )


def merge(first: Flow, second: Flow) -> Flow:
    """Return the join of two states: what holds when either branch was taken."""
    return Flow(
        {
            name: join(value, second.locals[name])
            for name, value in first.locals.items()
            if name in second.locals
        }
        | {
            # Bound on one side only: then that is its value wherever it is used.
            name: first.locals.get(name) or second.locals[name]
            for name in first.locals.keys() ^ second.locals.keys()
        },
        {
            place: join(value, second.stored[place])
            for place, value in first.stored.items()
            if place in second.stored
        },
        first.written & second.written,
        first.conditional | second.conditional,
        first.guards & second.guards,
    )


def join(first: Value, second: Value) -> Value:
    """A value that is one of two."""
    if first is second or first == second:
        return first
    both = first.constants is not None and second.constants is not None
    bounds = [v.bound if v.constants is None else len(v.constants) for v in (first, second)]
    known = [b for b in bounds if b is not None]
    joined = Value(
        kinds=first.kinds | second.kinds if first.kinds and second.kinds else frozenset(),
        constants=(first.constants or frozenset()) | (second.constants or frozenset()) if both else None,
        pending=first.pending | second.pending,
        derived=first.derived | second.derived,
        origins=first.origins | second.origins,
        place=first.place if first.place == second.place else None,
        bound=sum(known) if len(known) == 2 and all(known) else (0 if len(known) == 2 else None),
        largest=first.largest or second.largest,
    )
    return limited(joined)
