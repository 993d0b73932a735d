"""DYN102: compiled code reads a number, flag or string that other code rebinds between the calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Choice, Constant
from dynamo_lint.program.refs import Position
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region, related_sites, subject
from dynamo_lint.rules.changes import FLOAT_MATH, FLOAT_TESTS, is_idle_constant, of_dynamic_int, specialises
from dynamo_lint.rules.messages import bounded
from dynamo_lint.state.model import SCALARS, AttributeState, Kind, Outside
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class _Rebinding:
    site: Outside
    kind: Kind
    effect: str
    entries: int | None = None


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute, at the rebinding that happens most often."""
    for state in (*tables.attributes, *tables.globals):
        found = _rebinding(state, context)
        if found is None:
            continue
        read = state.reads[0]
        site, where = found.site, region(tables, read.hot)
        name = state.key.attribute if state.scoped else f"{state.key.owner.name}.{state.key.attribute}"
        claim = Claim(
            message=f"`{name}` is a Python {found.kind.value} that is rebound between calls of the compiled "
            f"`{where}`, and Dynamo guards on its value",
            cost=_cost(found, context),
            effect=found.effect,
            entries=found.entries,
            severity="note" if site.often == "perhaps" else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice(state, found),
            step=f"rebinds `{name}`",
            related=related_sites(state, site),
        )
        position = Position(site.line, site.column, site.line, site.end_column)
        yield finding(rule, tables, context, read.hot, position, claim, site.where)


def _rebinding(state: AttributeState, context: Context) -> _Rebinding | None:
    """The write outside hot code that costs most, if hot code leaves the attribute alone."""
    sites = [outside for outside in state.outside if outside.often != "rarely"]
    if not sites or not state.reads or state.writes or state.external:
        return None
    first = frozenset[Kind]().union(*(o.kinds for o in state.outside if o.initial))
    later = frozenset[Kind]().union(*(o.kinds for o in sites))
    kinds = (later or first) | (first if not all(o.kinds for o in sites) else frozenset())
    if not kinds or not kinds <= SCALARS | {Kind.NONE} or kinds == {Kind.NONE}:
        return None
    begins = {outside.constant for outside in state.outside if outside.initial}
    site = max(
        sites,
        key=lambda o: (o.often != "perhaps", o.constant is None, o.constant not in begins, o.often == "each"),
    )
    kind = min(kinds - {Kind.NONE}, key=lambda k: (k == Kind.BOOL, k.value))
    literals = [_literals(outside) for outside in sites]
    if all(literals):
        values = len(frozenset[str]().union(*literals, *map(_literals, state.outside)))
        return (
            _Rebinding(site, kind, "once" if kind == Kind.BOOL else "per-value", values)
            if values > 1
            else None
        )
    if kind == Kind.BOOL:
        return _Rebinding(site, kind, "once", 2)
    uses = {read.use for read in state.reads}
    if kind == Kind.FLOAT and uses <= FLOAT_TESTS and not is_idle_constant(uses, context):
        return _Rebinding(
            site, kind, "once" if uses <= FLOAT_MATH else "per-value", 2 if uses <= FLOAT_MATH else None
        )
    if kind == Kind.INT and not specialises(state, context):
        return _Rebinding(site, kind, *of_dynamic_int(state))
    return _Rebinding(site, kind, "storm" if site.often == "each" else "per-value")


def _literals(site: Outside) -> frozenset[str]:
    """The literals it chooses from (`"relu" if odd else "tanh"`); empty if it stores anything else."""
    if site.constant is not None:
        return frozenset({site.constant})
    match site.value:
        case Choice(options) if all(isinstance(option, Constant) for option in options):
            return frozenset(repr(option.value) for option in options if isinstance(option, Constant))
    return frozenset()


def _cost(found: _Rebinding, context: Context) -> str:
    limit = context.recompile_limit
    match found.effect:
        case "storm":
            return (
                f"one recompile per new value until the recompile limit ({limit}); after that this code is "
                "never compiled again and runs eagerly"
            )
        case "once":
            return "one extra compile, at the first change"
        case _ if found.entries is not None:
            return bounded(found.entries)
        case _:
            return f"one compiled version per value; beyond the recompile limit ({limit}) it runs eagerly"


def _advice(state: AttributeState, found: _Rebinding) -> str:
    name = state.key.attribute
    if found.kind in {Kind.INT, Kind.FLOAT}:
        return f"keep `{name}` in a buffer and fill it in place (`.fill_(value)`), or pass a tensor"
    return f"move decisions that depend on `{name}` out of the compiled code, and use few distinct values"


EXTERNAL_SCALAR_ATTRIBUTE = Rule("DYN102", "external-scalar-attribute", check)
