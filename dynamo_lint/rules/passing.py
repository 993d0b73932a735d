"""The cost of passing another number, string or container to compiled code with every call."""

from __future__ import annotations

from dynamo_lint.rules.base import Context
from dynamo_lint.rules.changes import FLOAT_MATH, FLOAT_TESTS
from dynamo_lint.rules.messages import bounded, storm
from dynamo_lint.state.loop_variance import Varying
from dynamo_lint.state.model import SCALARS, Kind, Use

STATIC = frozenset({Use.ITERATED, Use.KEY})
"""Uses that need the number itself: a loop bound, the index of a Python container."""
COUNTED = frozenset({Use.INDEX, Use.ITERATED, Use.KEY})
"""Uses that only whole numbers have."""


def effect_of(
    value: Varying, uses: set[Use], static: bool, context: Context
) -> tuple[str, int | None] | None:
    """Effect and number of versions, by how compiled code uses the value; None if that costs nothing."""
    if value.structure:
        # Looking one key up is guarded on that key alone.
        unseen = value.structure == "keys" and not uses & {Use.RECEIVER, Use.ITERATED}
        unseen = unseen and context.has("keys-are-guarded-one-by-one")
        return None if unseen else ("storm", None)
    kinds = value.kinds - {Kind.NONE}
    if not kinds or (kinds == {Kind.TENSOR} and Kind.NONE not in value.kinds):
        return None
    if value.constants is not None and not kinds & {Kind.BOOL, Kind.INT, Kind.FLOAT}:
        return "per-value", len(value.constants)
    if not kinds <= SCALARS:
        return ("once", 2) if Kind.NONE in value.kinds else None
    kind = min(kinds, key=lambda k: (k == Kind.BOOL, k.value))
    if kinds == {Kind.INT, Kind.FLOAT} and uses & COUNTED:
        kind = Kind.INT  # `.item()` does not say which
    match kind:
        case Kind.BOOL:
            return "once", 2
        case Kind.INT | Kind.FLOAT if static:
            return "storm", None
        case Kind.INT | Kind.FLOAT if Use.FORMATTED in uses:
            return "eager", None
        case Kind.FLOAT if Kind.INT in kinds and Use.ARGUMENT in uses:
            return "once", 2
        case Kind.FLOAT:
            return (
                ("once", 2) if uses <= FLOAT_MATH else ("per-value" if uses <= FLOAT_TESTS else "storm", None)
            )
        case Kind.INT if uses & STATIC:
            return "storm", None
        case Kind.INT if uses & {Use.CONTROL, Use.COMPARE, Use.INDEX} and value.constants is None:
            return "per-value", None
        case Kind.INT:
            return "once", 2
    return "storm", None


def cost(effect: str, entries: int | None, limit: int) -> str:
    """The same as a sentence."""
    match effect:
        case "storm":
            return storm(limit, "it")
        case "eager":
            return "from the second value on, the whole function runs eagerly without a warning"
        case "once":
            return "one extra compile, after which the value is dynamic"
        case _ if entries is not None:
            return bounded(entries)
        case _:
            return "one extra compile, and more if the value is 0 or 1 or is compared with another number"


def kind_names(value: Varying) -> str:
    """`int or str`; a `number` where nobody says of which kind."""
    if value.kinds == {Kind.INT, Kind.FLOAT}:
        return "number"
    return " or ".join(sorted(kind.value for kind in value.kinds))


def advice(name: str, value: Varying, effect: str) -> str:
    """The way out."""
    if value.structure:
        return f"pass `{name}` with a fixed structure: one stacked tensor, or the same keys every time"
    if value.kinds & {Kind.INT, Kind.FLOAT} and effect != "eager":
        made = "the tensor that it is read from" if value.data else "`torch.tensor(value)`, filled in place"
        return f"pass `{name}` as a tensor, such as {made}"
    return f"make decisions that depend on `{name}` before the call, and use few distinct values"
