"""Which place an expression names, seen through local aliases and every spelling of the same attribute."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from dynamo_lint.program.item_path import ANY_ITEM
from dynamo_lint.state.convert import literal_of
from dynamo_lint.state.model import Place, Value
from dynamo_lint.state.values import is_namespace


def place_of(node: cst.BaseExpression, known: Mapping[str, Value]) -> Place | None:
    """The place, given what local names are bound to; None for anything that is computed."""
    match node:
        case cst.Name(value=name):
            local = known.get(name)
            return local.place or (name,) if local is not None else (name,)
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            base = place_of(value, known)
            if base is None:
                return None
            # Class attributes are told apart from instance attributes by where they are initialised.
            return base if name in {"__class__", "__dict__"} else (*base, name)
        case cst.Call(func=cst.Name(value="type" | "vars"), args=[cst.Arg(value=value)]):
            return place_of(value, known)
        case cst.Call(func=cst.Name(value="getattr"), args=[cst.Arg(value=value), cst.Arg(value=name), *_]):
            base, text = place_of(value, known), literal_of(name)
            return (*base, text) if base is not None and isinstance(text, str) else None
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            base, literal = place_of(value, known), literal_of(index)
            if base is None:
                return None
            if is_namespace(value):
                return (*base, literal) if isinstance(literal, str) else None
            return (*base, ANY_ITEM if literal is ... else f"[{literal!r}]")
        case _:
            return None
