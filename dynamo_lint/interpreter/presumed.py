"""Objects and arguments that no program shows: made of what constructors and annotations say."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace

from dynamo_lint.index import ir
from dynamo_lint.interpreter.calls import Calls
from dynamo_lint.interpreter.guards import GraphBreak
from dynamo_lint.interpreter.model import (
    UNKNOWN,
    ClassObject,
    Closure,
    CompileCall,
    Exhausted,
    Failed,
    Frame,
    Object,
    Site,
    Tensor,
    Wrapper,
)
from dynamo_lint.interpreter.stage import Compiled
from dynamo_lint.models.tensor_results import is_tensor_annotation, tensor_parameters
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.model import Context, Instance

_DEEPEST = 3
"""Objects that are made to make others."""
_LONG = 20_000
"""Steps of calls after which those are not repeated that show nothing new."""
_ENOUGH = 2
"""Calls in a row that show nothing new."""


class Presumed(Calls):
    """A stage that makes up what it is not shown."""

    __slots__ = ()

    def call(self, node: ast.Call, frame: Frame) -> object:
        """Return the value of a call; before `module.compile()` of what is not known, it is presumed."""
        site = Site(frame.where, node)
        if site.place in self.targets:
            match node.func:
                case ast.Attribute(value=ast.Name(id=name) as held, attr="compile"):
                    if self.value(held, frame) is UNKNOWN:
                        frame.names[name] = self.target_of(site)
                case ast.Attribute(value=ast.Attribute(value=owner, attr=name) as held, attr="compile"):
                    if self.value(held, frame) is UNKNOWN:
                        self.store(self.value(owner, frame), name, self.target_of(site), site)
        return super().call(node, frame)

    def call_presumed(
        self, target: Wrapper, where: FunctionRef, receiver: ClassRef | None, times: int, *, part: bool
    ) -> None:
        """Call what is compiled some times: as it was called last, or with new tensors each time.

        A part of compiled code is called only if Dynamo may compile it by itself. What takes long is called
        until two calls in a row have run what was compiled before.
        """
        site, last = target.call.site, self.given.get(self.unit_of(target.target))
        arguments, made = last or ([], self.presumed_arguments(where, receiver, site))
        function = target.target
        if (
            part
            and isinstance(function, Closure)
            and not self.is_frame(function, target.call, arguments, made)
        ):
            return
        self.wrapped.append(target)
        fresh, alike = last is None, 0
        for _ in range(times):
            keywords = {
                name: Tensor() if fresh and isinstance(one, Tensor) else one for name, one in made.items()
            }
            before = len(self.recompiles)
            self.invoke(target, arguments, keywords, site)
            alike = alike + 1 if len(self.recompiles) == before else 0
            if alike >= _ENOUGH and self.steps > _LONG:
                return

    def sweep(self) -> list[GraphBreak]:
        """The breaks in branches that no call has taken, all in doubt: what is compiled is called again."""
        before = {*self.breaks}
        self.presuming = self.sweeping = True
        for made in {self.unit_of(one.target): one for one in self.wrapped}.values():
            given = self.given.get(self.unit_of(made.target))
            if given is not None:
                self.steps, self.depth = 0, 0
                self.settled.clear()
                with suppress(Exhausted, Failed, RecursionError):
                    self.invoke(made, given[0], given[1], made.call.site)
                self.trace = self.under = None
        return [replace(one, doubt=True) for key, one in self.breaks.items() if key not in before]

    def compiled_at(self, where: FunctionRef, receiver: ClassRef | None, site: Site) -> Wrapper | None:
        """Return a compiled function with an object as its own constructor makes it; None if none can be."""
        target = self.presumed(where, receiver, site)
        if target is UNKNOWN:
            return None
        return target if isinstance(target, Wrapper) else Wrapper(target, CompileCall(site))

    def target_of(self, site: Site) -> object:
        """Return what a compile site compiles that no run has made, if it can only be one thing."""
        target = self.targets.get(site.place)
        if target is None or self.trace is not None:
            return UNKNOWN
        return self._invented(self.presumed(*target, site))

    def _invented(self, made: object) -> object:
        """The same value, noted as one that no run has made: what it shows refutes nothing."""
        if made is not UNKNOWN:
            self.weaken()
            self.invented = True
        return made

    def callee_of(self, site: Site) -> object:
        """Return what a call in compiled code runs that no run has made, if it can only be one thing."""
        called = site.node.func if isinstance(site.node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        place = (*site.place, name)
        target = self.callees.get(place)
        if target is None:
            return UNKNOWN
        if place not in self.made_up:
            self.made_up[place] = UNKNOWN  # it may lead here itself
            self.made_up[place] = self._uncompiled(target, site)
        return self._invented(self.made_up[place])

    def presumed(self, where: FunctionRef, receiver: ClassRef | None, site: Site) -> object:
        """A compiled function, or the module of a compiled method; UNKNOWN for one of a function's own."""
        if "<locals>" in where.key:
            return UNKNOWN
        if receiver is None:
            return self.of_symbol(where)
        made = self.object_of(receiver, site)
        if not isinstance(made, Object):
            return made
        runs = self.forward_of(made)
        called = isinstance(runs, Closure) and runs.where == where
        if called and self.project.is_module(receiver):
            return made
        return Closure(where, self.file(where.path), made)

    def _uncompiled(self, target: Compiled, site: Site) -> object:
        """A presumed function or object, made outside of the compiled code that calls it."""
        around, (self.trace, self.under) = (self.trace, self.under), (None, None)
        try:
            return self.presumed(*target, site)
        finally:
            self.trace, self.under = around

    def object_of(self, ref: ClassRef, site: Site, depth: int = 0) -> object:
        """An object of a class, as its own constructor makes it; UNKNOWN if that does not end."""
        init = self.project.method(ref, "__init__")
        given = self.presumed_arguments(init, ref, site, depth) if init is not None else {}
        try:
            return self.invoke(ClassObject(ref), [], given, site)
        except Failed:
            return UNKNOWN

    def presumed_arguments(
        self, where: FunctionRef, receiver: ClassRef | None, site: Site, depth: int = 0
    ) -> dict[str, object]:
        """The arguments of a function that it must be given, by name."""
        function = self.project.function(where)
        tensors = tensor_parameters(self.project, where, receiver)
        named = [one for one in function.parameters if one.kind in {"positional", "keyword"}]
        given: dict[str, object] = {}
        for one in named[1:] if receiver is not None else named:
            if one.default is not None:
                continue
            if one.name in tensors or is_tensor_annotation(one.annotation):
                given[one.name] = Tensor()
            else:
                given[one.name] = self._annotated(one.annotation, where, site, depth)
                self.weaken()
        return given

    def _annotated(self, annotation: ir.Expr | None, where: FunctionRef, site: Site, depth: int) -> object:
        """A value of an annotated type, if that is one class of the project."""
        if annotation is None or depth >= _DEEPEST:
            return UNKNOWN
        values = typed(self.project, annotation, Context(where))
        classes = [value.ref for value in values if isinstance(value, Instance)]
        if len(classes) != 1 or len(values) != 1:
            return UNKNOWN
        self.supposed = True
        return self.object_of(classes[0], site, depth + 1)
