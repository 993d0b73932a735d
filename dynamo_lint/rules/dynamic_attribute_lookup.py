"""DYN202: getattr and its kin with a name that is not a constant when Dynamo traces the line."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.state.model import Kind, Lookup, Origin
from dynamo_lint.state.provenance import Tables

EFFECTS = ("per-value", "break", "eager")
"""From bearable to worst."""

CAUSES = {
    "eager": "a string formatted from a number that Dynamo does not treat as a constant",
    "break": "a value that Dynamo cannot know while tracing",
    "per-value": "a value that can differ from call to call, and Dynamo guards on it",
}
COSTS = {
    "eager": "from the second value on, the whole function runs eagerly without a warning",
    "break": "a graph break at this line",
    "per-value": "one compiled version per name",
}


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per lookup."""
    for hot, state in tables.functions:
        for lookup in state.lookups:
            effect = effect_of(tables, context, hot, lookup)
            if effect is None:
                continue
            claim = Claim(
                message=f"`{lookup.text}` in the compiled `{region(tables, hot)}` takes its name from "
                f"{CAUSES[effect]}",
                cost=COSTS[effect],
                effect=effect,
                subject=lookup.text,
                advice="look the object up outside the compiled region and pass it in, or index a "
                "`ModuleList` or dict built in `__init__` by a constant",
                step="looks up an attribute by a changing name",
            )
            yield finding(rule, tables, context, hot, lookup.position, claim)


def effect_of(tables: Tables, context: Context, hot: CompiledFunction, lookup: Lookup) -> str | None:
    """The worst effect of where the name of a lookup may come from; None if it may have none."""
    if lookup.function == "__dict__" or lookup.name.constants is not None:
        return None
    origins = {*tables.origins.value(hot, lookup.name), *_passed(tables, hot, lookup.name.origins)}
    ends = hot.compiled if context.has("texts-of-numbers-are-given-up") else None
    effects = {effect for origin in origins if (effect := _effect(origin, ends)) is not None}
    return max(effects, key=EFFECTS.index, default=None)


def _passed(tables: Tables, hot: CompiledFunction, origins: frozenset[Origin]) -> Iterator[Origin]:
    """Parameters without an annotation that a driver fills with ints."""
    ints = {one.name for one in tables.passed if one.hot == hot and one.value.kinds == {Kind.INT}}
    for origin in origins:
        if origin.source == "param" and origin.name in ints:
            yield Origin("argument", "int", origin.via)


def _effect(origin: Origin, ends: bool | None) -> str | None:
    """The effect of a name of this origin; None where it is a constant to Dynamo, or nothing is known of it.

    Formatting a dynamic int makes some versions of Dynamo give the frame up: in the compiled function itself
    everything is then eager (`ends`), in one that it calls only the call breaks the graph. Others compile for
    each number (None).
    """
    match origin:
        case Origin("argument", "int", "text") if ends is not None:
            return "eager" if ends else "break"
        case Origin("item" | "host"):
            return "break"
        case Origin("shape", via="text" | "str"):
            return "per-value"
        case Origin("argument", "int", "str"):
            return "break"
        case Origin("argument"):
            return "per-value"
        case _:
            return None


DYNAMIC_ATTRIBUTE_LOOKUP = Rule("DYN202", "dynamic-attribute-lookup", check)
