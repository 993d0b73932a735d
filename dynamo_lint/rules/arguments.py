"""DYN109: a Python number, flag or string, or the shape of a container, is passed in anew with every call."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.rules.base import Claim, Context, Rule, bounded, finding, named, region, spell, storm
from dynamo_lint.rules.changes import FLOAT_MATH, FLOAT_TESTS
from dynamo_lint.state.arguments import Filled, Passed
from dynamo_lint.state.loop_variance import Varying
from dynamo_lint.state.model import SCALARS, FunctionState, Key, Kind, Use
from dynamo_lint.state.provenance import Tables


@named("DYN109", "changing-scalar-argument")
def changing_scalar_argument(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per parameter at the call that changes it, and one per field of what is passed in."""
    states = dict(tables.functions)
    for one in tables.passed:
        state = states.get(one.hot)
        uses = _uses(one, state) if state is not None else set()
        found = effect_of(one.value, uses, tables.static(one.hot), context) if uses else None
        if found is None:
            continue
        effect, entries = found
        if effect in {"eager", "once"} and _is_told(tables, one):
            continue
        where, scope = region(tables, one.hot), ClassRef(one.hot.function.path, one.hot.function.key)
        claim = Claim(
            message=f"`{one.name}` of the compiled `{where}` {_how(one)}, and Dynamo guards on "
            f"{'its ' + one.value.structure if one.value.structure else 'its value'}",
            cost=cost(effect, entries, context.recompile_limit),
            effect=effect,
            entries=entries,
            subject=f"{where}({one.name})",
            keys=[Key(scope, f"{one.name}{item}") for item in one.inside or ("",)],
            advice=advice(one.name, one.value, effect),
            step=f"passes `{one.name}`",
            related=_parameter(one, tables),
        )
        yield finding(rule, tables, context, one.hot, one.position, claim, one.where)
    for filled in tables.filled:
        yield from _field(rule, tables, context, filled)


def _is_told(tables: Tables, one: Passed) -> bool:
    """Whether the line that makes a text of it is reported by itself."""
    return any(
        found.row.code == "DYN409" and not set(found.hot.entries).isdisjoint(one.hot.entries)
        for found in tables.breaks
    )


def _uses(one: Passed, state: FunctionState) -> set[Use]:
    """How compiled code uses a parameter; not at all if it names an attribute: that lookup is reported."""
    looked = [read for read in state.reads if read.load.place[0] == one.name and len(read.load.place) > 1]
    if one.inside and any(read.load.place[1].startswith("[") for read in looked):
        return {read.use for read in looked if read.load.place[1] in one.inside}
    uses = {use for name, use in state.consumed if name == one.name}
    uses |= {r.use for r in state.reads if r.load.place[0] == one.name and not r.keys}  # fields of a tuple
    named = any(origin.name == one.name for lookup in state.lookups for origin in lookup.name.origins)
    return set() if named else uses


def _how(one: Passed) -> str:
    value = one.value
    if value.structure:
        return f"gets a container whose {value.structure} change{'s' if value.structure == 'length' else ''}"
    inside = "holds" if one.inside else "gets"
    kinds = kind_names(value)
    if " or " in kinds:
        return f"{inside} a different value ({kinds}) from call to call"
    return f"{inside} a different {kinds} from call to call"


def _parameter(one: Passed, tables: Tables) -> tuple[Related, ...]:
    function = tables.project.function(one.hot.function)
    return (Related(one.hot.function.path, function.line, 1, f"`{one.name}` is a parameter here"),)


def _field(rule: Rule, tables: Tables, context: Context, filled: Filled) -> Iterator[Finding]:
    """`meta.longest` of a named tuple that is made for each call: at its first use in compiled code."""
    sites = [
        (hot, read)
        for hot, state in tables.functions
        for read in state.reads
        if filled.key in read.keys and tables.origins.root(hot, read.load.place, filled.key) == "argument"
    ]
    if not sites:
        return
    sites.sort(key=lambda site: (site[0].function.path, site[1].load.position.line))
    hot, first = sites[0]
    found = effect_of(filled.value, {read.use for _, read in sites}, tables.static(hot), context)
    if found is None:
        return
    effect, entries = found
    name, where, owner = spell(first.load.place), region(tables, hot), filled.key.owner.name
    claim = Claim(
        message=f"`{name}` is a different {kind_names(filled.value)} in every `{owner}` passed to the "
        f"compiled `{where}`, and Dynamo guards on its value",
        cost=cost(effect, entries, context.recompile_limit),
        effect=effect,
        entries=entries,
        subject=f"{owner}.{filled.key.attribute}",
        keys=(filled.key,),
        advice=advice(name, filled.value, effect),
        step=f"uses `{name}`",
        related=(Related(filled.where.path, filled.line, 1, f"each `{owner}` is made here"),),
    )
    yield finding(rule, tables, context, hot, first.load.position, claim)


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
