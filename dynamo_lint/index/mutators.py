"""Calls that store: `append`, `register_buffer`, `setattr` and their kin as stores."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, Attribute, Call, Constant, Expr, Name, Store

_APPENDERS = frozenset({"append", "extend", "insert", "add", "appendleft"})
REGISTRARS = knowledge.names("registers_module")
_BY_KEYWORD = knowledge.names("registers_by_keyword")
STORING = _APPENDERS | REGISTRARS | _BY_KEYWORD | {"setattr", "__setattr__", "update"}
"""Last names of all of them: what is not called so stores nothing."""


def stores(call: Call) -> Iterator[Store]:
    """The stores that a call makes."""
    line = call.line
    match call:
        case Call(Attribute(owner, name), arguments) if name in _APPENDERS and arguments:
            item = arguments[-1]
            yield Store(owner, ITEM, ir.Element(item) if name == "extend" else item, line)
        case Call(Attribute(owner, name), (Constant(str() as key), value)) if name in REGISTRARS:
            yield Store(owner, key, value, line)
        case Call(Attribute(owner, name), (_, value)) if name in REGISTRARS:
            yield Store(owner, ITEM, value, line)
        case Call(Attribute(owner, name), _, keywords) if name in _BY_KEYWORD:
            yield from (Store(owner, key, value, line) for key, value in keywords if key is not None)
        case Call(Name("setattr"), (owner, Constant(str() as key), value)):
            yield Store(owner, key, value, line)
        case Call(Name("setattr"), (Name("self") as owner, _, value)):
            yield Store(owner, ITEM, value, line)
        case Call(Attribute(_, "__setattr__"), (owner, Constant(str() as key), value)):
            yield Store(owner, key, value, line)
        case Call(Attribute(Attribute(owner, "__dict__"), "update"), _, keywords) if keywords:
            yield from (Store(owner, key, value, line) for key, value in keywords if key is not None)
        case Call(Attribute(owner, "update"), (ir.Display("dict", items, keys),)):
            for text, item in zip(keys, items, strict=False):
                yield put(owner, item, Constant(text), line)


def put(owner: Expr, value: Expr, index: Expr, line: int, augmented: bool = False) -> Store:
    """`owner[index] = value`; what is put into the `__dict__` of an object is an attribute of it."""
    match owner, index:
        case Attribute(of, "__dict__") | Call(Name("vars"), (of,)), Constant(str() as key):
            return Store(of, key, value, line, augmented)
    return Store(owner, ITEM, value, line, augmented, index)
