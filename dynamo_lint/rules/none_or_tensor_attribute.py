"""DYN103: an attribute that is None (or a number) on some calls and a tensor on others."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, spell, subject
from dynamo_lint.rules.changes import ALLOWS_NONE, closed, latches, reported_by_latch
from dynamo_lint.state.model import AttributeState, Kind, Kinds, Use, Write, WriteSite
from dynamo_lint.state.provenance import Tables

NUMBERS = frozenset({Kind.INT, Kind.FLOAT})


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute, at the first write that makes it a tensor."""
    latched = latches(tables.attributes)
    for state in tables.attributes:
        found = flip(state)
        first = _first_tensors(state) if found is not None else []
        unsaid = [site for site in first if not reported_by_latch(site, state, latched)]
        unsaid = [site for site in unsaid if not closed(site, first, latched)]
        if found is None or not unsaid:
            continue
        site, start = found
        site = site if site in unsaid else unsaid[0]
        name, where = spell(site.write.place), region(tables, site.hot)
        claim = Claim(
            message=f"`{name}` is {start} on some calls of the compiled `{where}` and a tensor on others, "
            "and Dynamo guards on its type",
            cost="one extra compile the first time its type changes",
            effect="once",
            entries=2,
            subject=subject(state),
            keys=(state.key,),
            # A zero buffer that takes up a loss with a gradient still flips: `requires_grad` is guarded too.
            advice=f"let every call overwrite `{name}` and add the values up outside the compiled code, "
            "which keeps their gradients; a sum used only for logging can be a zero buffer "
            f"(`{name} = {name} + value.detach()`, reset to zeros)",
            step=f"makes `{name}` a tensor",
            related=related_sites(state, site),
        )
        yield finding(rule, tables, context, site.hot, site.position, claim)


def flip(state: AttributeState) -> tuple[WriteSite, str] | None:
    """The write of a tensor over something that is not one, unless the attribute is a plain lazy cache."""
    if not state.reads or state.external:
        return None
    tensors = [s for s in state.writes if Kind.TENSOR in s.write.value.kinds and not moves(s.write)]
    first = frozenset[Kind]().union(*(o.kinds for o in state.outside if o.initial))
    later = frozenset[Kind]().union(
        *(outside.kinds for outside in state.outside if not outside.initial),
        *(s.write.value.kinds - NUMBERS for s in state.writes),
    )
    # None in one branch of `__init__` and a tensor in the other is a choice made once, not a flip.
    start = _start(later | first if Kind.TENSOR not in first else later)
    if not tensors or start is None:
        return None
    if start == "None" and not any(read.use in ALLOWS_NONE for read in state.reads):
        return None
    if start == "None" and all(_adds(s.write) for s in tensors) and not _tested(state):
        return None  # None cannot be added to: other code has made it a tensor before
    builds = [s for s in tensors if not _fills_cache(state, s.write)]
    return (builds[0], start) if builds else None


def _tested(state: AttributeState) -> bool:
    return any(read.use in {Use.NONE_TEST, Use.CONTROL} for read in state.reads)


def _first_tensors(state: AttributeState) -> list[WriteSite]:
    """The writes that may find no tensor there: what adds to one has found it."""
    tensors = [site for site in state.writes if Kind.TENSOR in site.write.value.kinds]
    return [s for s in tensors if not moves(s.write) and not _adds(s.write)] or tensors


def _start(kinds: Kinds) -> str | None:
    if Kind.NONE in kinds:
        return "None"
    return "a Python number" if kinds & NUMBERS else None


def _fills_cache(state: AttributeState, write: Write) -> bool:
    """`if self.cache is None: self.cache = build()`: a first value that is not built on an older one."""
    guarded = any(guard.missing and guard.key == state.key for guard in write.guards)
    return guarded and not accumulates(state)


def moves(write: Write) -> bool:
    """`self.table = self.table.to(device)`: what is None stays None."""
    return any(o.via == "moved" and o.name == ".".join(write.place) for o in write.value.origins)


def accumulates(state: AttributeState) -> bool:
    """Some hot write adds to what is there."""
    return any(_adds(site.write) for site in state.writes)


def _adds(write: Write) -> bool:
    return any(load.place == write.place for load in write.value.derived | write.value.pending)


NONE_OR_TENSOR_ATTRIBUTE = Rule("DYN103", "none-or-tensor-attribute", check)
