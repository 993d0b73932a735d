"""The findings of the rules and of the runs as one list: what a run refutes, prices or adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.rules.base import ONCE, Context, bounded
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class Seen:
    """The account that all programs together give of the state that compiled code reads."""

    idle: frozenset[tuple[str, int]]
    """The lines of compiled code whose assignments never make a run compile again."""
    alike: frozenset[tuple[str, str]]
    """By compiled function, the attributes that all instances share in every program that calls several."""
    versions: Mapping[tuple[str, str], int]
    """By compiled function and state, the versions, where each compile site is run to the end and calls more
    often than the limit."""
    assigned: frozenset[tuple[str, int]]
    """The lines whose assignments are all known."""
    followed: frozenset[str]
    """The compiled functions that a program calls more than once, and which is followed to its end."""
    closed: frozenset[str]
    """The compiled functions whose compile sites and calls are all in programs known to their end."""
    answered: frozenset[str]
    """The same where programs go on behind calls of what is not known, too."""
    ran: frozenset[tuple[str, int]]
    """The functions that compiled code has run in some program, each with the lines that it reached."""
    several: frozenset[str]
    """The classes of which some program makes more than one object, by identity."""
    uncalled: frozenset[str]
    """The functions of regions that no program calls."""
    limit: int


def seen(tables: Tables, context: Context) -> Seen:
    """The account of all runs."""
    found = runs(tables)
    failing = {write.site.place for run in found for one in run.recompiles for write in one.writes}
    failing |= {one.called.place for run in found for one in run.recompiles}
    failed = {(one.target, key) for run in found for one in run.recompiles for key in one.keys}
    alike = frozenset[tuple[str, Key]]().union(*(run.alike for run in found)) - failed
    sites: dict[str, set[tuple[str, int]]] = {}
    for hot in tables.regions.hot:
        places = ((tables.regions.entries[n].path, tables.regions.entries[n].line) for n in hot.entries)
        sites.setdefault(hot.unit, set()).update(places)
    often = {
        one.compile.site.place
        for run in found
        for one in run.met
        if run.versions and one.compile is not None and run.calls[one.unit] > context.recompile_limit
    }
    parts = [one for run in found if not run.versions for one in run.recompiles]
    endless = {(one.target, key) for one in parts for key in one.keys}
    versions: dict[tuple[str, str], int] = {}
    for run in found:
        for (unit, key), count in run.versions.items():
            if sites.get(unit, {("", 0)}) <= often and (unit, key) not in endless:
                versions[unit, key.id] = max(count, versions.get((unit, key.id), 1))
    return Seen(
        frozenset().union(*(run.idle for run in found)) - failing,
        frozenset((unit, key.id) for unit, key in alike),
        versions,
        frozenset().union(*(run.assigned for run in found)),
        frozenset(
            unit
            for run in found
            for unit, count in run.calls.items()
            if count > 1 and not (run.weakened or run.tried)
        ),
        _closed([run for run in found if not run.presumed], sites),
        _closed([replace(run, whole=not run.invented) for run in found if not run.presumed], sites),
        frozenset().union(*(run.ran for run in found)),
        frozenset(kind.id for run in found for kind, count in run.made.items() if count > 1),
        _uncalled(tables, found),
        context.recompile_limit,
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


def _closed(found: Sequence[Run], sites: Mapping[str, set[tuple[str, int]]]) -> frozenset[str]:
    """The compiled functions of which all compile sites are met, in programs known to their end."""
    met: dict[str, set[tuple[str, int]]] = {}
    open_ended = set[str]()
    for run in found:
        for event in run.met:
            if event.compile is not None:
                met.setdefault(event.unit, set()).add(event.compile.site.place)
        if not run.whole or run.tried or run.cuts:
            open_ended.update(run.calls)
    return frozenset(
        unit
        for unit, places in met.items()
        if unit not in open_ended and sites.get(unit, {("", 0)}) <= places
    )


def joined(findings: Iterable[Finding], shown: Iterable[Finding], told: Seen) -> list[Finding]:
    """The findings of the rules, without those that a run refutes, and what only a run has shown.

    Where both speak of the same state, the rule knows the line and the edit, and the run what it costs.
    """
    known = [_counted(one, told) for one in findings if not _is_refuted(one, told)]
    found: list[Finding] = []
    shared: set[int] = set()
    # Of the parts of one container that one line replaces, the one that costs most, and is known best.
    ranked = sorted(
        shown,
        key=lambda one: (_RANKS.index(one.effect) if one.effect in _RANKS else -1, one.severity != "note"),
    )
    for one in {(one.code, one.unit, one.subject, one.span): one for one in ranked}.values():
        if one.effect == "stale" and one.severity != "note":
            known = [other for other in known if not _is_unguarded(other, one)]
        same = [n for n, other in enumerate(known) if _is_same(other, one)]
        for n in same:
            if one.confidence == "likely" or (one.entries is None and one.effect != "storm"):
                continue  # what it was later is not known
            if known[n].code in _COSTED and known[n].effect in _COUNTED and one.effect in _COUNTED:
                known[n] = _with_cost(known[n], one)
        shared.update(same)
        if not same and not any(_explains(other, one) for other in known):
            found.append(one)
    kept = [one if n in shared else _unreached(_unseen(one, told), told) for n, one in enumerate(known)]
    return [*kept, *found]


def _unseen(known: Finding, told: Seen) -> Finding:
    """A note on what differs between instances, if the programs that call them make at most one."""
    if known.code not in {"DYN107", "DYN108"} or known.unit not in told.followed or not known.keys:
        return known
    made = any(key.startswith(f"{kind}.") for key in known.keys for kind in told.several)
    return known if made else replace(known, severity="note")


def _unreached(known: Finding, told: Seen) -> Finding:
    """A note on a line of compiled code, if no program calls its function and all are known.

    Where it is called, a note on a line that changes state, if no program reaches that.
    """
    if known.severity == "note" or known.unit not in told.answered:
        return known
    if (
        known.code.startswith(_OF_COMPILED)
        and known.symbol in told.uncalled
        and known.unit not in told.uncalled
    ):
        return replace(known, severity="note")
    if known.code not in _REBOUND - {"DYN102"} or known.unit not in told.closed:
        return known
    enters = any(symbol == known.symbol for symbol, _ in told.ran)
    reaches = (known.symbol, known.span.line) in told.ran
    return replace(known, severity="note") if enters and not reaches else known


STATE = frozenset({f"DYN{number}" for number in (*range(101, 111), 203, 305)})
"""The codes of findings about state that Dynamo guards on."""
_OF_COMPILED = ("DYN1", "DYN4")
"""What codes of rules about compiled code begin with."""
_COSTED = frozenset({"DYN101", "DYN102", "DYN106", "DYN109"})
_REBOUND = frozenset({f"DYN{number}" for number in range(101, 107)})
_RANKS = ("once", "per-value", "storm")
_COUNTED = frozenset(_RANKS)


def _with_cost(known: Finding, shown: Finding) -> Finding:
    if known.effect == shown.effect:
        return known
    counted = known.code not in {"DYN102", "DYN106"} and (known.code != "DYN109" or known.entries is not None)
    if known.effect == "per-value" and counted:
        return known  # a flag or a text: a rule knows how many values it has
    unproved = known.severity == "note" and known.effect != "once"  # one compile is a note by its cost
    severity = "note" if unproved else shown.severity
    return replace(known, effect=shown.effect, entries=shown.entries, cost=shown.cost, severity=severity)


def _is_refuted(known: Finding, told: Seen) -> bool:
    """Whether a run shows that what a rule expects does not happen."""
    place = known.span.path, known.span.line
    if known.code in {"DYN101", "DYN109"} and place in told.idle:
        return True
    if known.code == "DYN107":
        return not known.also and {(known.unit, key) for key in known.keys} <= told.alike
    return place in told.assigned and _versions(known, told) == 1


def _versions(known: Finding, told: Seen) -> int | None:
    """How many versions the state of a finding makes; None if no run shows that."""
    counts = [told.versions.get((known.unit, key)) for key in known.keys if known.code in _REBOUND]
    return None if None in counts or not counts else max(one for one in counts if one is not None)


def _counted(known: Finding, told: Seen) -> Finding:
    """A finding with no more versions than a run to the end makes; a note if that makes a single one."""
    count = _versions(known, told)
    if count == 1:
        return replace(known, severity="note")
    if known.effect != "storm" or count is None or count > told.limit:
        return known
    once = count == 2
    effect, cost = ("once", ONCE) if once else ("per-value", bounded(count))
    severity = "note" if once or known.severity == "note" else "warning"
    return replace(known, effect=effect, entries=count, cost=cost, severity=severity)


def _is_same(known: Finding, shown: Finding) -> bool:
    """Whether two findings are about the same state: by its keys, or by the line that changes it."""
    place = (known.span.path, known.span.line, known.code, known.unit)
    if place == (shown.span.path, shown.span.line, shown.code, shown.unit) and known.code in _COSTED:
        return True
    if not known.keys or not shown.keys:
        return known.code in STATE and known.subject == shown.subject
    return not set(known.keys).isdisjoint(shown.keys)


def _is_unguarded(known: Finding, shown: Finding) -> bool:
    """Whether a run shows that nothing guards the state of a finding, which counts compiles for it."""
    return known.effect != "stale" and known.region == shown.region and _is_same(known, shown)


def _explains(known: Finding, shown: Finding) -> bool:
    """Whether a finding leaves nothing to say: of the same line, or of the instances of the same code.

    The break where `requires_grad_` is called says nothing of the compile that the tensor asks for next.
    """
    if (known.span.path, known.span.line) == (shown.span.path, shown.span.line):
        return shown.code != "DYN110" or known.effect not in {"break", "eager"}
    return shown.effect == "per-instance" == known.effect and known.unit == shown.unit
