"""Dynamo's guards, and its cache of a compiled function: which calls an entry serves, and why no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.interpreter.model import (
    MISSING,
    PLAIN,
    UNKNOWN,
    CompileCall,
    Elements,
    Frame,
    Hook,
    Object,
    Site,
    Source,
    Tensor,
    Unknown,
    guarded_part,
    is_stand_in,
)
from dynamo_lint.interpreter.sizes import Shape
from dynamo_lint.interpreter.splits import Version
from dynamo_lint.models.graph_breaks import Row
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.model import Key

SIZES = "sizes"
MODES = "modes"
_CONSTANT = frozenset({"value", "length", "keys", "presence"})
LENGTH = "[]"
"""The key under which a change of what a container holds is filed."""
_Pattern = tuple[tuple[int | str | None, ...] | None, ...]
"""For each tensor the sizes that an entry expects: a number, the name of a symbol, None for one not known."""
Burned = Mapping[tuple[object, str], tuple[str, object, Site, object]]
"""By the way to an object and the name of an attribute: its full name, the value, where, and the object."""
Resolve = Callable[[Source], object]
"""The value that a source leads to at the start of a call; MISSING if it leads nowhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """One value that compiled code was specialised for."""

    source: Source
    what: str
    """`value`, `length`, `keys`, `presence`, `size`, `alias` or `test` (of an outcome); of a tensor `sizes`,
    `dtype` and `gradient`."""
    expected: object
    measure: Callable[[object], object]
    """What is compared, from the value that the source leads to."""
    site: Site
    """The use of the value."""
    doubt: bool
    root: object
    """What the way to it begins with: the argument, the file or the function."""
    time: int
    """How many compiled calls there had been."""
    entry: object
    """The compiled function."""
    dropped: bool | None = False
    """A filter drops it; None if that is not known."""

    def holds(self, value: object) -> bool:
        """Whether a value passes; one of which nothing is known does."""
        measured = self.measure(value)
        if isinstance(measured, Unknown) or isinstance(self.expected, Unknown):
            return True
        return type(measured) is type(self.expected) and measured == self.expected


def value_of(value: object) -> object:
    """A constant as it is, anything else by its type."""
    return guarded_part(value)


def type_of(value: object) -> object:
    """The type of a value: which class it is of for Dynamo."""
    part = guarded_part(value)
    return part if isinstance(part, tuple | Unknown) else type(part).__name__


def length_of(value: object) -> object:
    """The length of a container, or its type if it has none."""
    if isinstance(value, Object):
        return len(value.items)
    if isinstance(value, dict) and UNKNOWN in value:
        return UNKNOWN
    return len(value) if isinstance(value, list | tuple | dict) else guarded_part(value)


def keys_of(value: object) -> object:
    """The keys of a dict, in order, or the elements of a set."""
    if isinstance(value, Elements):
        return frozenset(value)
    if isinstance(value, dict) and UNKNOWN in value:
        return UNKNOWN
    return tuple(value) if isinstance(value, dict) else guarded_part(value)


def presence_of(value: object) -> object:
    """Whether there is a value."""
    return value is not MISSING


def gradient_of(value: object) -> object:
    """Whether a tensor requires a gradient."""
    if isinstance(value, Tensor):
        return UNKNOWN if value.grad is None else value.grad
    return guarded_part(value)


def dtype_of(value: object) -> object:
    """The dtype of a tensor."""
    if isinstance(value, Tensor):
        return UNKNOWN if value.dtype is None else value.dtype
    return guarded_part(value)


def sizes_of(value: object, free: frozenset[int]) -> object:
    """The sizes of a tensor, without those that may vary; not known if one of them is not."""
    if not isinstance(value, Tensor):
        return guarded_part(value)
    if value.shape is None:
        return UNKNOWN
    known = [None if is_stand_in(size) else size for size in value.shape]
    wanted = tuple(
        "s" if axis in free and (size is None or size > 1) else size for axis, size in enumerate(known)
    )
    return UNKNOWN if None in wanted else wanted


def size_of(value: object) -> object:
    """Whether there is a number: any size will do."""
    return value is not MISSING


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One compiled version."""

    sizes: _Pattern
    modes: Mapping[str, object]
    called: Site
    """The call that compiled it."""
    guards: tuple[Guard, ...] = ()
    burned: Burned = field(default_factory=dict)
    """What the code was specialised for without a guard."""
    unguarded: frozenset[str] = frozenset()
    """`sizes` or `modes`: a filter drops all guards on the sizes of arguments, or on the modes."""

    def modes_fit(self, modes: Mapping[str, object]) -> bool:
        """Whether no mode is in the way of a call."""
        return MODES in self.unguarded or self.modes == modes

    def sizes_fit(self, tensors: Sequence[Tensor]) -> bool:
        """Whether no size of an argument is in the way of a call."""
        return SIZES in self.unguarded or _sizes_fit(self.sizes, [tensor.shape for tensor in tensors])

    def unseen(self, tensors: Sequence[Tensor], modes: Mapping[str, object]) -> list[str]:
        """The modes and sizes that differ in a call which this version serves, as no guard notices."""
        changed = [one for one in {**self.modes, **modes} if self.modes.get(one) != modes.get(one)]
        fits = _sizes_fit(self.sizes, [tensor.shape for tensor in tensors])
        return [*changed, *([] if fits else [SIZES])]


@dataclass(slots=True)
class Cache:
    """The entries of one compiled function."""

    entries: list[CacheEntry] = field(default_factory=list)
    seen: dict[tuple[int | Source, int], set[int]] = field(default_factory=dict)
    """The sizes of each axis of each argument, or other tensor, in calls that compiled."""
    dynamic: set[tuple[int, int]] = field(default_factory=set)
    scalars: dict[Source, object] = field(default_factory=dict)
    """The number that a source gave when code was compiled; MISSING once it has given another."""
    unit: str = ""
    """Identity of the function."""
    key: str = ""
    """Identity of the code and of what else tells one cache from another."""
    instances: set[int] = field(default_factory=set)
    """Those that were called, by identity."""
    keys: dict[Source, tuple[Key, ...]] = field(default_factory=dict)
    """The keys of the sources of all guards, each by the class that was compiled."""
    left: bool = False
    """Dynamo has found nothing to compile in it, and does not look again."""
    unknown: set[Source] = field(default_factory=set)
    """The sources that led to a value of which nothing is known in some call."""
    kept: dict[tuple[object, ...], bool | None] = field(default_factory=dict)
    """By filter and guard, whether the filter keeps it; None if that is not known."""
    telling: set[Source] = field(default_factory=set)
    """The sources that told one entry from another: no stance skips the guards on those."""

    def fitting(
        self, tensors: Sequence[Tensor], modes: Mapping[str, object], resolve: Resolve, *, skips: bool
    ) -> CacheEntry | None:
        """The entry that serves a call, under a stance that skips guards or another one."""
        for entry in reversed(self.entries):
            if (
                entry.modes_fit(modes)
                and entry.sizes_fit(tensors)
                and all(
                    self._holds(guard, resolve)
                    for guard in entry.guards
                    if not (guard.dropped or (skips and self._is_skipped(guard)))
                )
            ):
                return entry
        return None

    def skipped(self, entry: CacheEntry, resolve: Resolve, *, skips: bool) -> list[Guard]:
        """The guards that a call breaks and nobody checks: a filter drops them, or a stance skips them."""
        return [
            guard
            for guard in entry.guards
            if (guard.dropped or (skips and self._is_skipped(guard) and _is_of_constant(guard)))
            and not self._holds(guard, resolve)
        ]

    def _is_skipped(self, guard: Guard) -> bool:
        return guard.what in _CONSTANT and guard.source not in self.telling

    def _holds(self, guard: Guard, resolve: Resolve) -> bool:
        value = resolve(guard.source)
        if guard.what == "alias" and isinstance(guard.expected, Source):
            return value is resolve(guard.expected)
        if isinstance(value, Unknown):
            self.unknown.add(guard.source)
        return guard.holds(value)

    def failures(
        self, tensors: Sequence[Tensor], modes: Mapping[str, object], resolve: Resolve
    ) -> list[str | Guard]:
        """The checks of the nearest entry that fail: a mode, the sizes, guards; none for the first call.

        What some other entry was compiled for as it is now explains nothing, if anything else does.
        """
        differences: list[list[str | Guard]] = []
        failing: list[set[str | Source]] = []
        for entry in reversed(self.entries):
            changed: list[str | Guard] = [
                one
                for one in entry.unseen(tensors, modes)
                if (SIZES if one == SIZES else MODES) not in entry.unguarded
            ]
            broken = [
                guard for guard in entry.guards if not guard.dropped and not self._holds(guard, resolve)
            ]
            failing.append({_place(check) for check in (*changed, *broken)})
            ways = {guard.source.way for guard in broken}
            broken = [
                guard for guard in broken if ways.isdisjoint(guard.source.above())
            ]  # it is held elsewhere
            self.telling.update(guard.source for guard in broken)
            changed += broken
            differences.append(changed)
        causes = min(
            self._fresh(differences, failing) or differences, key=lambda fails: len(fails), default=[]
        )
        while differences and (left := _without(differences, causes)) and all(left):
            causes = causes + left[0]  # the newest would fail even if the rest stayed as it was
        return causes

    def _fresh(
        self, differences: list[list[str | Guard]], failing: list[set[str | Source]]
    ) -> list[list[str | Guard]]:
        """Of the checks that fail in each entry, those that hold in none; no entries that have none.

        `failing` has the subjects of all that fail, also of what is held by something else that does.
        """
        checked = [{_place(guard) for guard in entry.guards} for entry in reversed(self.entries)]
        covered = {
            place
            for fails, places in zip(failing, checked, strict=True)
            for place in places
            if place not in fails
        }
        named = {place for fails in failing for place in fails if isinstance(place, str)}
        covered |= {name for name in named if not all(name in fails for fails in failing)}
        fresh = [[check for check in changed if _place(check) not in covered] for changed in differences]
        return [changed for changed in fresh if changed]

    def states(self, mode: str) -> dict[object, Site]:
        """The values of a mode that there are versions for, each with the call that compiled the first."""
        found: dict[object, Site] = {}
        for entry in self.entries:
            found.setdefault(entry.modes.get(mode), entry.called)
        return found

    def varies(self, source: Source, value: object) -> bool:
        """Whether a number that is compiled in has had another value before, so that it becomes a symbol."""
        if source not in self.scalars:
            self.scalars[source] = value
        elif self.scalars[source] != value:
            self.scalars[source] = MISSING
        return self.scalars[source] is MISSING

    def turned(self, source: Source, tensor: Tensor, *, static: bool, dynamic: bool) -> frozenset[int]:
        """The axes of a tensor whose sizes are symbols in what is compiled now."""
        found = set()
        for axis, size in enumerate(tensor.shape or ()):
            if size is not None and not is_stand_in(size):
                known = self.seen.setdefault((source, axis), set())
                known.add(size)
                marked = axis in tensor.marked or axis - len(tensor.shape or ()) in tensor.marked
                turns = not static and not tensor.static and (dynamic or len(known) > 1)
                found |= {axis} if size > 1 and (marked or turns) else set()
        return frozenset(found)

    def add(
        self,
        tensors: Sequence[Tensor],
        modes: Mapping[str, object],
        called: Site,
        guards: tuple[Guard, ...],
        burned: Burned,
        unguarded: frozenset[str],
        *,
        static: bool,
        dynamic: bool,
    ) -> None:
        """Keep a new version."""
        pattern: list[tuple[int | str | None, ...] | None] = []
        for number, tensor in enumerate(tensors):
            if tensor.shape is None:
                pattern.append(None)
                continue
            axes: list[int | str | None] = []
            for axis, size in enumerate(tensor.shape):
                place = (number, axis)
                marked = axis in tensor.marked or axis - len(tensor.shape) in tensor.marked
                if size is not None:
                    known = self.seen.setdefault(place, set())
                    if marked or (not static and not tensor.static and (dynamic or known - {size})):
                        self.dynamic.add(place)
                    known.add(size)
                turns = place in self.dynamic and size is not None and size > 1
                axes.append(f"s{size}" if turns else size)
            pattern.append(tuple(axes))
        self.entries.append(CacheEntry(tuple(pattern), dict(modes), called, guards, burned, unguarded))


def _without(differences: list[list[str | Guard]], causes: list[str | Guard]) -> list[list[str | Guard]]:
    """The checks that fail in each entry, without those of the same places as some others."""
    places = {_place(check) for check in causes}
    return [[check for check in changed if _place(check) not in places] for changed in differences]


def _place(check: str | Guard) -> str | Source:
    """The subject of a check: a mode, the sizes of arguments, or where a value comes from."""
    return check.source if isinstance(check, Guard) else check


def _is_of_constant(guard: Guard) -> bool:
    """Whether a value is a constant in the graph: code does not depend on the types of all that it meets."""
    return guard.what != "value" or isinstance(guard.expected, PLAIN)


def _sizes_fit(pattern: _Pattern, shapes: Sequence[Shape | None]) -> bool:
    """Whether sizes are those of a pattern; a symbol stands for one number of at least 2."""
    if len(pattern) != len(shapes):
        return True  # called in another way: that is no matter of sizes
    bound: dict[str, int] = {}
    for wanted, shape in zip(pattern, shapes, strict=True):
        if wanted is None or shape is None:
            continue
        if len(wanted) != len(shape):
            return False
        for expected, size in zip(wanted, shape, strict=True):
            if size is None or expected is None:
                continue
            if isinstance(expected, str):
                if size < 2 or bound.setdefault(expected, size) != size:
                    return False
            elif expected != size:
                return False
    return True


@dataclass(frozen=True, slots=True)
class Write:
    """An assignment to an attribute, an item or a name."""

    owner: object
    value: object
    site: Site
    traced: bool
    """Compiled code makes it."""
    doubt: bool
    time: int
    """How many compiled calls there had been."""


@dataclass(slots=True)
class Trace:
    """One call of compiled code."""

    cache: Cache
    entry: object
    """The function that is compiled; None if it has no code in the project."""
    names: Mapping[str, object]
    """The arguments."""
    called: Site
    compile: CompileCall
    target: object
    """The module or function that is called."""
    code: str
    """Identity of its code."""
    tensors: Sequence[Tensor] = ()
    """Those among the arguments."""
    resumed: tuple[int, int] | None = None
    """It goes on behind a graph break: the line, and how many there were at it before."""
    pending: bool = False
    """The statement at which the graph broke is not done."""
    apart: bool = False
    """It is a call in a frame that Dynamo has left, or behind a graph break."""
    compiles: bool = True
    """No entry of the cache fits: this call compiles."""
    serves: CacheEntry | None = None
    """The entry that fits."""
    version: Version = ("", 0)
    unchecked: bool = False
    """That is so because some guards of it are not checked."""
    static: bool = False
    """Numbers never become symbols."""
    dynamic: bool = False
    """Numbers are symbols from the first call."""
    modes: Mapping[str, object] = field(default_factory=dict)
    reads: dict[str, Site] = field(default_factory=dict)
    """Where it first reads a name that it was handed behind a graph break."""
    broken: str = ""
    """The graph ends in the statement that is under way, `break`, or Dynamo leaves the frame, `eager`."""
    operations: int = 0
    """Operations on tensors in it so far."""
    settled: int = 0
    """Those before the last statement of its own frame behind which Dynamo could go on."""
    computes: bool = False
    """There is an operation on a tensor in it: Dynamo keeps nothing of a frame without one."""
    frames: list[Frame] = field(default_factory=list)
    """The frame that is compiled, and those of the calls in it that are under way."""
    ended: bool = False
    """Dynamo does not trace the rest of it, and where it goes on is not known."""
    entered: bool = False
    """The compiled function itself has begun."""
    sources: dict[int, tuple[object, Source]] = field(default_factory=dict)
    """By identity, what was there before the call, and the way to it."""
    guards: dict[tuple[Source, object], Guard] = field(default_factory=dict)
    written: dict[tuple[int, object], object] = field(default_factory=dict)
    """The values of places that the call has assigned."""
    symbols: dict[Source, bool] = field(default_factory=dict)
    burned: dict[tuple[object, str], tuple[str, object, Site, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recompile:
    """A compile that one failed guard asked for."""

    guard: Guard
    target: str
    """Identity of what is compiled."""
    called: Site
    writes: tuple[Write, ...]
    """The assignments to it, or to what holds it, since the guard was made."""
    history: Sequence[Write]
    """All assignments to it, up to the end of the run."""
    fresh: bool
    """The compiled function has been made anew since."""
    instance: bool
    """Another instance of the same module is called."""
    doubt: bool
    now: object
    """What was found in place of what the guard expects."""
    holder: object
    """What holds it now: an object, a class or a container; None for an argument itself."""
    key: object
    """Its name or index in there."""
    cache: Cache
    compile: CompileCall
    keys: tuple[Key, ...]
    """Its names in the tables: as an attribute of each object on the way to it, the nearest first."""
    time: int
    """How many compiled calls there had been."""
    resumed: int | None = None
    """The line of the graph break behind which the code stands that is compiled."""
    apart: bool = False
    """A graph break has a call compiled by itself."""

    @property
    def written(self) -> int:
        """How many assignments compiled code has made to it."""
        return sum(write.traced for write in self.history)

    @property
    def in_doubt(self) -> bool:
        """Whether it is not known that the guard is made, or that it fails."""
        return self.doubt or self.guard.doubt

    @property
    def requires_gradient(self) -> bool | None:
        """Whether the tensor requires a gradient now, where the guard is about that; else None."""
        now = self.guard.measure(self.now) if self.guard.what == "gradient" else None
        return now if isinstance(now, bool) else None

    def decides(self, *what: str) -> bool:
        """Whether comparisons (`test`) or sizes (`size`) depend on it: more values may compile again."""
        return any(
            guard.source == self.guard.source and guard.what in what
            for entry in self.cache.entries
            for guard in entry.guards
        )


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A line of compiled code at which the graph of a call ends."""

    row: Row
    site: Site
    called: Site
    target: str
    """Identity of what is compiled; empty where the break comes before it, at the compile site."""
    doubt: bool
    compile: CompileCall
    line: int
    """That of the compiled function itself which leads there."""
    island: FunctionRef | None = None
    """The function that is called there and kept out of the graph."""
    effect: str = "break"
    """`eager` if Dynamo leaves the compiled frame for it, or what the row of the table says instead."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A compiled call that uses what has been replaced since, for which there is no guard."""

    what: str
    site: Site
    """The use."""
    called: Site
    target: str
    doubt: bool
    compile: CompileCall
    hook: Hook | None = None
    """It is a hook that was registered later."""
