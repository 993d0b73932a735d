"""The findings of the rules and of the runs as one list: what a run refutes or adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class Seen:
    """The account that all programs together give of the state that compiled code reads."""

    alike: frozenset[tuple[str, str]]
    """By compiled function, the attributes that all instances share in every program that calls several."""
    followed: frozenset[str]
    """The compiled functions that a program calls more than once, and which is followed to its end."""
    answered: frozenset[str]
    """The compiled functions whose compile sites and calls are all in programs known to their end, or to what
    is not known."""
    several: frozenset[str]
    """The classes of which some program makes more than one object, by identity."""
    uncalled: frozenset[str]
    """The functions of regions that no program calls."""


def seen(tables: Tables) -> Seen:
    """The account of all runs."""
    found = runs(tables)
    failed = {(one.target, key) for run in found for one in run.recompiles for key in one.keys}
    alike = frozenset[tuple[str, Key]]().union(*(run.alike for run in found)) - failed
    sites: dict[str, set[tuple[str, int]]] = {}
    for hot in tables.regions.hot:
        places = ((tables.regions.entries[n].path, tables.regions.entries[n].line) for n in hot.entries)
        sites.setdefault(hot.unit, set()).update(places)
    return Seen(
        frozenset((unit, key.id) for unit, key in alike),
        frozenset(
            unit
            for run in found
            for unit, count in run.calls.items()
            if count > 1 and not (run.weakened or run.tried)
        ),
        _answered([run for run in found if not run.presumed], sites),
        frozenset(kind.id for run in found for kind, count in run.made.items() if count > 1),
        _uncalled(tables, found),
    )


def _uncalled(tables: Tables, found: Sequence[Run]) -> frozenset[str]:
    """The functions of regions that no program calls, nor hands to what may.

    Only those that can be seen to be called: no lambdas and closures, and no methods of a library's classes.
    """
    project = tables.project
    out = frozenset[FunctionRef | ClassRef]().union(*(run.handed_out for run in found))
    classes = {part for ref in out if isinstance(ref, ClassRef) for part in project.mro(ref)}
    functions = {hot.function for hot in tables.regions.hot}.difference(*(run.begun for run in found))
    uncalled = set[str]()
    for one in functions:
        owner = project.owner(one)
        strange = owner is not None and not (project.is_module(owner) or not project.external_bases(owner))
        if not (strange or one in out or owner in classes or any(mark in one.key for mark in "<#")):
            uncalled.add(one.id)
    return frozenset(uncalled)


def _answered(found: Sequence[Run], sites: Mapping[str, set[tuple[str, int]]]) -> frozenset[str]:
    """The compiled functions of which all compile sites are met, in programs that nothing cuts."""
    met: dict[str, set[tuple[str, int]]] = {}
    open_ended = set[str]()
    for run in found:
        for event in run.met:
            if event.compile is not None:
                met.setdefault(event.unit, set()).add(event.compile.site.place)
        if run.invented or run.tried or run.cuts:
            open_ended.update(run.calls)
    return frozenset(
        unit
        for unit, places in met.items()
        if unit not in open_ended and sites.get(unit, {("", 0)}) <= places
    )


def joined(findings: Iterable[Finding], shown: Iterable[Finding], told: Seen) -> list[Finding]:
    """The findings of the rules, without those that a run refutes, and those that runs have shown.

    Where both speak of the same state, that of the rule stands.
    """
    known = [one for one in findings if not _is_refuted(one, told)]
    # Of the parts of one container that one line replaces, the one that costs most, and is known best.
    ranked = sorted(
        shown,
        key=lambda one: (_RANKS.index(one.effect) if one.effect in _RANKS else -1, one.severity != "note"),
    )
    found: list[Finding] = []
    shared: set[int] = set()
    for one in {(one.code, one.unit, one.subject, one.span): one for one in ranked}.values():
        if one.effect == "stale" and one.severity != "note":
            known = [other for other in known if not _is_unguarded(other, one)]
        same = [n for n, other in enumerate(known) if _is_same(other, one)]
        shared.update(same)
        if not same and not any(_explains(other, one) for other in known):
            found.append(one)
    kept = [one if n in shared else _unreached(_unseen(one, told), told) for n, one in enumerate(known)]
    # A count under a new key is told by what it costs in each call.
    costly = {_place(one) for one in found if one.effect != "once"}
    return [
        *kept,
        *(one for one in found if one.code != "DYN105" or one.effect != "once" or _place(one) not in costly),
    ]


def _place(one: Finding) -> tuple[str, str, int]:
    return one.unit, one.span.path, one.span.line


def _unseen(known: Finding, told: Seen) -> Finding:
    """A note on what differs between instances, if the programs that call them make at most one."""
    if known.code not in {"DYN107", "DYN108"} or known.unit not in told.followed or not known.keys:
        return known
    made = any(key.startswith(f"{kind}.") for key in known.keys for kind in told.several)
    return known if made else replace(known, severity="note")


def _unreached(known: Finding, told: Seen) -> Finding:
    """A note on a line of compiled code, if no program calls its function and all are known."""
    if known.severity == "note" or known.unit not in told.answered or not known.code.startswith(_OF_COMPILED):
        return known
    uncalled = known.symbol in told.uncalled and known.unit not in told.uncalled
    return replace(known, severity="note") if uncalled else known


STATE = frozenset({f"DYN{number}" for number in (*range(101, 111), 203, 305)})
"""The codes of findings about state that Dynamo guards on."""
_OF_COMPILED = ("DYN1", "DYN4")
"""What codes of rules about compiled code begin with."""
_REBOUND = frozenset({f"DYN{number}" for number in range(101, 107)})
"""Those about what compiled code, or code around it, assigns."""
_OF_NAMES = frozenset({"DYN202", "DYN409"})
"""The codes of findings about names and texts that are made of what changes."""
_RANKS = ("once", "per-value", "storm")


def _is_refuted(known: Finding, told: Seen) -> bool:
    """Whether a run shows that instances do not differ in what a rule expects."""
    states = {(known.unit, key) for key in known.keys}
    return known.code == "DYN107" and not known.also and states <= told.alike


def _is_same(known: Finding, shown: Finding) -> bool:
    """Whether two findings are about the same state."""
    if not known.keys or not shown.keys:
        return known.code in STATE and known.subject == shown.subject
    return not set(known.keys).isdisjoint(shown.keys)


def _is_unguarded(known: Finding, shown: Finding) -> bool:
    """Whether a run shows that nothing guards the state of a finding, which counts compiles for it."""
    return known.effect != "stale" and known.region == shown.region and _is_same(known, shown)


def _explains(known: Finding, shown: Finding) -> bool:
    """Whether a finding leaves nothing to say: of the same line, or of the instances of the same code.

    The break where `requires_grad_` is called says nothing of the compile that the tensor asks for next, and
    a lookup or a text says all about the argument that its name is made of.
    """
    here = known.span.path, known.span.line
    if known.code.startswith("DYN5"):
        return False  # how a project goes about compiling is another matter
    quieter = known.severity == "note" != shown.severity and known.effect != "stale"
    if here == (shown.span.path, shown.span.line) and not quieter:
        changed = shown.code in _REBOUND and shown.effect == "storm"  # a break at its line is another thing
        if changed and known.effect == "break":
            return False
        return shown.code != "DYN110" or known.effect not in {"break", "eager"}
    if known.code in _OF_NAMES and shown.code == "DYN109":
        return any(here == (one.path, one.line) for one in shown.related)
    return shown.effect == "per-instance" == known.effect and known.unit == shown.unit
