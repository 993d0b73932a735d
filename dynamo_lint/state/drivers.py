"""The code around the regions: how often a statement runs, compared with the compiled code it drives."""

from __future__ import annotations

from dataclasses import dataclass, field

from dynamo_lint.index.facts import MODULE_KEY, Attribute, Call, Function
from dynamo_lint.regions.evaluate import evaluate
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import FunctionValue, Instance, Scope

_MAX_DEPTH = 3
_MAX_SITES = 40
"""Callers looked at per function; of a name that is called from more places nothing is known."""


@dataclass(slots=True)
class Drivers:
    """Answers for all functions that are not hot themselves."""

    project: Project
    hot: frozenset[FunctionRef]
    compiled: frozenset[FunctionRef]
    """Those that are handed to the compiler themselves; any code may call the others."""
    known: dict[FunctionRef, tuple[int, ...]] = field(default_factory=dict)
    answers: dict[tuple[FunctionRef, int], str] = field(default_factory=dict)
    callers: dict[FunctionRef, list[tuple[FunctionRef, int]]] = field(default_factory=dict)

    def often(self, where: FunctionRef, line: int, depth: int = 0) -> str:
        """How often a line runs: before `each` call of compiled code, before `some`, or `rarely`."""
        if where in self.hot:
            return "some" if _branched(self.project.function(where), line, 0) else "each"
        if depth > _MAX_DEPTH:
            return "rarely"
        if (where, line) not in self.answers:
            self.answers[where, line] = "rarely"  # a function that calls itself ends here
            self.answers[where, line] = self._often(where, line, depth)
        return self.answers[where, line]

    def _often(self, where: FunctionRef, line: int, depth: int) -> str:
        function = self.project.function(where)
        drives = self.calls(where)
        for first, last in function.loops:
            if first <= line <= last and any(first <= call <= last for call in drives):
                return "some" if _apart(function, line, drives) else "each"
        if where.key == MODULE_KEY:
            return "rarely"
        conditional = _apart(function, line, drives) if drives else _branched(function, line, 0)
        callers = self._callers(where)
        drives = tuple(call for call in drives if not any(a <= call <= b for a, b in function.loops))
        if drives and not callers:
            # A step that somebody else repeats: returned, or handed to a trainer.
            return "some" if conditional else "each"
        found = {self._at(caller, called, depth, bool(drives)) for caller, called in callers}
        best = next((word for word in ("each", "some") if word in found), "rarely")
        return "some" if best == "each" and conditional else best

    def _at(self, caller: FunctionRef, line: int, depth: int, drives: bool) -> str:
        function = self.project.function(caller)
        for first, last in function.loops:
            if drives and first <= line <= last:
                return "some" if _branched(function, line, first) else "each"
        return self.often(caller, line, depth + 1)

    def calls(self, where: FunctionRef, depth: int = 0) -> tuple[int, ...]:
        """The lines on which a function calls compiled code, or a module that may hold some."""
        if where not in self.known:
            self.known[where] = ()
            scope = Scope(where, self.project.owner(where))
            self.known[where] = tuple(
                site.call.line
                for site in self.project.function(where).calls
                if self._drives(site.call, scope, depth)
            )
        return self.known[where]

    def _drives(self, call: Call, scope: Scope, depth: int) -> bool:
        if isinstance(call.function, Attribute) and not self.project.is_known(call.function.name):
            return False
        for value in evaluate(self.project, call.function, scope):
            match value:
                case Instance(ref) if self.project.is_module(ref):
                    return True
                case FunctionValue(ref) if ref in self.compiled:
                    return True
                case FunctionValue(ref) if (
                    ref not in self.hot and depth < _MAX_DEPTH and self.calls(ref, depth + 1)
                ):
                    return True
        return False

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
                values = evaluate(self.project, store.owner, Scope(setter, self.project.owner(setter)))
                if any(isinstance(v, Instance) and owner in self.project.mro(v.ref) for v in values):
                    found.append((setter, store.line))
            return found
        sites = self.project.calls_of(name)
        for caller, site in sites if len(sites) <= _MAX_SITES else ():
            values = evaluate(self.project, site.call.function, Scope(caller, self.project.owner(caller)))
            if any(isinstance(value, FunctionValue) and value.ref == where for value in values):
                found.append((caller, site.call.line))
        return found


def _branched(function: Function, line: int, since: int) -> bool:
    """The line stands in a branch that begins below another line."""
    return any(since <= first <= line <= last for first, last in function.branches)


def _apart(function: Function, line: int, drives: tuple[int, ...]) -> bool:
    """The line stands in a branch that the calls are not in."""
    return any(
        first <= line <= last and not any(first <= call <= last for call in drives)
        for first, last in function.branches
    )
