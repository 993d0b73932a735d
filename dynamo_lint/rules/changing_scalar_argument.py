"""DYN109: a Python number, flag or string, or the shape of a container, is passed in anew with every call."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, spell
from dynamo_lint.rules.passing import advice, cost, effect_of, kind_names
from dynamo_lint.state.arguments import Filled, Passed
from dynamo_lint.state.model import FunctionState, Key, Use
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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


CHANGING_SCALAR_ARGUMENT = Rule("DYN109", "changing-scalar-argument", check)
