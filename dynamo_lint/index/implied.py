"""Calls that store: `x.append(v)`, `m.add_module("name", v)`, `setattr(m, "name", v)`, `d.update({…})`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, Attribute, Call, Constant, Name, Store

_APPENDERS = frozenset({"append", "extend", "insert", "add", "appendleft"})
REGISTRARS = frozenset({"add_module", "register_module"})
_PIPELINE = "register_modules"
"""How a diffusers pipeline takes parts, each under its keyword (diffusers/pipelines/pipeline_utils.py)."""
STORING = _APPENDERS | REGISTRARS | {"setattr", "update", _PIPELINE}
"""Last names of all of them: what is not called so stores nothing."""


def stores(call: Call) -> Iterator[Store]:
    """What a call stores where."""
    line = call.line
    match call:
        case Call(Attribute(owner, name), arguments) if name in _APPENDERS and arguments:
            item = arguments[-1]
            yield Store(owner, ITEM, facts.Element(item) if name == "extend" else item, line)
        case Call(Attribute(owner, name), (Constant(str() as key), value)) if name in REGISTRARS:
            yield Store(owner, key, value, line)
        case Call(Attribute(owner, name), (_, value)) if name in REGISTRARS:
            yield Store(owner, ITEM, value, line)
        case Call(Attribute(owner, name), _, keywords) if name == _PIPELINE:
            yield from (Store(owner, key, value, line) for key, value in keywords if key is not None)
        case Call(Name("setattr"), (owner, Constant(str() as key), value)):
            yield Store(owner, key, value, line)
        case Call(Name("setattr"), (Name("self") as owner, _, value)):
            yield Store(owner, ITEM, value, line)
        case Call(Attribute(owner, "update"), (facts.Display("dict", items, keys),)):
            for text, item in zip(keys, items, strict=False):
                yield Store(owner, ITEM, item, line, index=Constant(text))
