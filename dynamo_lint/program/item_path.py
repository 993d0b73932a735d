"""The key of an item in nested containers: `table["a"][0] = value`."""

from __future__ import annotations

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, Expr, Store

ANY_ITEM = "[...]"
"""An item whose index is not a literal."""
_MAX_STEPS = 4


@dataclass(frozen=True, slots=True)
class ItemPath:
    """`owner.name[...]['step']`: an item below an attribute (or below a name, where `owner` is None)."""

    owner: Expr | None
    name: str
    steps: tuple[str, ...] = ()


def item_path(expr: Expr, function: ir.Function) -> ItemPath | None:
    """Return the access path of a container expression, seen through loop variables and other local names."""
    steps: list[str] = []
    for _ in range(_MAX_STEPS):
        match expr:
            case ir.Attribute(owner, name):
                return ItemPath(owner, name, tuple(reversed(steps)))
            case ir.Subscript(ir.Element(ir.Call(ir.Name("zip"), columns)), ir.Constant(int() as place)) if (
                0 <= place < len(columns)
            ):
                expr = ir.Element(columns[place])
            case ir.Subscript(expr, index):
                steps.append(step_of(index))
            case ir.Element(expr):
                steps.append(ANY_ITEM)
            case ir.Name(name):
                bound = [b.value for b in function.bindings if b.name == name]
                if len(bound) != 1 or not isinstance(bound[0], ir.Attribute | ir.Subscript | ir.Element):
                    return ItemPath(None, name, tuple(reversed(steps)))
                expr = bound[0]
            case _:
                return None
    return None


def step_of(index: Expr) -> str:
    """An index as it stands in the path of an item."""
    return f"[{index.value!r}]" if isinstance(index, ir.Constant) else ANY_ITEM


def key_of(store: Store) -> str | None:
    """The literal text under which a value is put into a container."""
    index = store.index
    return index.value if isinstance(index, ir.Constant) and isinstance(index.value, str) else None


def nested(store: Store, *, by_attribute: bool = False) -> Store | None:
    """`table["model"][name] = value` as what it does to the table: there is `{name: value}` under "model".

    A dictionary of modules has its items as attributes too (`by_attribute`): `nets.student["head"] = Head()`.
    """
    match store.owner:
        case ir.Subscript(owner, ir.Constant(str() as outer)):
            pass
        case ir.Attribute(owner, outer) if by_attribute:
            pass
        case _:
            return None
    inner = ir.Display("dict", (store.value,), (key_of(store),))
    return Store(owner, ITEM, inner, store.line, index=ir.Constant(outer)) if store.name == ITEM else None
