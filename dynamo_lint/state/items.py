"""Elements of containers, as the index sees them: which store names one, and what construction puts there."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.state.model import ANY_ITEM


def names_item(item: str, index: Expr) -> bool:
    """Whether a store with this index may be a store to the item."""
    if item == ANY_ITEM or not isinstance(index, facts.Constant):
        return True
    return item == f"[{index.value!r}]"


def item_of(value: Expr, item: str) -> Expr:
    """The element of a container display that a literal index names."""
    if isinstance(value, facts.Call):
        return _made(value, item)
    if not isinstance(value, facts.Display) or item.count("[") != 1:
        return facts.UNKNOWN
    if item == ANY_ITEM:
        return facts.Choice(value.items) if value.items else facts.UNKNOWN
    text = item[1:-1]
    if value.kind == "dict":
        keys = {repr(key): part for key, part in zip(value.keys, value.items, strict=False)}
        return keys.get(text, facts.UNKNOWN)
    if text.isdigit() and int(text) < len(value.items):
        return value.items[int(text)]
    return facts.UNKNOWN


def _made(value: facts.Call, item: str) -> Expr:
    """The element of `OrderedDict(n=0)`, or what `defaultdict(int)` holds under a key that is not there."""
    match value.function:
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
