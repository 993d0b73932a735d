"""How often a statement of driver code runs: once, in a loop, around which calls.

For real drivers, which take models and batches from files, so that no run (interpreter/) reaches their calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, Choice, Expr, Function, Name
from dynamo_lint.index.walking import arguments_of, walk
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.model import ClassValue, Context, FunctionValue, Instance
from dynamo_lint.values.points_to import glimpse

_MAX_DEPTH = 3
_STEPS = frozenset({"forward", "__call__", "step"})
"""Methods that torch, or the code that holds the object, calls again and again."""
_MAX_SITES = 40
"""Callers looked at per function; of a name that is called from more places nothing is known."""


@dataclass(slots=True)
class Drivers:
    """Answers for all functions that are not hot themselves."""

    project: Project
    hot: frozenset[FunctionRef]
    compiled: frozenset[FunctionRef]
    """Those that are handed to the compiler themselves; any code may call the others."""
    asked: dict[tuple[FunctionRef, int], bool | tuple[FunctionRef, ...]] = field(default_factory=dict)
    running: dict[tuple[FunctionRef, int], bool] = field(default_factory=dict)
    answers: dict[tuple[FunctionRef, int], str] = field(default_factory=dict)
    callers: dict[FunctionRef, list[tuple[FunctionRef, int]]] = field(default_factory=dict)
    models: frozenset[ClassRef] = field(init=False)
    """The classes whose methods are compiled."""

    def __post_init__(self) -> None:
        owners = map(self.project.owner, self.compiled)
        self.models = frozenset(owner for owner in owners if owner is not None)

    def often(self, where: FunctionRef, line: int, depth: int = 0) -> str:
        """How often a line runs: before `each` call of compiled code, before `some`, `perhaps` before some,
        as an unusual input may have it, or `rarely`."""
        if where in self.hot:
            return "some" if _branched(self.project.function(where), line, 0) else "each"
        if depth > _MAX_DEPTH:
            return "rarely"
        if (where, line) not in self.answers:
            self.answers[where, line] = "rarely"  # a function that calls itself ends here
            found = self._often(where, line, depth)
            unusual = any(_within(line, lines) for lines in self.project.function(where).exceeding)
            self.answers[where, line] = "perhaps" if unusual and found != "rarely" else found
        return self.answers[where, line]

    def _often(self, where: FunctionRef, line: int, depth: int) -> str:
        function = self.project.function(where)
        if self._configures(where, line):
            return "rarely"
        for loop in function.loops:
            if _within(line, loop) and self._sets_up(where, line, loop):
                return "rarely"
            if _within(line, loop) and self._drives(where, loop):
                return "some" if self._apart(where, line) else "each"
        if where.key == MODULE_KEY:
            return "rarely"
        callers = self._callers(where)
        if not callers:
            if not (_is_step(where) and self._drives_once(where)) or self._makes_model(where):
                return "rarely"  # a setter that no code calls: nothing shows that it runs twice
            return "some" if self._apart(where, line) else "each"
        found = {self._at(caller, called, depth, where) for caller, called in callers}
        best = next((word for word in ("each", "some", "perhaps") if word in found), "rarely")
        return "some" if best == "each" and self._apart(where, line) else best

    def _at(self, caller: FunctionRef, line: int, depth: int, called: FunctionRef) -> str:
        function = self.project.function(caller)
        for loop in function.loops:
            if _within(line, loop) and self._drives_once(called):
                return "some" if _branched(function, line, loop[0]) else "each"
        return self.often(caller, line, depth + 1)

    def _apart(self, where: FunctionRef, line: int) -> bool:
        """The line stands in a branch that calls nothing compiled."""
        branches = self.project.function(where).branches
        return any(_within(line, branch) and not self._drives(where, branch) for branch in branches)

    def _makes_model(self, where: FunctionRef) -> bool:
        """It makes the compiled model itself: a program from its start, not a step that somebody repeats."""
        calls = (site.call for site in self.project.function(where).calls)
        return any(
            not self.models.isdisjoint(self.project.mro(ref))
            for ref in self._classes_constructed(where, calls)
        )

    def _configures(self, where: FunctionRef, line: int) -> bool:
        """The line sets up what a module is made with further down: nothing runs with it before that."""
        function = self.project.function(where)
        own = self.project.self_name(where)
        owners = {
            part for store in function.stores if store.line == line for part in _owners(store.owner, own)
        }
        given_one = (
            site.call
            for site in (function.calls if owners else ())
            if site.call.line > line and any(p in owners for g in arguments_of(site.call) for p in walk(g))
        )
        return any(self.project.is_module(ref) for ref in self._classes_constructed(where, given_one))

    def _sets_up(self, where: FunctionRef, line: int, loop: tuple[int, int]) -> bool:
        """The line fills in an object that its loop makes anew each round."""
        function, context = self.project.function(where), Context(where, self.project.owner(where))
        owners = dict.fromkeys(store.owner for store in function.stores if store.line == line)
        bound = self.project.bindings_of(where)
        made = [
            part.function
            for owner in owners
            for binding in bound.get(owner.id if isinstance(owner, Name) else "", ())
            if _within(binding.line, loop)
            for part in _choices(binding.value)
            if isinstance(part, Call)
        ]
        return any(
            isinstance(value, ClassValue)
            for callee in made
            for value in glimpse(self.project, callee, context)
        )

    def _classes_constructed(self, where: FunctionRef, calls: Iterable[Call]) -> Iterator[ClassRef]:
        """The classes of the objects that calls in a function give."""
        context = Context(where, self.project.owner(where))
        for call in calls:
            yield from (v.ref for v in glimpse(self.project, call, context) if isinstance(v, Instance))

    # --- which calls run compiled code ------------------------------------------------------------------
    # Only the calls that a question is about are looked at: most code is far from everything compiled.

    def _drives(self, where: FunctionRef, lines: tuple[int, int]) -> bool:
        """Some call on these lines runs compiled code, or a module that may hold some."""
        calls = enumerate(self.project.function(where).calls)
        return any(_within(s.call.line, lines) and self._runs(where, number, 0) for number, s in calls)

    def _drives_once(self, where: FunctionRef) -> bool:
        """Some call outside the function's own loops does."""
        function = self.project.function(where)
        return any(
            self._runs(where, number, 0)
            for number, site in enumerate(self.project.function(where).calls)
            if not any(_within(site.call.line, loop) for loop in function.loops)
        )

    def _runs(self, where: FunctionRef, number: int, depth: int) -> bool:
        if (where, number) not in self.asked:
            self.asked[where, number] = self._called(where, self.project.function(where).calls[number].call)
        called = self.asked[where, number]
        if isinstance(called, bool):
            return called
        return depth < _MAX_DEPTH and any(self._runs_in(ref, depth + 1) for ref in called)

    def _runs_in(self, ref: FunctionRef, depth: int) -> bool:
        if (ref, depth) not in self.running:
            numbers = range(len(self.project.function(ref).calls))
            self.running[ref, depth] = any(self._runs(ref, number, depth) for number in numbers)
        return self.running[ref, depth]

    def _called(self, where: FunctionRef, call: Call) -> bool | tuple[FunctionRef, ...]:
        """Whether a call runs compiled code or a module; else the functions that may do so for it."""
        if isinstance(call.function, Attribute) and not self.project.is_known(call.function.name):
            return False
        functions = []
        for value in glimpse(self.project, call.function, Context(where, self.project.owner(where))):
            match value:
                case Instance(ref) if self.project.is_module(ref):
                    return True
                case FunctionValue(ref) if ref in self.compiled:
                    return True
                case FunctionValue(ref) if ref not in self.hot:
                    functions.append(ref)
        return tuple(functions)

    def is_called(self, where: FunctionRef) -> bool:
        """Some code of the project calls it."""
        return bool(self._callers(where))

    def _callers(self, where: FunctionRef) -> list[tuple[FunctionRef, int]]:
        """Where a function is called, or where the property is set whose setter it is."""
        if where not in self.callers:
            self.callers[where] = self._find_callers(where)
        return self.callers[where]

    def _find_callers(self, where: FunctionRef) -> list[tuple[FunctionRef, int]]:
        function = self.project.function(where)
        name = function.qualname.rpartition(".")[2]
        found: list[tuple[FunctionRef, int]] = []
        if where.key.endswith("@setter"):
            owner = self.project.owner(where)
            for setter, store in self.project.stores_of(name)[:_MAX_SITES]:
                values = glimpse(self.project, store.owner, Context(setter, self.project.owner(setter)))
                if any(isinstance(v, Instance) and owner in self.project.mro(v.ref) for v in values):
                    found.append((setter, store.line))
            return found
        sites = self.project.calls_of(name)
        for caller, site in sites if len(sites) <= _MAX_SITES else ():
            values = glimpse(self.project, site.call.function, Context(caller, self.project.owner(caller)))
            if any(isinstance(value, FunctionValue) and value.ref == where for value in values):
                found.append((caller, site.call.line))
        return found


def _is_step(where: FunctionRef) -> bool:
    """Whether a function is there for others to repeat: another returns it, or its name says so."""
    name = where.key.rpartition(".")[2]
    return "<locals>" in where.key or name in _STEPS or name.endswith("_step") or name.startswith("on_")


def _choices(value: Expr) -> tuple[Expr, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def _owners(owner: Expr, own: str | None) -> Iterator[Expr]:
    """`cfg.model` and `cfg` for what is stored in `cfg.model`; an object is not set up by its own methods."""
    while isinstance(owner, Attribute):
        yield owner
        owner = owner.value
    if isinstance(owner, Name) and owner.id != own:
        yield owner


def _within(line: int, lines: tuple[int, int]) -> bool:
    return lines[0] <= line <= lines[1]


def _branched(function: Function, line: int, since: int) -> bool:
    """The line stands in a branch that begins below another line."""
    return any(since <= first <= line <= last for first, last in function.branches)
