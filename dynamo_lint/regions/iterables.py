"""What builtins and itertools make of containers: `zip(a, b)`, `chain(*zip(a, b))`, `map(Block, dims)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Call, Expr
from dynamo_lint.regions.model import Tier
from dynamo_lint.regions.values import Group, Held, Scope, Values, each, elements, freeze, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

NAMES = frozenset(
    {*(f"builtins.{name}" for name in ("enumerate", "zip", "next", "map", "filter", "sum"))}
    | {*(f"itertools.{name}" for name in ("chain", "chain.from_iterable", "islice", "zip_longest"))}
)
PASSING = frozenset(name.rpartition(".")[2] for name in NAMES) - {"map", "sum"}
"""Last names of those that give nothing but what they are given."""


def of_call(ev: Evaluation, name: str, call: Call, scope: Scope) -> Values:
    """What a call of one of them gives; the name is without the package."""

    def inside(source: Expr) -> Values:
        return ev.elements(ev.value(source, scope))

    match name, call.arguments:
        case "enumerate", (source, *_):
            return each({Group("tuple", (Held(), freeze(inside(source)))): Tier.CERTAIN})
        case "zip", (facts.Element(rows),):  # `zip(*rows)`
            return each(_columns(ev.value(rows, scope)))
        case "zip" | "zip_longest", sources:
            return each({Group("tuple", tuple(freeze(inside(one)) for one in sources)): Tier.CERTAIN})
        case "next", (source, *_):
            return inside(source)
        case "islice", (source, *_):
            return each(inside(source))
        case "chain", sources:  # `*rows` gives the rows
            return each(union(inside(one) for one in sources))
        case ("chain.from_iterable", (rows,)) | ("sum", (rows, facts.Display())):
            return each(ev.elements(inside(rows)))
        case "filter", (_, source):
            return each(inside(source))
        case "map", (function, *_):
            return each(ev.value(Call(function, line=call.line), scope))
    return {}


def _columns(rows: Values) -> Values:
    """What stands at one place of every row, as of the lists that a model keeps about its layers."""
    return {
        row._replace(items=tuple(freeze(elements(dict(item))) for item in row.items)): tier
        for row, tier in rows.items()
        if isinstance(row, Group)
    }
