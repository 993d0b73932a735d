"""DYN101: an int, bool, float, str, enum or tuple attribute that compiled code itself keeps changing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, spell, subject
from dynamo_lint.rules.changes import Verdict, is_rare, latches, verdict
from dynamo_lint.rules.class_attributes import on_class
from dynamo_lint.rules.messages import changing
from dynamo_lint.rules.unused_numbers import unused
from dynamo_lint.state.model import AttributeState, Kind, Use
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute, at the write that changes it."""
    latched = latches(tables.attributes)
    for state in (part for whole in tables.attributes for part in _by_file(tables, whole)):
        found = verdict(state, context, latched)
        if found is None or unused(tables, state, context):
            continue
        if (effect := on_class(tables, state, context)) is not None:
            found = replace(found, effect=effect, entries=None)
        name, where = spell(found.site.write.place), region(tables, found.site.hot)
        claim = Claim(
            message=_message(name, where, found),
            cost=changing(
                found.effect,
                found.entries,
                context.recompile_limit,
                once="one extra compile, after which the value is dynamic",
            ),
            effect=found.effect,
            entries=found.entries,
            # One extra compile in all, like that of an attribute which the first call creates.
            severity="note" if found.once_only or is_rare(found.site.write) else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice(tables, state, name, found),
            step=f"changes `{name}`",
            related=related_sites(state, found.site),
        )
        yield finding(rule, tables, context, found.site.hot, found.site.position, claim)


def _by_file(tables: Tables, state: AttributeState) -> Iterator[AttributeState]:
    """A cache or another plain object may meet the code of one file and never that of another."""
    paths = dict.fromkeys(site.hot.function.path for site in state.writes)
    if len(paths) < 2 or tables.project.is_module(state.key.owner):
        yield state
        return
    for path in paths:
        yield replace(state, writes=tuple(s for s in state.writes if s.hot.function.path == path))


def _message(name: str, where: str, found: Verdict) -> str:
    if found.kind == Kind.COUNT:
        return f"`{name}` advances on every call of the compiled `{where}`, and Dynamo guards on its position"
    if found.once_only:
        how = "changes once, inside the compiled"
    elif found.effect == "storm":
        how = "changes on every call of the compiled"
    else:
        how = "changes between calls of the compiled"
    kind = found.kind.value
    return f"`{name}` is a Python {kind} that {how} `{where}`, and Dynamo guards on its value"


def _advice(tables: Tables, state: AttributeState, name: str, found: Verdict) -> str:
    if found.once_only:
        return (
            f"do this once in `__init__`, or leave `{name}` unchanged if two compiled versions are acceptable"
        )
    if found.kind not in {Kind.INT, Kind.FLOAT, Kind.BOOL}:
        return f"set `{name}` outside the compiled region, or pass what depends on it as an argument"
    uses = {read.use for read in state.reads}
    branches = Use.CONTROL in uses or (Use.COMPARE in uses and Use.TENSOR_MATH not in uses)
    if found.kind == Kind.BOOL or branches:
        return (
            f"move decisions that depend on `{name}` out of the compiled region, or keep it in a buffer and "
            "select with `torch.where`; a buffer in a Python `if` breaks the graph"
        )
    if uses & {Use.INDEX, Use.KEY, Use.ITERATED}:
        return f"keep `{name}` outside the compiled region and pass an index tensor in"
    update = "update it in place"
    if Use.TENSOR_MATH in uses:
        # Two forwards before a backward raise if the second one changed what the first one used.
        update = "rebind it instead of updating it in place, because autograd may need the old value"
    owner, attribute, start = (
        name.rpartition(".")[0] or "self",
        state.key.attribute,
        _start(state, found.kind),
    )
    if not tables.project.is_module(state.key.owner) or not attribute.isidentifier():
        return f"keep `{name}` in a tensor (`{start}`) and {update}"
    return (
        f'keep it in a buffer: `{owner}.register_buffer("{attribute}", {start}, persistent=False)` in '
        f"`__init__`, and {update}"
    )


def _start(state: AttributeState, kind: Kind) -> str:
    """The tensor that holds what the attribute starts with."""
    dtype = "torch.long" if kind == Kind.INT else "torch.float32"
    constant = next((o.constant for o in state.outside if o.initial), "0")
    if constant in ("0", "0.0"):
        return f"torch.zeros((), dtype={dtype})"
    return f"torch.tensor({constant or '...'}, dtype={dtype})"


MUTATED_SCALAR_ATTRIBUTE = Rule("DYN101", "mutated-scalar-attribute", check)
