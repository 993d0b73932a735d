"""DYN106: compiled code changes a module global, a closure cell or an attribute of a global object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, spell, subject
from dynamo_lint.rules.changes import is_rare, verdict
from dynamo_lint.rules.class_attributes import on_class
from dynamo_lint.rules.lazy_attribute import created
from dynamo_lint.rules.messages import changing
from dynamo_lint.rules.unused_numbers import unused
from dynamo_lint.state.model import AttributeState, Kind, WriteSite
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class _Change:
    site: WriteSite
    effect: str
    entries: int | None
    how: str
    """The subject of the change, as the message names it."""
    rare: bool = False
    """It happens in the first call alone, or only if an input asks for it."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per global, at the write that changes it."""
    for state in tables.globals:
        found = _change(state, context)
        if found is None or unused(tables, state, context):
            continue
        if (effect := on_class(tables, state, context)) is not None:
            found = replace(found, effect=effect, entries=None)
        name, where = spell(found.site.write.place), region(tables, found.site.hot)
        owner = "the enclosing function's" if state.root == "closure" else "global"
        claim = Claim(
            message=f"the compiled `{where}` changes {owner} state: `{name}` {found.how}, and Dynamo guards "
            "on it",
            cost=changing(
                found.effect,
                found.entries,
                context.recompile_limit,
                once="one extra compile, at the second call",
            ),
            effect=found.effect,
            entries=found.entries,
            severity="note" if found.rare else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice(name, found),
            step=f"changes `{name}`",
            related=related_sites(state, found.site),
        )
        yield finding(rule, tables, context, found.site.hot, found.site.position, claim)


def _change(state: AttributeState, context: Context) -> _Change | None:
    scalar = verdict(state, context)
    if scalar is not None:
        how = f"is a Python {scalar.kind.value} that every call can change"
        if scalar.once_only:
            how = f"is a Python {scalar.kind.value} that the first call changes"
        rare = scalar.once_only or is_rare(scalar.site.write)
        return _Change(scalar.site, scalar.effect, scalar.entries, how, rare)
    lazy = created(state)
    if lazy is not None:
        return _Change(lazy[0], "once", 2, "gets its value in the first call")
    tensors = [site for site in state.writes if Kind.TENSOR in site.write.value.kinds]
    kinds = frozenset[Kind]().union(*(outside.kinds for outside in state.outside))
    if state.reads and tensors and kinds and Kind.TENSOR not in kinds:
        return _Change(tensors[0], "once", 2, "becomes a tensor")
    return None


def _advice(name: str, found: _Change) -> str:
    if found.effect == "storm":
        return f"count in the caller, which is not compiled, or keep `{name}` in a tensor updated in place"
    return f"give `{name}` its value at import or in a set-up function that runs before the compiled code"


GLOBAL_COUNTER = Rule("DYN106", "global-counter", check)
