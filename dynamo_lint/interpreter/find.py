"""The runs of the programs of a project, and of compiled code that none of them calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from types import MappingProxyType

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.ir import MODULE_KEY, Constant
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.interpreter.filters import OPTION
from dynamo_lint.interpreter.guards import GraphBreak, Guard, Recompile, Stale
from dynamo_lint.interpreter.model import (
    PLAIN,
    UNKNOWN,
    Begun,
    ClassObject,
    Closure,
    CompileCall,
    Cut,
    Exhausted,
    External,
    Failed,
    FixedSize,
    Met,
    Method,
    Object,
    Site,
    Source,
    Wrapper,
    guarded_part,
)
from dynamo_lint.interpreter.programs import programs
from dynamo_lint.interpreter.splits import Splits
from dynamo_lint.interpreter.stage import Compiled, Failing
from dynamo_lint.interpreter.statements import Runner
from dynamo_lint.interpreter.tracing import GIVEN
from dynamo_lint.models.drivers import DEFAULTS
from dynamo_lint.models.frameworks import DROPPERS
from dynamo_lint.program.files import in_tests, is_rehearsal
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.regions.boundaries import Disabling
from dynamo_lint.regions.model import CompiledFunction, Unresolved
from dynamo_lint.regions.options import PROGRAM, RegionOptions
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables

_MOST = 400
"""Functions interpreted in one project."""
_STEPS = 400_000
"""Steps after which no other is begun."""
_STEPS_PRESUMED, _STEPS_EACH = 80_000, 2_000
"""The same for calls that no program makes: those of each of four kinds, and more for each function of it."""
_PASSES = 6
"""Times that a program is run, each with what the last has shown of the frames that Dynamo cuts."""
_PROBE = "probe_"
_PRESUMED = 10
"""Calls of compiled code that no program calls: more than Dynamo compiles versions."""
_MOST_PRESUMED = 80
_NO_GUARDS = (("options", {OPTION: External("torch.compiler.skip_all_guards_unsafe")}),)
_CALLS = 12
"""Calls that are made of what a probe gives."""


@dataclass(frozen=True, slots=True)
class Specialised:
    """State that compiled code was specialised for."""

    unit: str
    """Identity of the compiled function."""
    keys: tuple[Key, ...]
    """Its names in the tables, the nearest first; for an argument itself that of the parameter."""
    checks: frozenset[str]
    """What of it the versions check, as `Guard.what` has it; nothing if filters drop all of it."""
    known: bool
    """It is known in all calls."""


@dataclass(frozen=True, slots=True)
class Run:
    """The events of one program, from a function that nothing else calls."""

    root: FunctionRef
    met: tuple[Met, ...] = ()
    """The compiled calls in order."""
    recompiles: tuple[Recompile, ...] = ()
    stale: tuple[Stale, ...] = ()
    skipped: tuple[Recompile, ...] = ()
    """Those that a stance suppressed, which skips guards."""
    calls: Mapping[str, int] = field(default_factory=Counter)
    """How often each compiled function was called."""
    alike: frozenset[tuple[str, Key]] = frozenset()
    """By compiled function, the attributes that are the same in all instances that were called."""
    tried: bool = False
    """It is a test."""
    cuts: tuple[Cut, ...] = ()
    """What was given up, in order."""
    breaks: tuple[GraphBreak, ...] = ()
    """The lines at which graphs end."""
    made: Mapping[ClassRef, int] = field(default_factory=dict)
    """How many objects of each class were made."""
    weakened: bool = False
    """Something was not done as Python does it: the run shows what happens, and not how often at most."""
    ran: frozenset[tuple[str, int]] = frozenset()
    """The functions that compiled code has run, by identity, each with the lines that it reached."""
    whole: bool = False
    """The program is known to its end."""
    begun: Mapping[FunctionRef, Begun] = field(default_factory=dict)
    """The functions that it calls."""
    pinned: tuple[FixedSize, ...] = ()
    """The sizes that must be dynamic, and meet layers that fix them."""
    handed_out: frozenset[FunctionRef | ClassRef] = frozenset()
    """The functions and classes that it hands to what is not known."""
    invented: bool = False
    """Something in it stands in for what no run has made."""
    presumed: bool = False
    """No program makes these calls."""
    specialised: tuple[Specialised, ...] = ()
    """The state that compiled code was specialised for."""
    lost: frozenset[str] = frozenset()
    """The functions of which Dynamo compiles nothing, for a break behind which it cannot go on."""
    modes: frozenset[tuple[str, str, tuple[str, ...]]] = frozenset()
    """By compiled function the modes that had another value than at the start, and their values in order."""


@dataclass(frozen=True, slots=True)
class _CompiledCode:
    """All that a run is told of compiled code."""

    failing: Failing
    disabled: Mapping[FunctionRef | ClassRef, str]
    captured: Mapping[FunctionRef, frozenset[str]]
    targets: Mapping[tuple[str, int], Compiled]
    callees: Mapping[tuple[str, int, str], Compiled]


def runs(tables: Tables) -> tuple[Run, ...]:
    """The run of each function that drives compiled code, interpreted once."""
    memo = tables.project.memo
    if "runs" not in memo:
        memo["runs"] = tuple(_runs(tables))
    return memo["runs"]  # type: ignore[return-value]


def recorded(tables: Tables) -> tuple[GraphBreak, ...]:
    """The lines at which a graph would end in what is recorded otherwise, as one call of each entry shows."""
    known = _compiled_code(tables, {})
    found: dict[tuple[str, int, str], GraphBreak] = {}
    ran = set[FunctionRef]()
    for hot in sorted(tables.regions.hot, key=lambda hot: not hot.compiled):  # the others where no call led
        if hot.function not in ran:
            stage = _interpreted(tables, known, partial(_record, hot=hot), _STEPS_PRESUMED)
            ran.update(where for where, _ in stage.ran)
            found = stage.breaks | found
    return tuple(found.values())


def _record(stage: Runner, hot: CompiledFunction) -> None:
    """Call a function once, all of which is recorded as one graph."""
    _ended(stage, partial(stage.file, hot.function.path))
    stage.presuming = stage.recording = True
    site = stage.here(hot.function)
    target = stage.compiled_at(hot.function, hot.receiver, site)
    if target is not None:
        _ended(stage, partial(stage.call_presumed, target, hot.function, hot.receiver, 1, part=False))


def _compiled_code(tables: Tables, switches: Mapping[FunctionRef, frozenset[str]]) -> _CompiledCode:
    return _CompiledCode(
        _failing(tables), _disabled(tables.project), switches, _targets(tables), _callees(tables)
    )


def _runs(tables: Tables) -> Iterator[Run]:
    switches = {hot.function: tables.policies.of(hot).switches for hot in tables.regions.hot}
    known = _compiled_code(tables, switches)
    roots = programs(tables)
    waiting, done, ran = [*roots], set[FunctionRef](), set[str]()
    makers: dict[str, FunctionRef] = {}
    followed, gaps = set[str](), set[str]()
    steps = 0
    for number in range(len(roots)):
        # First those that lead to what no other has reached.
        root = next((one for one in waiting if not roots[one] <= done), waiting[0])
        waiting.remove(root)
        if root in done:
            continue
        if number >= _MOST or steps > _STEPS:
            yield _not_begun(tables, root)
            continue
        stage = _interpreted(tables, known, partial(_run, root=root))
        done.update(stage.entered)
        steps += stage.steps
        called = Counter(one.unit for one in stage.met)
        few = {unit for unit, count in called.items() if count < _PRESUMED and not stage.unended}
        if not is_rehearsal(root):  # which shows what may happen, and not what does not
            ran.update({*called, *(where.id for where, _ in stage.ran)} - few)
        (gaps if stage.cuts or stage.invented else followed).update(one.unit for one in stage.met)
        gaps |= stage.unfollowed
        for made in stage.wrapped:
            makers.setdefault(stage.unit_of(made.target), root)
        yield _account(stage, root)
    yield from _of_nobody(tables, known, ran, followed - gaps, makers)


def _of_nobody(
    tables: Tables,
    known: _CompiledCode,
    ran: set[str],
    followed: Set[str],
    makers: Mapping[str, FunctionRef],
) -> Iterator[Run]:
    """Calls that no program makes: of what is compiled itself, then of what no call of that has reached."""
    seen = set[tuple[str, int]]()
    for likely, compiled in ((True, True), (True, False), (False, True), (False, False)):
        entered = {name for name, _ in seen}
        waiting = [
            hot
            for hot in tables.regions.hot
            if (hot.compiled, _is_likely(hot)) == (compiled, likely)
            and not (hot.function.id in ran or hot.unit in (ran if compiled else followed))
            and not any(one.symbol in entered and (one.symbol, one.line) not in seen for one in hot.chain[1:])
        ]
        steps, most = 0, _STEPS_PRESUMED + _STEPS_EACH * len(waiting)
        for start, unseen in _together(tables, waiting, makers):
            for training in (True, False) if likely and compiled and _asks_mode(tables, unseen) else (True,):
                if steps > most:
                    break
                calls = partial(_presume, tables=tables, unseen=unseen, maker=start, training=training)
                stage = _interpreted(tables, known, calls, _STEPS_PRESUMED)
                steps += stage.steps
                ran.update(where.id for where, _ in stage.ran)
                if not (stage.cuts or stage.invented or stage.supposed):
                    seen.update((where.id, line) for where, line in stage.ran)
                run = _presumed(stage, unseen, training=training)
                made_up = stage.supposed or stage.invented or not compiled
                yield replace(run, breaks=(*run.breaks, *stage.sweep())) if made_up else run


def _account(stage: Runner, root: FunctionRef) -> Run:
    """All that a program has shown."""
    stage.recompiles = [_of_changes(one) for one in stage.recompiles]
    whole = not (stage.unended or stage.cut_at is not None or is_rehearsal(root))
    tried = in_tests(root.path)
    met = tuple(replace(one, tried=True) for one in stage.met) if tried else tuple(stage.met)
    calls = Counter(one.unit for one in stage.met)
    behind = stage.cut_at is not None and stage.cut_at <= len(stage.met)
    # A probe or a test shows what may happen, and not what does not.
    shown = not is_rehearsal(root)
    alike = _alike(stage) if shown and not behind else frozenset()
    return Run(
        root,
        met=met,
        recompiles=tuple(stage.recompiles),
        stale=tuple(stage.stale),
        skipped=tuple(stage.skipped),
        calls=calls,
        alike=alike,
        tried=tried,
        cuts=tuple(stage.cuts.values()),
        breaks=tuple(stage.breaks.values()),
        made=stage.made,
        weakened=stage.cut_at is not None,
        ran=frozenset((where.id, line) for where, line in stage.ran),
        whole=whole,
        begun=stage.entered,
        pinned=tuple(stage.pinned.values()),
        specialised=tuple(_specialised(stage)),
        modes=frozenset(_modes(stage)),
        handed_out=frozenset(stage.handed_out),
        invented=stage.invented,
        lost=_lost(stage),
    )


def _lost(stage: Runner) -> frozenset[str]:
    """The functions of the project of which Dynamo compiles nothing, by identity."""
    lost = (where for where, versions in stage.splits.lost.items() if not versions)
    return frozenset(where.id for where in lost if isinstance(where, FunctionRef))


def _specialised(stage: Runner) -> Iterator[Specialised]:
    """The state that each compiled function was specialised for."""
    for cache in stage.caches.values():
        by_source: dict[Source, list[Guard]] = {}
        for guard in (guard for entry in cache.entries for guard in entry.guards):
            by_source.setdefault(guard.source, []).append(guard)
        for source, guards in by_source.items():
            known = not any(one.doubt or one.expected is UNKNOWN for one in guards)
            yield Specialised(
                cache.unit,
                cache.keys.get(source, ()),
                frozenset(one.what for one in guards if not one.dropped),
                known and source not in cache.unknown,
            )


def _modes(stage: Runner) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """By compiled function the modes that had another value than at the start, and all their values."""
    for cache in stage.caches.values():
        for mode in dict.fromkeys(mode for entry in cache.entries for mode in entry.modes):
            values = cache.states(mode)
            if any(value != DEFAULTS.get(mode) for value in values):
                yield cache.unit, mode, tuple(map(str, values))


def _presumed(stage: Runner, unseen: Sequence[CompiledFunction], *, training: bool) -> Run:
    """All that calls have shown which no program makes: what compiled code itself changes.

    That a module evaluates is none of these: its calls show breaks, and what is compiled apart for them.
    What only a part of the compiled code shows, called by itself, is in doubt, and what may not be compiled,
    and what objects do that a caller would hand in.
    """
    hot, called = unseen[0], {one.unit for one in unseen}
    recompiles = [
        one
        for one in stage.recompiles[stage.presumed_from[0] :]
        if (training and _changes_itself(one)) or (one.instance and one.target not in called)
    ]
    unsure = stage.supposed or not (hot.compiled and _is_likely(hot))
    return Run(
        hot.function,
        recompiles=tuple(replace(one, doubt=one.doubt or unsure) for one in recompiles),
        skipped=tuple(filter(_changes_itself, stage.skipped[stage.presumed_from[1] :])),
        calls=Counter(one.unit for one in stage.met),
        cuts=tuple(stage.exhausted),
        breaks=tuple(replace(one, doubt=one.doubt or unsure) for one in stage.breaks.values()),
        weakened=True,
        ran=frozenset((where.id, line) for where, line in stage.ran),
        presumed=True,
        lost=_lost(stage),
        specialised=tuple(_specialised(stage)),
    )


def _is_likely(hot: CompiledFunction) -> bool:
    """Whether a function of a region is traced as far as can be told."""
    return not hot.guessed and hot.confidence <= Confidence.LIKELY


def _changes_itself(one: Recompile) -> bool:
    """Whether calls of compiled code have changed what asks for a compile, and not what is passed to them."""
    source = one.guard.source
    passed = source.root in GIVEN and source.name != "self" and not any(write.traced for write in one.writes)
    fresh = one.fresh and source.root == "closure"
    return not (one.instance or fresh or passed)


def _interpreted(
    tables: Tables,
    known: _CompiledCode,
    start: Callable[[Runner], None],
    most: int = _STEPS,
) -> Runner:
    """A program that has run, again as long as it shows where Dynamo cuts frames otherwise than was known.

    It is not run again after so many steps.
    """
    splits = Splits()
    steps, breaks = 0, dict[tuple[str, int, str], GraphBreak]()
    for _ in range(_PASSES):
        size = splits.size
        stage = Runner(
            tables.project,
            tables.bodies,
            known.failing,
            known.disabled,
            tables.torch_version,
            known.captured,
            splits,
            known.targets,
            known.callees,
        )
        start(stage)
        steps += stage.steps
        breaks |= stage.breaks
        if splits.size == size or steps > most:
            break
    stage.steps, stage.breaks = steps, breaks  # what a frame is left for is no more met once that is known
    return stage


def _of_changes(one: Recompile) -> Recompile:
    """The same compile, of changes and not of instances where compiled code changes what they differ in."""
    changes = [write for write in one.history if write.traced] if one.instance else []
    values = {repr(guarded_part(write.value)) for write in changes}
    if len(values) + (one.guard.what == "presence") < 2 or not changes:
        return one
    return replace(one, instance=False, writes=(changes[-1],))


def _not_begun(tables: Tables, root: FunctionRef) -> Run:
    """The run of a program for which no steps are left."""
    line = max(tables.project.function(root).line, 1)
    site = Site(root, ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0))
    cuts = (Cut(site, f"a program behind others that took {_STEPS:,} steps"),)
    return Run(root, tried=in_tests(root.path), cuts=cuts)


def unfollowed(tables: Tables) -> Iterator[Unresolved]:
    """The programs that were not followed to their end, each with the first reason; tests are left out."""
    for run in runs(tables):
        if not run.cuts or run.tried:
            continue
        cut, function = run.cuts[0], tables.project.function(run.root)
        path, line = cut.site.place
        here = path == run.root.path
        where = f"line {line}" if here else f"{path}:{line}"
        more = f" ({len(run.cuts) - 1} more below)" if len(run.cuts) > 1 else ""
        name = run.root.path.rpartition("/")[2] if run.root.key == MODULE_KEY else function.qualname
        yield Unresolved(
            run.root.path,
            line if here else max(function.line, 1),
            name,
            f"at {where} is {cut.why}{more}; what comes behind is judged as far as other calls show it",
            kind=PROGRAM,
        )


def unentered(tables: Tables) -> Iterator[Unresolved]:
    """The compiled functions that no run has entered, by file the first, with the number of others."""
    ran = {name for run in runs(tables) for name, _ in run.ran} | {
        one for run in runs(tables) for one in run.calls
    }
    missed: dict[str, list[FunctionRef]] = {}
    for hot in tables.regions.hot:
        if hot.compiled and not hot.guessed and not {hot.function.id, hot.unit} & ran:
            missed.setdefault(hot.function.path, []).append(hot.function)
    for path, functions in missed.items():
        first, number = tables.project.function(functions[0]), len({*functions})
        more = f" (and {number - 1} more in this file)" if number > 1 else ""
        why = f"no run could enter it{more}: what changes in its state between calls is not looked at"
        yield Unresolved(path, max(first.line, 1), first.qualname, why, kind=PROGRAM)


def _alike(stage: Runner) -> frozenset[tuple[str, Key]]:
    """By compiled function, the attributes that are the same in all instances that were called."""
    found: dict[tuple[str, Key], bool] = {}
    for cache in (cache for cache in stage.caches.values() if len(cache.instances) > 1):
        for guard in (guard for entry in cache.entries for guard in entry.guards):
            known = not guard.doubt and guard.source not in cache.unknown
            if isinstance(guard.expected, PLAIN):
                found |= {(cache.unit, key): known for key in cache.keys[guard.source]}
    failed = {(one.target, key) for one in stage.recompiles for key in one.keys}
    return frozenset(state for state, known in found.items() if known) - failed


def _targets(tables: Tables) -> dict[tuple[str, int], Compiled]:
    """By file and line of a compile site, the function that it compiles, where it is known to be that one."""
    found: dict[tuple[str, int], set[Compiled]] = {}
    for hot in tables.regions.hot:
        for entry in (tables.regions.entries[number] for number in hot.entries if hot.compiled):
            if entry.choices == 1:
                found.setdefault((entry.path, entry.line), set()).add((hot.function, hot.receiver))
    return {place: next(iter(targets)) for place, targets in found.items() if len(targets) == 1}


def _callees(tables: Tables) -> dict[tuple[str, int, str], Compiled]:
    """By file, line and name, the function that compiled code calls there, where it can only be that one."""
    found: dict[tuple[str, int, str], set[Compiled]] = {}
    for (caller, _), calls in tables.regions.calls.items():
        for call in calls:
            if call.callee is not None and not call.disabled:
                place = caller.path, call.line, call.callee
                found.setdefault(place, set()).add((call.target.function, call.target.receiver))
    return {place: next(iter(targets)) for place, targets in found.items() if len(targets) == 1}


def _together(
    tables: Tables, waiting: Sequence[CompiledFunction], makers: Mapping[str, FunctionRef]
) -> list[tuple[FunctionRef | None, list[CompiledFunction]]]:
    """Functions that never ran: together those that one program makes, and of one file that none does."""
    found: dict[tuple[FunctionRef | None, str], list[CompiledFunction]] = {}
    for hot in waiting:
        around = _around(tables.project, hot.function)
        maker = makers.get(hot.function.id, around) if hot.compiled else None
        place = (None, hot.function.path) if maker is None else (maker, "")
        found.setdefault(place, []).append(hot)
    return [(maker, unseen) for (maker, _), unseen in found.items()]


def _around(project: Project, ref: FunctionRef) -> FunctionRef | None:
    """The outermost function that a function is made in; None for one of a file or a class."""
    outer = project.function(ref).outer if "<locals>" in ref.key else None
    return FunctionRef(ref.path, ref.key.partition(".<locals>.")[0]) if outer is not None else None


def _presume(
    stage: Runner,
    tables: Tables,
    unseen: Sequence[CompiledFunction],
    maker: FunctionRef | None,
    *,
    training: bool,
) -> None:
    """Call each of some compiled functions as any caller may, as the program that makes it has left it."""
    if maker is not None:
        _ended(stage, partial(_make, stage, maker, unseen))
    for path in dict.fromkeys(hot.function.path for hot in unseen):
        _ended(stage, partial(stage.file, path))  # what a file takes is not taken from the calls
    stage.presumed_from, stage.presuming = (len(stage.recompiles), len(stage.skipped)), True
    wrapped = {stage.unit_of(one.target): one for one in reversed(stage.wrapped)}
    before, spent = stage.steps, 0
    for hot in unseen:
        if spent > _STEPS_PRESUMED:
            stage.exhausted.append(Cut(stage.current, f"a run of more than {_STEPS_PRESUMED:,} steps"))
            break
        stage.steps = 0  # one that does not end leaves the others theirs
        made = wrapped.get(hot.function.id)
        _ended(stage, partial(_call_unseen, stage, tables, hot, made, training=training))
        spent += stage.steps
    stage.steps = before + spent


def _make(stage: Runner, maker: FunctionRef, unseen: Sequence[CompiledFunction]) -> None:
    """Run the program that makes some compiled functions, if what it is given can be made up."""
    given = {} if "." in maker.key else stage.presumed_arguments(maker, None, stage.here(maker))
    if UNKNOWN not in given.values() or any("<locals>" in hot.function.key for hot in unseen):
        _run(stage, maker, given)


def _asks_mode(tables: Tables, unseen: Sequence[CompiledFunction]) -> bool:
    """Whether code that some compiled functions reach asks whether a module trains."""
    entries = {number for hot in unseen for number in hot.entries}
    return any(
        load.name == "training"
        for hot in tables.regions.hot
        if not entries.isdisjoint(hot.entries)
        for load in tables.project.function(hot.function).loads
    )


def _call_unseen(
    stage: Runner, tables: Tables, hot: CompiledFunction, made: Wrapper | None, *, training: bool
) -> None:
    """Call a compiled function some times, unless it is a part that has been called on the way."""
    if not hot.compiled and hot.function in stage.entered:
        return
    entry = tables.regions.entries[hot.entries[0]]
    site = stage.here(FunctionRef(entry.path, MODULE_KEY), max(entry.line, 1))
    target = made or stage.compiled_at(hot.function, hot.receiver, site)
    if target is not None:
        if not training and isinstance(target.target, Object):
            stage.invoke(Method(target.target, "eval"), [], {}, site)
        if _is_unguarded(tables.project, hot):
            target = Wrapper(target.target, CompileCall(target.call.site, _NO_GUARDS))
        times = min(max(_PRESUMED, tables.policies.of(hot).recompile_limit + 2), _MOST_PRESUMED)
        stage.call_presumed(target, hot.function, hot.receiver, times, part=not hot.compiled)


def _is_unguarded(project: Project, hot: CompiledFunction) -> bool:
    """Whether a decorator of a framework compiles it, and keeps no guard."""
    decorators = project.class_(hot.receiver).decorators if hot.receiver is not None else ()
    return any(terminal_name(one) in DROPPERS for one in decorators)


def _run(stage: Runner, root: FunctionRef, given: Mapping[str, object] = MappingProxyType({})) -> None:
    """Run one function, or a file, as far as it goes; call what a probe gives."""
    _ended(stage, lambda: _call(stage, root, given))


def _ended(stage: Runner, start: Callable[[], object]) -> None:
    """Run something as far as it goes."""
    try:
        start()
    except Failed:
        stage.give_up(stage.current, "an exception that nothing catches")
    except (Exhausted, RecursionError):
        stage.exhausted.append(Cut(stage.current, f"a run of more than {stage.steps - 1:,} steps"))
        stage.give_up(stage.current, stage.exhausted[-1].why)


def _call(stage: Runner, root: FunctionRef, given: Mapping[str, object]) -> None:
    stage.main = root.path
    frame = stage.file(root.path)
    if root.key == MODULE_KEY:
        return
    if "." in root.key:
        owner = stage.project.owner(root)
        site = stage.here(root)
        receiver = stage.invoke(ClassObject(owner), [], {}, site) if owner is not None else None
        if not isinstance(receiver, Object):
            return
        function: object = Closure(root, frame, receiver)
    else:
        function = stage.of_symbol(root)
    found = stage.invoke(function, [], {**given, **_options(stage, root)}, stage.here(root))
    if isinstance(found, Iterator):
        for _ in islice(found, 4 * _CALLS):
            pass
    elif root.key.startswith(_PROBE) and isinstance(found, tuple) and len(found) == 2:
        call, batches = found
        rounds = [*islice(stage.each(batches), _CALLS)]
        for number in range(_CALLS if rounds else 0):
            batch = rounds[number % len(rounds)]
            stage.invoke(call, [*batch] if isinstance(batch, tuple) else [batch], {}, stage.here(root))


def _options(stage: Runner, root: FunctionRef) -> dict[str, object]:
    """The switches of a program that nothing in the project calls: its users turn them."""
    if is_rehearsal(root):
        return {}
    parameters = stage.project.function(root).parameters
    named = (one for one in parameters if one.kind in {"positional", "keyword"})
    return {one.name: UNKNOWN for one in named if one.default in (Constant(False), Constant(True))}


def _disabled(project: Project) -> dict[FunctionRef | ClassRef, str]:
    """The functions and classes that a decorator keeps Dynamo from, with all that they call."""
    judge = Disabling(project, RegionOptions())
    found: dict[FunctionRef | ClassRef, str] = {}
    for name in sorted({"disable", *project.aliases_of("disable")}):
        for ref, decorator in project.decorated_with(name):
            one = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
            if judge.kind(decorator, ref.path, one.outer or MODULE_KEY) == "stop":
                found[ref] = name
    return found


def _failing(tables: Tables) -> Failing:
    """The compile sites whose code cannot be compiled."""
    entries = tables.regions.entries
    return Failing(
        frozenset((entries[n].path, entries[n].line) for one in tables.fakeless for n in one.hot.entries),
    )
