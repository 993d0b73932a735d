"""Elements of containers, as the index sees them: which store names one, and what construction puts there."""

from __future__ import annotations

import re

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.program.item_path import ANY_ITEM, ItemPath, step_of

NOTHING = facts.Choice(())
"""The item of an empty container."""
_STEP = re.compile(r"""\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]""")


def below(item: str, path: ItemPath, index: Expr) -> str | None:
    """What is left of an item when a store fills `path[index]`; None if that is another item."""
    steps = tuple(_STEP.findall(item))
    stored = (*path.steps, step_of(index))
    if len(stored) > len(steps):
        return None
    same = all(ANY_ITEM in pair or pair[0] == pair[1] for pair in zip(stored, steps, strict=False))
    return "".join(steps[len(stored) :]) if same else None


def item_of(value: Expr, item: str) -> Expr:
    """The element that an index names in a new container, or what any of its elements may be."""
    for step in _STEP.findall(item):
        if isinstance(value, facts.Choice):
            options = (_item(option, step) for option in value.options)
            value = facts.Choice(tuple(option for option in options if option != NOTHING))
        else:
            value = _item(value, step)
    return value


def _item(value: Expr, item: str) -> Expr:
    if isinstance(value, facts.Call):
        return _made_item(value, item)
    if not isinstance(value, facts.Display):
        return facts.UNKNOWN
    if not value.items and value.kind != "tuple":
        return NOTHING
    if item == ANY_ITEM:
        return facts.Choice(value.items)
    text = item[1:-1]
    if value.kind == "dict":
        keys = {repr(key): part for key, part in zip(value.keys, value.items, strict=False)}
        return keys.get(text, NOTHING if None not in value.keys else facts.UNKNOWN)
    if text.isdigit() and int(text) < len(value.items):
        return value.items[int(text)]
    return facts.UNKNOWN


def _made_item(value: facts.Call, item: str) -> Expr:
    """The element of `OrderedDict(n=0)`, of `dict.fromkeys(names, 0)`, or a new one of `defaultdict(int)`."""
    match value.function:
        case facts.Attribute(facts.Name("dict" | "OrderedDict"), "fromkeys") if value.arguments:
            return value.arguments[1] if len(value.arguments) > 1 else facts.Constant(None)
        case facts.Name("dict" | "OrderedDict") | facts.Attribute(_, "OrderedDict"):
            named = {repr(name): part for name, part in value.keywords}
            return named.get(item.strip("[]"), facts.UNKNOWN)
        case facts.Name("Counter") | facts.Attribute(_, "Counter"):
            return facts.Constant(0)
        case facts.Name("defaultdict") | facts.Attribute(_, "defaultdict"):
            match value.arguments:
                case (facts.Name("int"), *_):
                    return facts.Constant(0)
                case (facts.Name("float"), *_):
                    return facts.Constant(0.0)
    return facts.UNKNOWN
