"""DYN203: a lookup by name: a hazard where the attribute appears late, else a matter of policy."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.dynamic_attribute_lookup import effect_of
from dynamo_lint.rules.lazy_attribute import created
from dynamo_lint.state.initial import SETUP
from dynamo_lint.state.model import Key, Lookup, Outside
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per lookup of an attribute that appears late; every lookup if pedantic."""
    written = {state.key for state in tables.attributes if state.writes}
    reported = {state.key for state in tables.attributes if created(state) is not None}
    for hot, state in tables.functions:
        asked: set[str] = set()
        for lookup in state.lookups:
            # A look behind the curtain is unguarded-absence.
            asks = lookup.name.constants is not None and lookup.function in {"getattr", "hasattr"}
            # An attribute that compiled code itself creates is reported where it does (lazy-attribute).
            late = asks and any(appears_late(tables, key, written) for key in lookup.keys - reported)
            # A changing name is dynamic-attribute-lookup.
            if not late and (not context.pedantic or effect_of(tables, context, hot, lookup) is not None):
                continue
            if late and lookup.owner in asked:
                continue  # optional parts of one object come together: one finding
            asked |= {lookup.owner} if late else set()
            where = region(tables, hot)
            effect = "once"
            if late:
                message = (
                    f"`{lookup.text}` in the compiled `{where}` asks for an attribute that has no value in "
                    "`__init__` and is set later"
                )
                cost = "one extra compile when the attribute appears"
                advice = "give the attribute a value in `__init__` and test that"
            else:
                message = f"`{lookup.text}` in the compiled `{where}` looks an attribute up by name"
                cost = "none at run time"
                advice = "access the attribute directly"
            claim = Claim(
                message=message,
                cost=cost,
                effect=effect,
                subject=_subject(lookup),
                keys=lookup.keys,
                advice=advice,
                step="looks up an attribute by name",
                severity="note",
            )
            yield finding(rule, tables, context, hot, lookup.position, claim)


def appears_late(tables: Tables, key: Key, written: set[Key]) -> bool:
    """Nothing sets it at construction, and something does later."""
    if tables.initial.names.is_scope(key.owner):
        return False  # a global, seen as an attribute of its file, or an attribute of a function
    outside = tables.initial.outside(key)
    if tables.initial.external(key) or any(o.initial for o in outside):
        return False
    if tables.project.method(key.owner, key.attribute) is not None:
        return False
    # A configuration is filled before anything runs; only hot code gives it something later.
    module = tables.project.is_module(key.owner)
    return key in written or (module and any(_is_late(tables, key, one) for one in outside))


def _is_late(tables: Tables, key: Key, write: Outside) -> bool:
    """Whether a write comes late: not the constructor of what holds it.

    What a base sets is meant for its subclasses that have it from construction, where there are any.
    """
    project = tables.project
    base = project.owner(write.where) if write.where is not None else None
    if base is None or write.where is None or base == key.owner:
        return True
    if write.where.key.rpartition(".")[2] in SETUP:
        return False  # what holds it sets it while both are made, before anything is called
    makers = (
        project.owner(where)
        for where, _ in project.stores_of(key.attribute)
        if where.key.rpartition(".")[2] in SETUP
    )
    return not any(maker is not None and base in project.mro(maker)[1:] for maker in makers)


def _subject(lookup: Lookup) -> str:
    for key in sorted(lookup.keys):
        return f"{key.owner.name}.{key.attribute}"
    return lookup.text


ATTRIBUTE_LOOKUP = Rule("DYN203", "attribute-lookup", check)
