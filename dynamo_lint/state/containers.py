"""What a container is before hot code changes it: a list, a dict with some keys, a deque of some length."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Call, Constant, Display, Expr
from dynamo_lint.state.model import AttributeState

_KINDS = {
    "list": "list",
    "dict": "dict",
    "OrderedDict": "dict",
    "defaultdict": "dict",
    "Counter": "dict",
    "set": "set",
    "deque": "deque",
}


@dataclass(frozen=True, slots=True)
class Container:
    """A container as construction leaves it."""

    kind: str
    """`list`, `dict`, `set` or `deque`."""
    keys: frozenset[str] = frozenset()
    """Source text of the keys that are there from the start."""
    empty: bool = False
    bounded: bool = False
    """It has a `maxlen`."""
    maxlen: int | None = None
    """That length, if it is a literal."""


def container_of(state: AttributeState) -> Container | None:
    """What the attribute starts with; None if construction does not say, or says two things."""
    found = {_container(outside.value) for outside in state.outside if outside.initial}
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _container(value: Expr) -> Container | None:
    match value:
        case Display(kind="list" | "each", items=items):
            return Container("list", empty=not items)
        case Display(kind="dict", keys=keys):
            return Container("dict", frozenset(repr(key) for key in keys if key is not None))
        case Display(kind="set"):
            return Container("set")
        case Call(function, arguments, keywords):
            kind = _KINDS.get(terminal_name(function) or "")
            if kind is None:
                return None
            given = dict(keywords)
            limit = given.get("maxlen", arguments[1] if kind == "deque" and len(arguments) > 1 else None)
            length = limit.value if isinstance(limit, Constant) and isinstance(limit.value, int) else None
            bounded = limit is not None and limit != Constant(None)
            names = frozenset(repr(name) for name in given if name is not None and kind == "dict")
            return Container(kind, names, not arguments and not given, bounded, length)
    return None
