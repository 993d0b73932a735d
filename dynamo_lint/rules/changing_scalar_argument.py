"""DYN109: a Python number, flag or string, or the shape of a container, is passed in anew with every call."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.changes import FLOAT_MATH, FLOAT_TESTS
from dynamo_lint.rules.costs import bounded, storm
from dynamo_lint.state.model import SCALARS, FunctionState, Kind, Use
from dynamo_lint.state.origins import Tables
from dynamo_lint.state.passed import Passed

STATIC = frozenset({Use.ITERATED, Use.KEY})
"""Uses that need the number itself: a loop bound, the index of a Python container."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per parameter, at the call that changes it."""
    states = dict(tables.functions)
    for one in tables.passed:
        state = states.get(one.hot)
        found = _effect(one, state, tables.static(one.hot)) if state is not None else None
        if found is None or state is None:
            continue
        effect, entries = found
        where = region(tables, one.hot)
        claim = Claim(
            message=f"`{one.name}` of the compiled `{where}` {_how(one)}, and Dynamo guards on "
            f"{'its ' + one.value.structure if one.value.structure else 'its value'}",
            cost=_cost(effect, entries, one, context),
            effect=effect,
            entries=entries,
            subject=f"{where}({one.name})",
            advice=_advice(one, effect),
            step=f"passes `{one.name}`",
            related=_uses(one, tables),
        )
        yield finding(rule, tables, context, one.hot, one.position, claim, one.where)


def _effect(one: Passed, state: FunctionState, static: bool) -> tuple[str, int | None] | None:
    """What the changes cost, by how compiled code uses the parameter; None if it does not."""
    uses = {use for name, use in state.consumed if name == one.name}
    uses |= {r.use for r in state.reads if r.load.place[0] == one.name and not r.keys}  # fields of a tuple
    named = any(origin.name == one.name for lookup in state.lookups for origin in lookup.name.origins)
    if not uses or named:
        return None  # not used, or it names an attribute: that lookup is reported
    value = one.value
    if value.structure:
        # Looking one key up is guarded on that key alone.
        unseen = value.structure == "keys" and not uses & {Use.RECEIVER, Use.ITERATED}
        return None if unseen else ("storm", None)
    kinds = value.kinds - {Kind.NONE}
    if not kinds or (kinds == {Kind.TENSOR} and Kind.NONE not in value.kinds):
        return None
    if value.constants is not None and not kinds & {Kind.BOOL, Kind.INT, Kind.FLOAT}:
        return "per-value", len(value.constants)
    if not kinds <= SCALARS:
        return ("once", 2) if Kind.NONE in value.kinds else None
    kind = min(kinds, key=lambda k: (k == Kind.BOOL, k.value))
    match kind:
        case Kind.BOOL:
            return "once", 2
        case Kind.INT | Kind.FLOAT if static:
            return "storm", None
        case Kind.INT | Kind.FLOAT if Use.FORMATTED in uses:
            return "eager", None
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


def _how(one: Passed) -> str:
    value = one.value
    if value.structure:
        return f"gets a container whose {value.structure} change{'s' if value.structure == 'length' else ''}"
    kinds = " or ".join(sorted(kind.value for kind in value.kinds))
    return f"gets another {kinds} from call to call"


def _cost(effect: str, entries: int | None, one: Passed, context: Context) -> str:
    match effect:
        case "storm":
            return storm(context.recompile_limit, "it")
        case "eager":
            return "from the second value on, the whole function runs eagerly, without a warning"
        case "once":
            return "one extra compile, after which the value is dynamic"
        case _ if entries is not None:
            return bounded(entries)
        case _:
            return "one extra compile, and more where 0, 1 or the outcome of a comparison is special"


def _advice(one: Passed, effect: str) -> str:
    if one.value.structure:
        return f"pass `{one.name}` with a fixed structure: one stacked tensor, or the same keys every time"
    if one.value.kinds & {Kind.INT, Kind.FLOAT} and effect != "eager":
        return f"pass `{one.name}` as a tensor, such as `torch.tensor(value)`, filled in place"
    return f"decide what depends on `{one.name}` before the call, and keep to few values"


def _uses(one: Passed, tables: Tables) -> tuple[Related, ...]:
    function = tables.project.function(one.hot.function)
    return (Related(one.hot.function.path, function.line, 1, f"`{one.name}` is a parameter here"),)


CHANGING_SCALAR_ARGUMENT = Rule("DYN109", "changing-scalar-argument", check)
