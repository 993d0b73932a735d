"""Calls of what is compiled: whether Dynamo runs a graph for them, and whether it compiles again."""

from __future__ import annotations

from dynamo_lint.models.drivers import MODULES
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.rehearsal.expressions import Expressions
from dynamo_lint.rehearsal.guards import SIZES, Cache
from dynamo_lint.rehearsal.model import (
    Closure,
    CompileCall,
    Failed,
    Met,
    Object,
    Site,
    Tensor,
    Wrapper,
)
from dynamo_lint.rehearsal.stage import AUTOMATIC, SUPPRESS

RAISED = frozenset(
    {"Unsupported", "TorchRuntimeError", "TorchDynamoException", "RuntimeError", "Exception", "BaseException"}
)
"""What a compiled call that cannot be compiled raises, and what it inherits from (torch/_dynamo/exc.py)."""


class Compiled(Expressions):
    """A stage that knows what becomes of compiled calls."""

    __slots__ = ()

    def run_eagerly(
        self, target: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run what a module or function does, uncompiled."""
        raise NotImplementedError

    def note(
        self,
        what: str,
        site: Site,
        called: Site,
        target: object,
        call: CompileCall | None,
        static: bool = False,
    ) -> Met:
        """Write down what happens to a call."""
        met = Met(what, site, called, self.unit_of(target), self.doubt > 0, call, static)
        self.meet(met)
        return met

    def run_compiled(
        self,
        target: object,
        call: CompileCall,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
        *,
        in_place: bool,
    ) -> object:
        """Call a compiled module or function."""
        off = call.site if call.keyword("disable") is True else self.off()
        if off is not None:
            self.note("off", off, site, target, call)
            return Tensor()
        if self.is_kept_out(target):
            self.note("disabled", call.site, site, target, call)
            return Tensor()
        if in_place and isinstance(target, Object) and self.is_builtin(target):
            self.note("builtin", call.site, site, target, call)
            return Tensor()
        place = call.site.place
        suppressing = self.settings.get(SUPPRESS, (None, None))[1] if self.on(SUPPRESS) else None
        if place in self.failing.fakes and suppressing is not None:
            self.note("suppressed", suppressing, site, target, call)
            return Tensor()
        if place in self.failing.fakes or place in self.failing.breaks:
            raise Failed(RAISED, Met("swallowed", site, site, self.unit_of(target), self.doubt > 0, call))
        if suppressing is not None:
            self.note("suppressing", suppressing, site, target, call)
        self._guarded(target, call, [*arguments, *keywords.values()], site)
        return Tensor()

    def _guarded(self, target: object, call: CompileCall, given: list[object], site: Site) -> None:
        """Look a call up in the cache of what it calls."""
        static = call.keyword("dynamic") is False or self.settings.get(AUTOMATIC, (None, None))[0] is False
        tensors = [one for one in given if isinstance(one, Tensor)]
        cache = self.caches.setdefault(self.code_of(target, call), Cache())
        first = not cache.entries
        why = cache.call(tensors, self.modes(), static=static, dynamic=call.keyword("dynamic") is True)
        if first and self.resets:
            self.note("reset", self.resets[-1], site, target, call)
        self.resets.clear()
        changed = self.settings.get(why, (None, None))[1] if why is not None else None
        self.note(why or "compiled", changed or site, site, target, call, static and why == SIZES)

    # --- what is compiled -------------------------------------------------------------------------------

    def is_module(self, value: Object) -> bool:
        """Whether an object is a module of torch, or of the project."""
        return (
            value.kind.startswith(MODULES)
            if isinstance(value.kind, str)
            else self.project.is_module(value.kind)
        )

    def is_builtin(self, value: Object) -> bool:
        """Whether a module has no code but that of torch, in itself and in all that it holds."""
        return all(one.complete and self._has_no_code(one) for one in value.tree())

    def _has_no_code(self, value: Object) -> bool:
        if isinstance(value.kind, str):
            return value.kind.startswith(MODULES)
        bases = self.project.external_bases(value.kind)
        inherits = any(base.startswith(MODULES) and not base.endswith(".Module") for base in bases)
        return (
            inherits
            and self.project.method(value.kind, "forward") is None
            and "forward" not in value.attributes
        )

    def is_kept_out(self, target: object) -> bool:
        """Whether a decorator keeps Dynamo from all of a module."""
        if isinstance(target, Object) and isinstance(target.kind, ClassRef):
            forward = self.project.method(target.kind, "forward")
            return any(part in self.disabled for part in self.project.mro(target.kind)) or (
                forward in self.disabled and "forward" not in target.attributes
            )
        return isinstance(target, Closure) and target.disabled

    def unit_of(self, target: object) -> str:
        """Identity of the function that is compiled, or of the class of a library."""
        match target:
            case Object(ClassRef() as ref):
                forward = self.project.method(ref, "forward")
                return forward.id if forward is not None else ref.id
            case Object(str() as dotted):
                return dotted
            case Closure(where):
                return where.id
        return ""

    def code_of(self, target: object, call: CompileCall) -> str:
        """Identity of the code whose cache a call uses."""
        if isinstance(target, Object) and isinstance(target.kind, ClassRef):
            forward = self.project.method(target.kind, "forward")
            return forward.id if forward is not None else f"{id(target)}"
        if isinstance(target, Closure):
            return f"{target.where.id}{id(target.body) if target.body is not None else ''}"
        return f"{id(target)}"

    def copied(self, value: object, site: Site, known: dict[int, object]) -> object:
        """A copy: what is compiled in place is no longer, in the copy."""
        if id(value) in known:
            return known[id(value)]
        match value:
            case Wrapper(target, call):
                return Wrapper(self.copied(target, site, known), call)
            case Object():
                made = Object(value.kind, compiled=None, complete=value.complete)
                known[id(value)] = made
                made.lost = site if value.compiled is not None else None
                made.attributes |= {
                    name: self.copied(one, site, known) for name, one in value.attributes.items()
                }
                made.items += [self.copied(one, site, known) for one in value.items]
                return made
            case list():
                return [self.copied(one, site, known) for one in value]
        return value
