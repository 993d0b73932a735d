"""The account of what was checked: each Python value that compiled code reads, and whether calls change it.

A proof comes from a program that was followed: the guards of its compiled calls failed, or all held to its
end. Where no program tells, it comes from the tables: what nothing writes after it was made never changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dynamo_lint.dataclass import dataclass
from dynamo_lint.guards import Guarded
from dynamo_lint.index.ir import Constant, Name, Parameter
from dynamo_lint.interpreter.find import Run, Specialised, runs
from dynamo_lint.interpreter.guards import Recompile
from dynamo_lint.interpreter.model import PLAIN
from dynamo_lint.models.drivers import DEFAULTS, NAMED
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.environment_writes import ANY, environment_writes
from dynamo_lint.state.guard_surface import guard_surface
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables

CHANGED, KEPT, SET_ONCE, MAY = "changed", "kept", "set-once", "may-change"
_SETTLED = frozenset({"constructor", "import", "nobody"})
"""Who writes a value that stays what it is while compiled code is called."""
_EXACT = frozenset({"value", "length", "keys", "presence", "test"})
"""The checks that fail whenever the part of a value that is used changes."""
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str"})
_BY_TYPE = {"list or dict": "length", "list": "length", "dict": "keys", "set": "keys"}
"""What Dynamo compares of a container; of anything else that is plain its value."""


@dataclass(frozen=True, slots=True)
class Accounted:
    """A value that compiled code reads, and what is known of it from one call to the next."""

    guarded: Guarded
    read: tuple[str, int]
    """File and line of the first use in compiled code."""
    checks: tuple[str, ...]
    """What Dynamo compares in every call: its `value`, `length`, `keys`; nothing if a filter drops that."""
    change: str
    """`changed` between calls of a program, `kept` its value in all calls of those that were followed, is
    `set-once`, or `may-change`."""
    programs: tuple[str, ...] = ()
    """The programs that show it: identities of functions, or of files."""
    was: str = ""
    """The value that code was compiled for, where it is known and has changed."""
    now: str = ""
    called: tuple[str, int] | None = None
    """The call that met the change first."""
    compiles: int = 0
    """How many compiles changes of it asked for, in all programs."""
    keys: frozenset[str] = frozenset()
    """Identities of the state (`Key.id`), by which findings are joined."""

    @property
    def value(self) -> tuple[str, str]:
        """Its kind and name, however many regions read it."""
        return self.guarded.kind, self.guarded.name

    @property
    def is_settled(self) -> bool:
        """Whether it never changes between calls, as far as the code shows."""
        return self.change in {KEPT, SET_ONCE}


@dataclass(frozen=True, slots=True)
class _Shown:
    """One piece of state in one compiled function, as one program shows it."""

    run: Run
    specialised: Specialised
    recompiles: tuple[Recompile, ...]

    @property
    def changed(self) -> bool:
        """A guard on it has failed for certain."""
        return any(not one.in_doubt for one in self.recompiles)

    @property
    def kept(self) -> bool:
        """It is known, and had one value, in every call of a program that is known to its end."""
        exact = bool(self.specialised.checks & _EXACT) and "size" not in self.specialised.checks
        called = self.run.calls.get(self.specialised.unit, 0) > 1
        return exact and called and self.run.whole and self.specialised.known and not self.recompiles


_Evidence = Mapping[tuple[str, Key], list[_Shown]]
"""What programs show, by compiled function and state."""


def account(tables: Tables) -> tuple[Accounted, ...]:
    """The values that each region reads, each once: by region, then by what they are."""
    evidence = _evidence(runs(tables))
    regions = _units(tables)
    found = [
        _accounted(one.guarded, (one.hot.function.path, one.line), one.keys, regions, evidence, tables)
        for one in guard_surface(tables)
    ]
    found += [
        _accounted(guarded, (hot.function.path, line), frozenset({key}), regions, evidence, tables)
        for hot, line, guarded, key in _arguments(tables)
    ]
    found += _modes(tables, regions)
    once = {one.guarded.identity: one for one in reversed(found)}
    return tuple(once[identity] for identity in sorted(once))


def _evidence(ran: Sequence[Run]) -> _Evidence:
    """The evidence of programs; of calls that none makes, where there is no other."""
    found: dict[tuple[str, Key], list[_Shown]] = defaultdict(list)
    called = {state.unit for run in ran if not run.presumed for state in run.specialised}
    for run in ran:
        failed: dict[tuple[str, Key], list[Recompile]] = defaultdict(list)
        for one in run.recompiles:
            if not one.instance and one.keys:
                failed[one.target, one.keys[0]].append(one)
        for state in (one for one in run.specialised if one.keys):
            if run.presumed and state.unit in called:
                continue
            place = state.unit, state.keys[0]
            found[place].append(_Shown(run, state, tuple(failed.get(place, ()))))
    return found


def _units(tables: Tables) -> Mapping[str, frozenset[str]]:
    """By region, the functions that are compiled in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for hot in tables.regions.hot:
        for number in hot.entries:
            found[tables.regions.entries[number].target].add(hot.function.id)
    return {region: frozenset(units) for region, units in found.items()}


def _accounted(
    guarded: Guarded,
    read: tuple[str, int],
    keys: frozenset[Key],
    regions: Mapping[str, frozenset[str]],
    evidence: _Evidence,
    tables: Tables,
) -> Accounted:
    units = sorted(regions.get(guarded.region, ()))
    shown = [one for unit in units for key in sorted(keys) for one in evidence.get((unit, key), ())]
    checks = {check for one in shown for check in one.specialised.checks}
    usual = {_BY_TYPE.get(guarded.type, "value")}
    changed = [one for one in shown if one.changed]
    proofs, change = changed, CHANGED
    if not changed:
        proofs = shown if shown and all(one.kept for one in shown) else []
        settled = guarded.writers in _SETTLED or _is_never_set(guarded, tables)
        change = KEPT if proofs else SET_ONCE if settled else MAY
    failed = [one for part in changed for one in part.recompiles if not one.in_doubt]
    first = failed[0] if failed else None
    return Accounted(
        guarded,
        read,
        tuple(sorted(checks if shown else usual)),
        change,
        tuple(dict.fromkeys(one.run.root.id for one in proofs)),
        _told(first.guard.expected) if first else "",
        _told(first.guard.measure(first.now)) if first else "",
        first.called.place if first else None,
        len({(one.target, id(one.cache), one.time) for one in failed}),
        frozenset(key.id for key in keys),
    )


def _told(value: object) -> str:
    """A value as it is written; empty if it is not plain."""
    return repr(value) if isinstance(value, PLAIN) else ""


def _is_never_set(guarded: Guarded, tables: Tables) -> bool:
    """Whether it is a variable of the environment that no line of the project sets."""
    written = {one.key for one in environment_writes(tables.project)}
    return guarded.kind == "environment" and written.isdisjoint({guarded.name, ANY})


def _arguments(tables: Tables) -> Iterator[tuple[CompiledFunction, int, Guarded, Key]]:
    """The arguments of compiled functions that are plain Python values."""
    project = tables.project
    passed = {(one.hot.function, one.name): one.value for one in tables.passed}
    for hot in (one for one in tables.regions.hot if one.compiled):
        function, own = project.function(hot.function), project.self_name(hot.function)
        for parameter in function.parameters:
            varying = passed.get((hot.function, parameter.name))
            kinds = sorted(kind.value for kind in varying.kinds) if varying is not None else []
            type_ = " or ".join(kinds) or _type(parameter)
            if parameter.name == own or not type_ or set(type_.split(" or ")).isdisjoint(_PLAIN_TYPES):
                continue
            name = f"{hot.function.key}({parameter.name})"
            key = Key(ClassRef(hot.function.path, hot.function.key), parameter.name)
            for region in dict.fromkeys(tables.regions.entries[number].target for number in hot.entries):
                yield hot, function.line, Guarded(region, "argument", name, type_, (), "caller"), key


def _type(parameter: Parameter) -> str:
    """The plain type that a parameter declares, or that its default has; empty if there is none."""
    match parameter:
        case Parameter(annotation=Name(word)) if word in _PLAIN_TYPES:
            return word
        case Parameter(annotation=None, default=Constant(value)) if type(value).__name__ in _PLAIN_TYPES:
            return type(value).__name__
    return ""


def _modes(tables: Tables, regions: Mapping[str, frozenset[str]]) -> Iterator[Accounted]:
    """The states of the process that a program gives another value than they have at the start."""
    home = {hot.function.id: hot for hot in tables.regions.hot}
    for run in runs(tables):
        for unit, mode, values in sorted(run.modes):
            for region in (region for region, units in regions.items() if unit in units):
                guarded = Guarded(
                    region, "mode", NAMED.get(mode, mode), "state of the process", (), "outside"
                )
                at = home[unit].function.path, tables.project.function(home[unit].function).line
                changed, start = len(values) > 1, str(DEFAULTS.get(mode))
                yield Accounted(
                    guarded,
                    at,
                    ("value",),
                    CHANGED if changed else KEPT if run.whole else MAY,
                    (run.root.id,),
                    values[0] if changed else start,
                    values[1] if changed else values[0],
                    None,
                    len(values) - 1,
                )
