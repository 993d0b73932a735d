"""How an attribute changes from call to call and what that costs: the verdict of mutated-scalar-attribute.

For models that no run (interpreter/) reaches; where one does, it corrects or refutes the verdict.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.index import ir
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.rules.base import Context, nodes_of
from dynamo_lint.state.model import (
    SCALARS,
    AttributeState,
    EnclosingTest,
    Key,
    Kind,
    Kinds,
    Mutation,
    Use,
    Write,
    WriteSite,
)
from dynamo_lint.state.provenance import Tables

FLOAT_MATH = frozenset({Use.TENSOR_MATH, Use.ARITHMETIC, Use.STORED, Use.NONE_TEST, Use.RETURNED, Use.NAMED})
"""Uses in which Dynamo makes a float that comes from outside dynamic after the first change."""
ALLOWS_NONE = frozenset({Use.NONE_TEST, Use.CONTROL, Use.RETURNED, Use.STORED, Use.NAMED})
"""Uses that work with None: where an attribute is only used in other ways, it never is None there."""
FLOAT_TESTS = FLOAT_MATH | {Use.COMPARE, Use.CONTROL}

STOPS = {"<": 1, "!=": 1, "<=": 2}
"""A counter from 0 that goes on while it is `< 3` takes 3 + 1 values."""
STARTS_OVER = {"==": 0, ">=": 0, ">": 1}
NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The cost of an attribute's changes, and the write to blame."""

    site: WriteSite
    effect: str
    entries: int | None
    kind: Kind
    once_only: bool = False
    """It changes a single time: a flag, or a first value."""


def latches(states: Iterable[AttributeState]) -> frozenset[Key]:
    """Attributes that are only ever filled: what stands under `if not self.ready:` happens once."""
    return frozenset(
        key
        for state in states
        if state.writes and all(_closes(site.write) for site in state.writes)
        if all(any(site.write.keys & way for way in site.ways) for site in state.writes)
        for site in state.writes
        for key in site.write.keys
    )


def reported_by_latch(site: WriteSite, state: AttributeState, latched: frozenset[Key]) -> bool:
    """The write happens together with that of a latch, which is reported instead: one cause, one finding."""
    others = latched - site.write.keys - {state.key}
    return bool(site.ways) and all(way & others and state.key not in way for way in site.ways)


def closed(site: WriteSite, others: Iterable[WriteSite], latched: frozenset[Key]) -> bool:
    """The write happens where a latch has closed, together with which one of the others was made."""
    asked = {guard.key for guard in site.write.guards if not guard.missing and guard.limit is None}
    return any(way & asked & latched for other in others for way in other.ways)


def verdict(state: AttributeState, context: Context, latched: frozenset[Key] = frozenset()) -> Verdict | None:
    """The cost of an attribute's hot writes, if they cost anything."""
    if not state.reads or state.external:
        return None
    state = replace(state, writes=_lasting(state))
    start = _start_kinds(state)
    if not start or not start <= SCALARS | {Kind.NONE, Kind.COUNT}:
        return None
    values = [site.write.value for site in state.writes]
    if any(Kind.TENSOR in value.kinds or Kind.CONTAINER in value.kinds for value in values):
        return None
    growing = [site for site in state.writes if _grows(site.write)]
    if growing:
        return _of_growth(state, growing[0], context)
    constants = [site for site in state.writes if site.write.value.constants is not None]
    data = [site for site in state.writes if _is_data(site.write)]
    if data:
        return _of_data(state, data[0], start, context, latched)
    return _of_constants(state, constants, start) if constants else None


def _lasting(state: AttributeState) -> tuple[WriteSite, ...]:
    """The writes that are still there when the call is over: not those that a function takes back itself."""
    brief: set[WriteSite] = set()
    restoring = [site for site in state.writes if _restores(state, site.write)]
    for site in state.writes:
        for later in restoring:
            if later.hot.function == site.hot.function and later.position.line > site.position.line:
                brief |= {site, later} if _takes_back(state, site, later) else set()
    return tuple(site for site in state.writes if site not in brief)


def _restores(state: AttributeState, write: Write) -> bool:
    """Whether a write may take an earlier one back: few do, and comparing all with all is for few."""
    begins = {outside.constant for outside in state.outside}
    return bool(write.value.pending) or write.value.constants in (frozenset(begins), frozenset({"True"}))


def _takes_back(state: AttributeState, site: WriteSite, later: WriteSite) -> bool:
    first, second = site.write, later.write
    if any(load.place == second.place for load in second.value.pending) and not second.value.derived:
        return True
    # `self.busy = True` … `self.busy = False`, which is what it starts with.
    begins = {outside.constant for outside in state.outside}
    if second.value.constants and second.guards <= first.guards and begins == second.value.constants:
        return True
    # `if self.flag: self.flag = False; off = True` … `if off: self.flag = True`
    held = any(g.key == state.key and not g.missing and g.limit is None for g in first.guards)
    asked = any(g.key == state.key for g in second.guards)
    return held and not asked and second.value.constants == frozenset({"True"})


def _start_kinds(state: AttributeState) -> Kinds:
    """The kinds of the attribute before hot code writes it; its own literals where nothing else says."""
    first = [o for o in state.outside if o.initial] or list(state.outside)
    if first:
        return frozenset().union(*(o.kinds for o in first)) if all(o.kinds for o in first) else frozenset()
    values = [s.write.value for s in state.writes]
    literals = [value for value in values if value.constants] or [v for v in values if v.derived and v.kinds]
    return frozenset().union(*(value.kinds for value in literals))


def _grows(write: Write) -> bool:
    """The new value is computed from the old one."""
    own = any(load.place == write.place for load in write.value.derived)
    return own and bool(write.value.kinds) and not write.value.largest and not _first_value(write)


def _first_value(write: Write) -> bool:
    own = [guard for guard in write.guards if guard.key in write.keys]
    # `if self.n is None or n > self.n:` fills it once and then goes on.
    return any(guard.missing for guard in own) and all(guard.limit is None for guard in own)


def _closes(write: Write) -> bool:
    """The test that found the attribute empty does not find it so again."""
    if write.value.constants is not None:
        return write.value.constants.isdisjoint({"False", "None", "0"})
    return bool(write.value.kinds) and write.value.kinds.isdisjoint(SCALARS | {Kind.NONE})


def _is_data(write: Write) -> bool:
    """The new value is not a literal and comes from the call: a shape, an argument, a larger of the two."""
    value = write.value
    # What is compared with a number (`if n > self.n: self.n = n`) is one.
    compared = any(guard.key in write.keys and guard.limit is not None for guard in write.guards)
    if value.constants is not None or value.kinds == {Kind.NONE} or not (value.kinds or compared):
        return False
    others = {load.place for load in value.pending | value.derived if len(load.place) > 1} - {write.place}
    copied = any(load.place == write.place for load in value.pending)
    # What follows another attribute changes with that one: it is reported there.
    return not others and not copied and value.kinds <= SCALARS | {Kind.NONE}


def _of_growth(state: AttributeState, site: WriteSite, context: Context) -> Verdict:
    write = site.write
    kinds = write.value.kinds - {Kind.NONE}
    kind = next((k for k in (Kind.FLOAT, Kind.INT, *sorted(kinds, key=str)) if k in kinds), Kind.INT)
    bound = 2 if kind == Kind.BOOL else write.value.bound
    if bound is None:
        bound = _limit(state, write)
    if kind == Kind.INT and not specialises(state, context) and state.outside:
        return Verdict(site, *of_dynamic_int(state), kind)
    if bound is not None:
        storm = bound > context.recompile_limit
        return Verdict(site, "storm" if storm else "per-value", None if storm else bound or None, kind)
    match kind:
        case Kind.INT if not specialises(state, context):
            return Verdict(site, "per-value", 3, kind)  # absent, then a number, then any number
        case Kind.ENUM:
            return Verdict(site, "per-value", None, kind)
        case _:
            return Verdict(site, "storm", None, kind)


def specialises(state: AttributeState, context: Context) -> bool:
    """Whether Dynamo makes a constant of an int that it reads there, each time anew.

    `is_int_specialization_case` (torch/_dynamo/utils.py): globals always, modules in newer versions of torch.
    """
    if state.root == "global":
        return True
    return not (state.argument or context.unspec_int) and context.has("int-attributes-are-constants")


def of_dynamic_int(state: AttributeState) -> tuple[str, int | None]:
    """Effect and number of versions of an int that Dynamo makes dynamic, by how it is used."""
    uses = {read.use for read in state.reads}
    if uses & {Use.ITERATED, Use.KEY}:
        return "storm", None
    if uses & {Use.CONTROL, Use.COMPARE, Use.INDEX}:
        return "per-value", None
    if not state.argument and any(len(site.write.place) > 2 for site in state.writes):
        return "per-value", 3  # in a container or namespace 0 and 1 are versions of their own
    return "once", 2


def is_idle_constant(uses: set[Use], context: Context) -> bool:
    """Whether this torch makes a constant of a float that nothing computes with."""
    return uses <= {Use.STORED, Use.NAMED} and not context.has("unused-floats-are-symbols")


def _limit(state: AttributeState, write: Write) -> int | None:
    """How many values it takes, if it stops (`if self.n < 3: self.n += 1`) or starts over at some point."""
    for guard in write.guards:
        operator, number = comparison(guard)
        if guard.key == state.key and operator in STOPS:
            return int(number) + STOPS[operator] if number.isdigit() else 0
    for site in state.writes:
        for guard in site.write.guards if site.write.value.constants is not None else ():
            operator, number = comparison(guard)
            if guard.key == state.key and operator in STARTS_OVER:
                return int(number) + STARTS_OVER[operator] if number.isdigit() else 0
    return None


def comparison(guard: EnclosingTest) -> tuple[str, str]:
    """The comparison that holds: `not >= 3` is `< 3`."""
    if guard.limit is None:
        return "", ""
    text = guard.limit.removeprefix("not ")
    number = text.lstrip("<>=!")
    operator = text.removesuffix(number)
    return (NEGATED.get(operator, "") if guard.limit.startswith("not ") else operator), number


def depends_on_input(change: Write | Mutation, *, fills: bool = False) -> bool:
    """Whether a change happens only if something of the call exceeds, or differs from, what it changes.

    After it the same input changes nothing: `if n > self.longest: self.longest = n`. What `fills` something
    up goes on by itself while there is less than a limit.
    """
    own = {(key.owner, key.attribute.partition("[")[0]) for key in change.keys}
    told = [
        comparison(guard)
        for guard in change.guards
        if guard.limit is not None and (guard.key.owner, guard.key.attribute.partition("[")[0]) in own
    ]
    return any(not limit.isdigit() for operator, limit in told if not (fills and operator in STOPS))


def is_rare(write: Write) -> bool:
    """Whether a write happens only if the input asks for it; a counter counts by itself."""
    return depends_on_input(write, fills=_grows(write))


def _of_float(state: AttributeState, site: WriteSite, context: Context) -> Verdict:
    uses = {read.use for read in state.reads}
    if is_idle_constant(uses, context):
        return Verdict(site, "storm", None, Kind.FLOAT)
    if uses <= FLOAT_MATH:
        return Verdict(site, "once", 2, Kind.FLOAT)
    if uses <= FLOAT_TESTS:
        return Verdict(site, "per-value", None, Kind.FLOAT)
    return Verdict(site, "storm", None, Kind.FLOAT)


def _of_data(
    state: AttributeState, site: WriteSite, start: Kinds, context: Context, latched: frozenset[Key]
) -> Verdict | None:
    write = site.write
    kinds = (write.value.kinds | start) - {Kind.NONE}
    if not kinds:
        return None
    kind = Kind.INT if Kind.INT in kinds else sorted(kinds, key=str)[0]
    # What starts as None and is only used in ways that None does not allow is set before its first use.
    unseen = start == {Kind.NONE} and not any(read.use in ALLOWS_NONE for read in state.reads)
    if reported_by_latch(site, state, latched):
        return None
    if Kind.NONE in start and depends_on_input(write):  # `if n != self.n: self.n = n`, from None
        return Verdict(site, "once", 2, kind, once_only=True)
    if _first_value(write) or unseen or kind == Kind.BOOL:
        return Verdict(site, "per-value", 2, kind, once_only=kind != Kind.BOOL)
    if kind == Kind.FLOAT:
        return _of_float(state, site, context)
    if kind == Kind.INT and not specialises(state, context):
        return Verdict(site, *of_dynamic_int(state), kind)
    return Verdict(site, "per-value", None, kind)


def _of_constants(state: AttributeState, sites: list[WriteSite], start: Kinds) -> Verdict | None:
    """Only literals are ever stored: as many entries as there are different ones."""
    values: set[str] = set()
    for site in sites:
        values |= site.write.value.constants or frozenset()
    written = set(values)
    others = [o.constant for o in state.outside]
    values |= {constant for constant in others if constant is not None}
    open_ended = any(constant is None for constant in others)
    if open_ended and not start <= {Kind.BOOL, Kind.NONE}:
        return None
    if len(values) < 2 and not open_ended:
        return None
    kinds = frozenset[Kind]().union(*(s.write.value.kinds for s in sites))
    kind = next(iter(sorted(kinds - {Kind.NONE}, key=str)), Kind.NONE)
    if kind == Kind.NONE and start <= {Kind.NONE}:
        return None
    changing = next(s for s in sites if _differs(s.write, others))
    return Verdict(changing, "per-value", max(2, len(values)), kind, once_only=len(written) == 1)


def _differs(write: Write, others: list[str | None]) -> bool:
    return write.value.constants is None or not write.value.constants <= set(others) or len(set(others)) != 1


def on_class(tables: Tables, state: AttributeState, context: Context) -> str | None:
    """The effect of setting an attribute on a class where this torch does not trace that; None elsewhere.

    Behind the break Dynamo still takes what `self.__class__` or `cls` holds for a constant.
    """
    if state.scoped or context.has("class-attributes-are-guarded"):
        return None
    found = {_setting(tables, site) for site in state.writes}
    return None if None in found or not found else "stale" if "stale" in found else "break"


def _setting(tables: Tables, site: WriteSite) -> str | None:
    ref = site.hot.function
    for node in nodes_of(tables, ref):
        match node:
            case ast.Attribute(owner, attribute, ast.Store()) if (
                node.lineno == site.position.line and attribute == site.write.place[-1]
            ):
                return _of_owner(tables, site, owner)
    return None


def _of_owner(tables: Tables, site: WriteSite, owner: ast.expr) -> str | None:
    match owner:
        case ast.Attribute(attr="__class__") | ast.Call(func=ast.Name("type")) | ast.Name("cls"):
            return "stale"
        case ast.Name(name):
            path, key = site.hot.function.path, site.hot.function.key
            found = tables.project.symbols(ir.Name(name), path, key)
            return "break" if any(isinstance(one, ClassRef) for one in found) else None
    return None


_SUMS = frozenset({Use.ARITHMETIC, Use.STORED})
_UNGUARDED: frozenset[type[ast.operator]] = frozenset({ast.Add, ast.Sub, ast.Mult})
Lines = set[tuple[FunctionRef, int]]


def unused(tables: Tables, state: AttributeState, context: Context) -> bool:
    """Whether this torch lets a number pass that no line does more with than to add, subtract or multiply.

    It is a name of a module or function, or an entry of a `__dict__`: an attribute that is read as one
    (`self.n += 1`) is guarded all the same, and so is a number that starts over at some value.
    """
    writes: Lines = {(site.hot.function, site.position.line) for site in state.writes}
    reads = {(site.hot.function, site.position.line) for site in state.reads}
    places = {len(site.write.place) for site in state.writes}
    return (
        reads <= writes
        and {site.use for site in state.reads} <= _SUMS
        and places == {1 if state.scoped else 2}
        and all(site.write.value.bound is None for site in state.writes)
        and all(_adds_only(tables, state, ref, writes) for ref, _ in writes)
        and context.has("unused-numbers-are-not-guarded")
    )


def _adds_only(tables: Tables, state: AttributeState, ref: FunctionRef, writes: Lines) -> bool:
    name, mentions = state.key.attribute, tables.bodies.mentions(ref)
    lines = {line for where, line in writes if where == ref}
    if name in mentions.attributes or not mentions.read.get(name, frozenset()) <= lines:
        return False
    if any(mentions.operators.get((line, name), _UNGUARDED) - _UNGUARDED for line in lines):
        return False
    return state.scoped or lines <= mentions.namespaces
