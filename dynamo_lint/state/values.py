"""Small questions about values and syntax that every part of the evaluation asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import libcst as cst

from dynamo_lint.state.model import Kind, Load, Origin, Value

INT, BOOL, FLOAT = frozenset({Kind.INT}), frozenset({Kind.BOOL}), frozenset({Kind.FLOAT})
T = TypeVar("T")
_LONGEST_PAST = 200
"""Mentions of state that one value is known to come from."""

STR, TENSOR = frozenset({Kind.STR}), frozenset({Kind.TENSOR})


def is_namespace(node: cst.BaseExpression) -> bool:
    """`obj.__dict__` or `vars(obj)`."""
    match node:
        case cst.Attribute(attr=cst.Name(value="__dict__")) | cst.Call(func=cst.Name(value="vars"), args=[_]):
            return True
        case _:
            return False


def expressions(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """The outermost expressions inside a node that is not one itself."""
    found: list[cst.BaseExpression] = []
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            found.append(child)
        else:
            found += expressions(child)
    return found


def computed(values: list[Value], kinds: frozenset[Kind], bound: int | None = None) -> Value:
    """The result of an operation that has consumed its operands."""
    loads = frozenset[Load]().union(*(v.pending | v.derived for v in values))
    origins = frozenset[Origin]().union(*(via(v.origins, "computed") for v in values))
    return limited(Value(kinds, derived=loads, origins=origins, bound=bound))


def limited(value: Value) -> Value:
    """The value, without most of its past if it has more than anybody would read.

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
    keep = {"text", "str", "element", "moved"}
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
