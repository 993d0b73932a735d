"""Rules about single values that change from call to call: numbers, flags, tensors, names of modules."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Choice, Constant
from dynamo_lint.program.refs import Position
from dynamo_lint.rules.base import (
    ONCE,
    Claim,
    Context,
    Rule,
    costs,
    finding,
    named,
    region,
    related_sites,
    spell,
    storm,
    subject,
)
from dynamo_lint.rules.changes import (
    ALLOWS_NONE,
    FLOAT_MATH,
    FLOAT_TESTS,
    Verdict,
    closed,
    is_idle_constant,
    is_rare,
    latches,
    of_dynamic_int,
    on_class,
    reported_by_latch,
    specialises,
    unused,
    verdict,
)
from dynamo_lint.state.model import SCALARS, AttributeState, Key, Kind, Kinds, Outside, Use, Write, WriteSite
from dynamo_lint.state.provenance import Tables


@named("DYN101", "mutated-scalar-attribute")
def mutated_scalar_attribute(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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
            cost=costs(
                found.effect,
                found.entries,
                context.recompile_limit,
                "one extra compile, after which the value is dynamic",
                who="this code",
            ),
            effect=found.effect,
            entries=found.entries,
            # One extra compile in all, like that of an attribute which the first call creates.
            severity="note" if found.once_only or is_rare(found.site.write) else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice_on_changes(tables, state, name, found),
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


def _advice_on_changes(tables: Tables, state: AttributeState, name: str, found: Verdict) -> str:
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
        _initial_tensor(state, found.kind),
    )
    if not tables.project.is_module(state.key.owner) or not attribute.isidentifier():
        return f"keep `{name}` in a tensor (`{start}`) and {update}"
    return (
        f'keep it in a buffer: `{owner}.register_buffer("{attribute}", {start}, persistent=False)` in '
        f"`__init__`, and {update}"
    )


def _initial_tensor(state: AttributeState, kind: Kind) -> str:
    """The tensor that holds what the attribute starts with."""
    dtype = "torch.long" if kind == Kind.INT else "torch.float32"
    constant = next((o.constant for o in state.outside if o.initial), "0")
    if constant in ("0", "0.0"):
        return f"torch.zeros((), dtype={dtype})"
    return f"torch.tensor({constant or '...'}, dtype={dtype})"


@dataclass(frozen=True, slots=True)
class _Rebinding:
    site: Outside
    kind: Kind
    effect: str
    entries: int | None = None


@named("DYN102", "external-scalar-attribute")
def external_scalar_attribute(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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
            cost=_cost(found, context.recompile_limit),
            effect=found.effect,
            entries=found.entries,
            severity="note" if site.often == "perhaps" else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice_on_rebinding(state, found),
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


def _cost(found: _Rebinding, limit: int) -> str:
    if found.effect == "storm":
        return storm(limit, per="new value")
    return costs(found.effect, found.entries, limit, ONCE)


def _advice_on_rebinding(state: AttributeState, found: _Rebinding) -> str:
    name = state.key.attribute
    if found.kind in {Kind.INT, Kind.FLOAT}:
        return f"keep `{name}` in a buffer and fill it in place (`.fill_(value)`), or pass a tensor"
    return f"move decisions that depend on `{name}` out of the compiled code, and use few distinct values"


NUMBERS = frozenset({Kind.INT, Kind.FLOAT})


@named("DYN103", "none-or-tensor-attribute")
def none_or_tensor_attribute(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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


_AT_ONCE = "build `{name}` in `__init__`, or in a set-up method that runs before the first call"
_CREATIONS = {
    "filled": (
        "is created by the first call of the compiled `{where}`, and Dynamo guards on its absence",
        "one extra compile, at the second call",
        _AT_ONCE,
    ),
    "registered": (
        "is registered inside the compiled `{where}`, and Dynamo guards on the module's contents",
        "one extra compile, at the second call",
        _AT_ONCE,
    ),
    "moved": (
        "is replaced by a moved or converted tensor in the compiled `{where}`, and Dynamo guards on the "
        "device and dtype of the first one",
        "one extra compile, if the tensor was on another device or of another dtype than the input",
        "keep the moved tensor in a local, or make `{name}` a buffer, which moves with the module",
    ),
    "rebuilt": (
        "is rebuilt in the compiled `{where}` when it is too small, and Dynamo guards on its size",
        "one extra compile each time it grows, besides the one for the new input size",
        "build `{name}` in `__init__` for the largest size, as a buffer, and slice it here",
    ),
}
"""By how an attribute gets its value: what is said, what it costs, and what to do."""


@named("DYN104", "lazy-attribute")
def lazy_attribute(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per attribute, at the write that creates it."""
    latched = latches(tables.attributes)
    for state in tables.attributes:
        found = created(state)
        if found is None or flip(state) is not None or reported_by_latch(found[0], state, latched):
            continue
        site, how = found
        name, where = spell(site.write.place), region(tables, site.hot)
        (says, cost, advice), rebuilt = _CREATIONS[how], how == "rebuilt"
        claim = Claim(
            message=f"`{name}` {says.format(where=where)}",
            cost=cost,
            effect="per-value" if rebuilt else "once",
            entries=None if rebuilt else 2,
            severity="note" if rebuilt else None,
            subject=subject(state),
            keys=(state.key,),
            advice=advice.format(name=name),
            step=f"creates `{name}`" if advice == _AT_ONCE else f"replaces `{name}`",
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
            return site, "registered"
        if moves(write):
            return site, "moved"
        if write.value.kinds and write.value.kinds <= SCALARS | {Kind.NONE}:
            continue
        own = [guard for guard in write.guards if guard.key == state.key]
        if any(guard.limit is not None and not _asks_of(guard.key, state.key) for guard in write.guards):
            continue  # another attribute decides when it is built: that one is reported
        if any(guard.missing for guard in own) and not accumulates(state) and _may_be_missing(state):
            sized = any(guard.limit is not None for guard in own) and Kind.TENSOR in write.value.kinds
            return site, "rebuilt" if sized else "filled"
    return None


def _asks_of(asked: Key, key: Key) -> bool:
    names = [attribute.partition(".")[0].partition("[")[0] for attribute in (asked.attribute, key.attribute)]
    return asked.owner == key.owner and names[0] == names[1]


def _may_be_missing(state: AttributeState) -> bool:
    """Construction leaves it unset, or sets None or False."""
    first = [outside for outside in state.outside if outside.initial]
    return not first or all(outside.constant in {"None", "False"} for outside in first)


@dataclass(frozen=True, slots=True)
class _Change:
    site: WriteSite
    effect: str
    entries: int | None
    how: str
    """The subject of the change, as the message names it."""
    rare: bool = False
    """It happens in the first call alone, or only if an input asks for it."""


@named("DYN106", "global-counter")
def global_counter(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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
            cost=costs(
                found.effect,
                found.entries,
                context.recompile_limit,
                "one extra compile, at the second call",
                who="this code",
            ),
            effect=found.effect,
            entries=found.entries,
            severity="note" if found.rare else None,
            subject=subject(state),
            keys=(state.key,),
            advice=_advice_on_globals(name, found),
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


def _advice_on_globals(name: str, found: _Change) -> str:
    if found.effect == "storm":
        return f"count in the caller, which is not compiled, or keep `{name}` in a tensor updated in place"
    return f"give `{name}` its value at import or in a set-up function that runs before the compiled code"
