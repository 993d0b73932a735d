"""DYN104: compiled code creates an attribute on first use, or replaces a tensor by a moved or rebuilt one."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, spell, subject
from dynamo_lint.rules.changes import latches, reported_by_latch
from dynamo_lint.rules.none_or_tensor_attribute import accumulates, flip, moves
from dynamo_lint.state.model import SCALARS, AttributeState, Key, Kind, WriteSite
from dynamo_lint.state.provenance import Tables

FILLED, REGISTERED, MOVED, REBUILT = "filled", "registered", "moved", "rebuilt"
MESSAGES = {
    FILLED: "is created by the first call of the compiled `{where}`, and Dynamo guards on its absence",
    REGISTERED: "is registered inside the compiled `{where}`, and Dynamo guards on the module's contents",
    MOVED: "is replaced by a moved or converted tensor in the compiled `{where}`, and Dynamo guards on the "
    "device and dtype of the first one",
    REBUILT: "is rebuilt in the compiled `{where}` when it is too small, and Dynamo guards on its size",
}
COSTS = {
    FILLED: "one extra compile, at the second call",
    REGISTERED: "one extra compile, at the second call",
    MOVED: "one extra compile, if the tensor was on another device or of another dtype than the input",
    REBUILT: "one extra compile each time it grows, besides the one for the new input size",
}


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute, at the write that creates it."""
    latched = latches(tables.attributes)
    for state in tables.attributes:
        found = created(state)
        if found is None or flip(state) is not None or reported_by_latch(found[0], state, latched):
            continue
        site, how = found
        name, where = spell(site.write.place), region(tables, site.hot)
        rebuilt = how == REBUILT
        claim = Claim(
            message=f"`{name}` {MESSAGES[how].format(where=where)}",
            cost=COSTS[how],
            effect="per-value" if rebuilt else "once",
            entries=None if rebuilt else 2,
            severity="note" if rebuilt else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice(name, how),
            step=f"creates `{name}`" if how in {FILLED, REGISTERED} else f"replaces `{name}`",
            related=related_sites(state, site),
        )
        yield finding(rule, tables, context, site.hot, site.position, claim)


def created(state: AttributeState) -> tuple[WriteSite, str] | None:
    """The hot write that gives an attribute its first value, or its next tensor, and which of the two."""
    if state.external:
        return None
    for site in state.writes:
        write = site.write
        if write.registers and not any(outside.initial for outside in state.outside):
            return site, REGISTERED
        if moves(write):
            return site, MOVED
        if write.value.kinds and write.value.kinds <= SCALARS | {Kind.NONE}:
            continue
        own = [guard for guard in write.guards if guard.key == state.key]
        if any(guard.limit is not None and not _asks_of(guard.key, state.key) for guard in write.guards):
            continue  # another attribute decides when it is built: that one is reported
        if any(guard.missing for guard in own) and not accumulates(state) and _may_be_missing(state):
            sized = any(guard.limit is not None for guard in own) and Kind.TENSOR in write.value.kinds
            return site, REBUILT if sized else FILLED
    return None


def _asks_of(asked: Key, key: Key) -> bool:
    names = [attribute.partition(".")[0].partition("[")[0] for attribute in (asked.attribute, key.attribute)]
    return asked.owner == key.owner and names[0] == names[1]


def _may_be_missing(state: AttributeState) -> bool:
    """Construction leaves it unset, or sets None or False."""
    first = [outside for outside in state.outside if outside.initial]
    return not first or all(outside.constant in {"None", "False"} for outside in first)


def _advice(name: str, how: str) -> str:
    match how:
        case "moved":
            return f"keep the moved tensor in a local, or make `{name}` a buffer, which moves with the module"
        case "rebuilt":
            return f"build `{name}` in `__init__` for the largest size, as a buffer, and slice it here"
        case _:
            return f"build `{name}` in `__init__`, or in a set-up method that runs before the first call"


LAZY_ATTRIBUTE = Rule("DYN104", "lazy-attribute", check)
