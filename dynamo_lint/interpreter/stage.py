"""The state of a run: the names of files, the settings of torch, the caches, and what was met."""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import MODULE_KEY, Import, Name
from dynamo_lint.interpreter.guards import Cache, GraphBreak, Recompile, Stale, Trace, Write
from dynamo_lint.interpreter.model import (
    UNKNOWN,
    Begun,
    ClassObject,
    Closure,
    CompileCall,
    Cut,
    Exhausted,
    External,
    Failed,
    FileValue,
    FixedSize,
    Frame,
    Manager,
    Met,
    Site,
    Wrapper,
)
from dynamo_lint.interpreter.settled import CallKey, Settled
from dynamo_lint.interpreter.splits import Splits
from dynamo_lint.models.drivers import (
    CONFIGURATION,
    DEFAULTS,
    NAMED,
    SETTINGS_OFF,
    STANCES_OFF,
    VARIABLES_OFF,
)
from dynamo_lint.models.releases import holds
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef, Symbol

Compiled = tuple[FunctionRef, ClassRef | None]
STANCE = "stance"
SKIPS = "stance: skip guards"
SUPPRESS = f"{CONFIGURATION}.suppress_errors"
AUTOMATIC = f"{CONFIGURATION}.automatic_dynamic_shapes"
UNSPEC_INT = f"{CONFIGURATION}.allow_unspec_int_on_nn_module"
STEPS = 100_000
"""Statements, expressions and calls that one run may take before it meets compiled code: half a second."""
STEPS_BEHIND = 150_000
"""The same for one that has met some."""
STEPS_PRESUMED = 60_000
"""The same for the calls of one compiled function that no program calls."""
_CONSTANTS = frozenset({"pi", "e", "tau", "inf"})
DEEPEST = 24
"""Calls within calls."""
RECURSION = 3
"""Calls of a function within itself, where it is not known whether it calls itself again."""


@dataclass(frozen=True, slots=True)
class Failing:
    """The compile sites whose code cannot be compiled, by file and line: each call of it raises."""

    fakes: frozenset[tuple[str, int]] = frozenset()
    """For an operator without a fake."""


NOWHERE = Site(FunctionRef("", ""), ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))


@cache
def outside(dotted: str) -> object:
    """Something outside the project: a constant of mathematics by its value."""
    package, _, name = dotted.rpartition(".")
    return getattr(math, name) if package in {"math", "numpy"} and name in _CONSTANTS else External(dotted)


@dataclass(slots=True)
class Stage(ABC):
    """All that the code run so far has set up."""

    project: Project
    bodies: Bodies
    failing: Failing
    disabled: Mapping[FunctionRef | ClassRef, str]
    """Functions and classes that a decorator keeps Dynamo from."""
    torch_version: tuple[int, int]
    captured: Mapping[FunctionRef, frozenset[str]] = field(default_factory=dict)
    """By compiled function, the switches of the table of breaks that are on: no graph ends there."""
    splits: Splits = field(default_factory=Splits)
    targets: Mapping[tuple[str, int], Compiled] = field(default_factory=dict)
    """By file and line of a compile site, the one function that it compiles, with the class of its `self`."""
    callees: Mapping[tuple[str, int, str], Compiled] = field(default_factory=dict)
    """By file, line and name, the one function that compiled code calls there."""
    made_up: dict[tuple[str, int, str], object] = field(default_factory=dict)
    """What is called at such lines, where no run has made it."""
    files: dict[str, Frame] = field(default_factory=dict)
    main: str = ""
    """The file that is run: in others, which are imported, `__name__` is not `__main__`."""
    meant: dict[tuple[FunctionRef, str], tuple[Symbol, ...]] = field(default_factory=dict)
    """What names are bound to, by the function that uses them."""
    settings: dict[str, tuple[object, Site | None]] = field(default_factory=dict)
    """The value of each setting, and where it was made."""
    guarded: set[Site] = field(default_factory=set)
    """The settings that were made under a test that is unknown."""
    caches: dict[str, Cache] = field(default_factory=dict)
    wrapped: list[Wrapper] = field(default_factory=list)
    """All that compile sites have made, in order; what is compiled in place with its own call."""
    given: dict[str, tuple[list[object], dict[str, object]]] = field(default_factory=dict)
    """By compiled function, the arguments of its last call."""
    begun: dict[str, object] = field(default_factory=dict)
    """All that has been compiled, by its code; held, so that no other object gets its identity."""
    resets: list[Site] = field(default_factory=list)
    """The resets since the last compiled call."""
    met: list[Met] = field(default_factory=list)
    lines: dict[tuple[FunctionRef, int], Site] = field(default_factory=dict)
    """Places that no expression stands for."""
    entered: dict[FunctionRef, Begun] = field(default_factory=dict)
    """The functions that were called."""
    handed_out: set[FunctionRef | ClassRef] = field(default_factory=set)
    """The functions and classes that were handed to what is not known."""
    trace: Trace | None = None
    """The compiled call that is under way."""
    under: CompileCall | None = None
    """The compile site of a frame that Dynamo has left, while that runs: it compiles the calls in there."""
    current: Site = NOWHERE
    """The statement, or the header of the one, that is being run."""
    writes: dict[tuple[int, object], list[Write]] = field(default_factory=dict)
    """By the identity of what holds it and the name or index in there."""
    defaults_of: dict[FunctionRef, dict[str, object]] = field(default_factory=dict)
    """The values of defaults of methods."""
    compiling: dict[FunctionRef, tuple[tuple[str, object], ...]] = field(default_factory=dict)
    """The keywords of the decorators that compile methods."""
    classes: dict[ClassRef, ClassObject] = field(default_factory=dict)
    ran: set[tuple[FunctionRef, int]] = field(default_factory=set)
    """The functions that compiled code has run, each with the lines of statements that it reached."""
    made: Counter[ClassRef] = field(default_factory=Counter)
    """How many objects of each class, and of those that inherit from it, were made."""
    class_attributes: dict[ClassRef, dict[str, object]] = field(default_factory=dict)
    """What has been assigned to classes."""
    recompiles: list[Recompile] = field(default_factory=list)
    skipped: list[Recompile] = field(default_factory=list)
    """The compiles that a stance suppressed, which skips guards."""
    presumed_from: tuple[int, int] = (0, 0)
    """How many of either there were before the first call that no program makes."""
    exhausted: list[Cut] = field(default_factory=list)
    """Where runs took more steps than they may."""
    supposed: bool = False
    """An object was made up that a caller would hand in."""
    presuming: bool = False
    """Such calls are under way: what may be assigned is, and what that shows is in doubt."""
    stale: list[Stale] = field(default_factory=list)
    pinned: dict[tuple[str, int], FixedSize] = field(default_factory=dict)
    """By file and line of a mark, the layer that fixes the size."""
    breaks: dict[tuple[str, int, str], GraphBreak] = field(default_factory=dict)
    """By file, line and rule, where graphs end."""
    taken: dict[object, tuple[str, int]] = field(default_factory=dict)
    """The file and line of the break that has given a number."""
    drawn: dict[tuple[FunctionRef, object], tuple[str, int]] = field(default_factory=dict)
    """By function and name, or call, the line of the break that gave what is another value in each call."""
    unfollowed: set[str] = field(default_factory=set)
    """The compiled functions that call what is not known."""
    sweeping: bool = False
    """Compiled code is called for the branches that no call has taken: what that shows is in doubt."""
    recording: bool = False
    """What runs is recorded otherwise than by Dynamo: all of it is one graph."""
    raising: set[tuple[str, int]] = field(default_factory=set)
    """The compile sites by file and line whose calls raise for a graph break."""
    vouched: set[object] = field(default_factory=set)
    """Those of which the code has told torch what it may rely on."""
    made_to_need: dict[int, tuple[object, Site]] = field(default_factory=dict)
    """By identity, the tensors that compiled code has made need a gradient, and where."""
    marks: dict[FunctionRef | ClassRef, frozenset[str]] = field(default_factory=dict)
    """The dotted names of decorators of libraries, by what they stand over."""
    naming: int = 0
    """Names of attributes are being made, within each other."""
    building: int = 0
    """Modules are being made by compiled code, within each other."""
    unended: bool = False
    """Some loop has not been run to its end."""
    cuts: dict[tuple[str, int], Cut] = field(default_factory=dict)
    """By file and line, in order, what was given up: see `give_up`."""
    cut_at: int | None = None
    """How many compiled calls had ended, with 1 more outside of them, where it first was weakened."""
    invented: bool = False
    """Something stands in for what no run has made."""
    doubt: int = 0
    """How many tests around the current line are unknown."""
    depth: int = 0
    active: Counter[FunctionRef] = field(default_factory=Counter)
    """How often each function is being run."""
    same: list[tuple[object, ...]] = field(default_factory=list)
    """Each function that is being run, with what tells its arguments from others."""
    catching: int = 0
    """How many statements around the current one may catch an exception."""
    expected: list[frozenset[str]] = field(default_factory=list)
    """The exceptions that each of them names, from the outermost to the innermost."""
    steps: int = 0
    draws: int = 0
    """Random numbers drawn so far."""
    changes: int = 0
    """Assignments to what outlives a call, changes of settings, and versions compiled so far."""
    reached: set[int] = field(default_factory=set)
    """All that compiled calls were handed, or found on a way from there, by identity."""
    effects: int = 0
    """The same with assignments that no compiled call sees, and objects made."""
    settled: dict[CallKey, Settled] = field(default_factory=dict)
    """The calls that changed nothing, by what was called and given."""

    # --- names ------------------------------------------------------------------------------------------

    def lookup(self, name: str, frame: Frame) -> object:
        """The value of a name: in the function, around it, in its file, or by what it is bound to there."""
        around: Frame | None = frame
        while around is not None:
            if name in around.names:
                held = around.names[name]
                if name in around.carried and self.trace is not None:
                    return self.resume(name, held, around)
                return held if self.trace is None or around.traced else self.free(name, held, around, frame)
            around = around.outer
        key = (frame.where, name)
        symbols = self.meant.get(key)
        if symbols is None:
            symbols = self.project.symbols(Name(name), frame.where.path, frame.where.key)
            self.meant[key] = symbols
        values = [self.of_symbol(symbol) for symbol in symbols]
        return values[0] if len(values) == 1 else self._imported(name, frame)

    def _imported(self, name: str, frame: Frame) -> object:
        """A variable of another file that is imported by name."""
        path = frame.where.path
        for function in dict.fromkeys((frame.where.key, MODULE_KEY)):
            for binding in self.project.function(FunctionRef(path, function)).bindings:
                target = binding.value
                if binding.name != name or not isinstance(target, Import) or target.name is None:
                    continue
                for source in self.project.imported_modules(target, path):
                    if isinstance(source, File) and source.path != path:
                        held = self.file(source.path).names.get(target.name, UNKNOWN)
                        self.file(path).names[name] = held
                        return held if self.trace is None else self.free(name, held, self.file(path), frame)
        return UNKNOWN

    @abstractmethod
    def free(self, name: str, value: object, around: Frame, frame: Frame) -> object:
        """The value of a name outside of the compiled code that reads it."""

    @abstractmethod
    def resume(self, name: str, value: object, frame: Frame) -> object:
        """The value of a name that a frame was handed behind a graph break."""

    def of_symbol(self, symbol: Symbol) -> object:
        """A definition, a file or something outside as a value."""
        match symbol:
            case ExternalSymbol(dotted):
                return outside(dotted)
            case File(path):
                return FileValue(path)
            case ClassRef():
                return self.class_object(symbol)
            case FunctionRef(path, key):
                known = self.file(path).names.get(key) if "." not in key else None
                return known if known is not None else Closure(symbol, self.file(path))
        return UNKNOWN

    def class_object(self, ref: ClassRef) -> ClassObject:
        """A class as a value, always the same one."""
        return self.classes.setdefault(ref, ClassObject(ref))

    def file(self, path: str) -> Frame:
        """The names of a file, run by the first who asks."""
        if path not in self.files:
            where = FunctionRef(path, MODULE_KEY)
            self.files[path] = Frame(where)
            body = self.bodies.outline(path) if path in self.project.files else None
            around, (self.trace, self.under) = (self.trace, self.under), (None, None)
            for _ in self.function(body or [], self.files[path]):
                pass
            self.trace, self.under = around
        return self.files[path]

    @abstractmethod
    def function(self, body: list[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run the body of a function or of a file; what it yields."""

    def step(self, count: int = 1) -> None:
        """Count steps, and end a run that takes too many.

        Raises:
            Exhausted: when it has taken as many as it may.
        """
        self.steps += count
        most = STEPS_PRESUMED if self.presuming else STEPS_BEHIND if self.met else STEPS
        if self.depth > DEEPEST or self.steps > most:
            raise Exhausted

    def lacks(self, *names: str) -> None:
        """Notice that a key or an attribute is missing.

        Raises:
            Failed: where the innermost handler around the current line names that exception.
        """
        if self.expected and not self.expected[-1].isdisjoint(names):
            raise Failed(frozenset({*names, "Exception", "BaseException"}))

    def give_up(self, site: Site, why: str) -> None:
        """Note that something was not done as Python does it, and tell of it."""
        self.cuts.setdefault(site.place, Cut(site, why))
        self.weaken()

    def weaken(self) -> None:
        """Note that from here on the run shows what happens, and refutes nothing."""
        if self.cut_at is None:
            self.cut_at = len(self.met) + (self.trace is None)

    # --- settings ---------------------------------------------------------------------------------------

    def set(self, name: str, value: object, site: Site | None) -> None:
        """Give a setting a value."""
        if name not in NAMED and self.settings.get(name) != (value, site):
            self.affect()
        self.effects += 1
        self.settings[name] = (value, site)
        if site is not None and self.doubt:
            self.guarded.add(site)

    def enter(self, manager: Manager) -> None:
        """Make the settings of a context manager."""
        for name, value in manager.settings.items():
            manager.before[name] = self.settings.get(name)
            self.set(name, value, manager.site)

    def leave(self, manager: Manager) -> None:
        """Put back what was set before."""
        for name, before in manager.before.items():
            if name not in NAMED and self.settings.get(name) != before:
                self.affect()
            if isinstance(before, tuple):
                self.settings[name] = before
            else:
                self.settings.pop(name, None)
        manager.before.clear()

    def has(self, change: str) -> bool:
        """Whether the torch has a change of models/releases.toml."""
        return holds(change, self.torch_version)

    def on(self, name: str) -> bool:
        """Whether a setting was made true."""
        return self.settings.get(name, (None, None))[0] is True

    def modes(self) -> dict[str, object]:
        """The modes that Dynamo guards on, with their values."""
        changed = {name: value for name, (value, _) in self.settings.items() if name in NAMED}
        return {**DEFAULTS, **changed}

    def off(self) -> Site | None:
        """Where compiling was switched off, if it is."""
        stance, site = self.settings.get(STANCE, (None, None))
        if stance in STANCES_OFF:
            return site
        wanted = [*((f"{CONFIGURATION}.{name}", value) for name, value in SETTINGS_OFF.items())]
        wanted += [(f"os.environ.{name}", value) for name, value in VARIABLES_OFF.items()]
        for name, value in wanted:
            found, site = self.settings.get(name, (None, None))
            if found is not None and found == value:
                return site
        return None

    def affect(self) -> None:
        """Count a change that calls of compiled code may see."""
        self.changes += 1
        self.effects += 1

    def meet(self, met: Met) -> None:
        """Write down what happened to a compiled call."""
        self.met.append(met)
