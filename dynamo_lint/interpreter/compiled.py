"""Calls of what is compiled: whether Dynamo runs a graph for them, and whether it compiles again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace

from dynamo_lint.interpreter.expressions import Expressions
from dynamo_lint.interpreter.filters import FILTERS, OPTION, entries, of_modes, of_tensor
from dynamo_lint.interpreter.guards import (
    LENGTH,
    MODES,
    SIZES,
    Cache,
    CacheEntry,
    Guard,
    Recompile,
    Resolve,
    Stale,
    Trace,
)
from dynamo_lint.interpreter.model import (
    UNKNOWN,
    Closure,
    CompileCall,
    Decorated,
    External,
    Failed,
    Met,
    Method,
    Object,
    Partial,
    Site,
    Source,
    Sourced,
    Tensor,
    Wrapper,
    guarded_part,
    is_stand_in,
)
from dynamo_lint.interpreter.settled import Settled, anew, compiled_key, is_of_sizes, is_settled, numbers
from dynamo_lint.interpreter.stage import AUTOMATIC, SKIPS, SUPPRESS
from dynamo_lint.interpreter.tracing import home_of
from dynamo_lint.models.drivers import CONFIGURATION, MODULES
from dynamo_lint.program.refs import ClassRef, FunctionRef

HOOKS = "hooks"
NESTED = f"{CONFIGURATION}.nested_graph_breaks"
"""With this setting a graph goes on behind a break in a function that it calls."""
RAISED = frozenset(
    {"Unsupported", "TorchRuntimeError", "TorchDynamoException", "RuntimeError", "Exception", "BaseException"}
)
"""What a compiled call that cannot be compiled raises, and what it inherits from (torch/_dynamo/exc.py)."""


UNGUARDED = "unguarded "
"""Before what differs in a call though no guard is left to notice it: sizes, or a mode."""
OF_TENSORS = ("sizes", "dtype", "gradient")
"""Guards on what Dynamo knows of a tensor, the most telling first."""


def _is_chosen(target: object) -> bool:
    """Whether a test that is not known has decided on an object, or on that of a method."""
    owner = target.receiver if isinstance(target, Closure) else target
    return isinstance(owner, Object) and owner.chosen


class CompiledCalls(Expressions):
    """A stage that knows what becomes of compiled calls."""

    __slots__ = ()

    @abstractmethod
    def run_eagerly(
        self, target: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run what a module or function does, uncompiled."""

    def note(
        self,
        what: str,
        site: Site,
        called: Site,
        target: object,
        call: CompileCall | None,
        static: bool = False,
        states: tuple[tuple[object, Site], ...] = (),
    ) -> Met:
        """Write down what happens to a call."""
        unit = self.unit_of(target)
        guarded = site in self.guarded
        doubt = self.doubt > 0 or _is_chosen(target)
        met = Met(what, site, called, unit, doubt, call, static, guarded=guarded, states=states)
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
        if self.trace is not None:
            return self.run_eagerly(target, arguments, keywords, site)
        off = call.site if call.keyword("disable") is True else self.off()
        if off is not None:
            self.note("off", off, site, target, call)
            if off not in self.guarded:
                return Tensor()
        if self.is_kept_out(target):
            self.note("disabled", call.site, site, target, call)
            return Tensor()
        if in_place and isinstance(target, Object) and self.is_builtin(target):
            self.note("builtin", call.site, site, target, call)
            return Tensor()
        if in_place and isinstance(target, Object) and isinstance(target.kind, str) and target.items:
            return self._skipped(target, call, arguments, keywords, site)
        place = call.site.place
        suppressing = self.settings.get(SUPPRESS, (None, None))[1] if self.on(SUPPRESS) else None
        if place in self.failing.fakes and suppressing is not None:
            self.note("suppressed", suppressing, site, target, call)
            return Tensor()
        failed = Met("swallowed", site, site, self.unit_of(target), self.doubt > 0, call)
        if place in self.failing.fakes or place in self.raising:
            raise Failed(RAISED, failed)
        if suppressing is not None:
            self.note("suppressing", suppressing, site, target, call)
        met = len(self.met)
        result = self.call_compiled(target, call, arguments, keywords, site)
        if place in self.raising:
            del self.met[met:]
            raise Failed(RAISED, failed)
        return result

    def _skipped(
        self,
        container: Object,
        call: CompileCall,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
    ) -> object:
        """Call a container of torch that is compiled in place: Dynamo skips its own frame alone."""
        result = arguments[0] if arguments else None
        for part in container.items:
            if isinstance(part, Object) and not self.is_builtin(part):
                result = self.run_compiled(
                    part, call, [result, *arguments[1:]], keywords, site, in_place=True
                )
            else:
                result = self.invoke(part, [result, *arguments[1:]], keywords, site)
        return result

    def call_compiled(
        self,
        target: object,
        call: CompileCall,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
    ) -> object:
        """Look a call up in the cache of what it calls, compile it if nothing fits, and run it."""
        function, names = self.arguments_of(target, arguments, keywords)
        before = self.trace, self.current, self.under
        if self.under is None:
            self.given[self.unit_of(target)] = arguments, keywords
        self.trace, self.under = None, None
        trace: Trace | None = None
        code = self.code_of(target, call)
        cache = self.cache_of(target, call)
        where = function.where if isinstance(function, Closure) else code
        if self.splits.lost.get(where) == 0 or (where in self.splits.lost and cache.left):
            self.note("compiled", site, site, target, call)
            self.under = call
        else:
            cache.instances.add(id(target))
            tensors = [one for one in (*arguments, *keywords.values()) if isinstance(one, Tensor)]
            trace = Trace(cache, function, names, site, call, target, code, tensors)
            trace.apart = before[2] is not None
            if not self._begin(trace):
                self.trace, self.current, self.under = before
                return Tensor()  # torch raises
            owner = names.get("self")
            if trace.compiles and self.splits.loses(where, len(cache.entries)):
                self.trace, self.under, cache.left, trace = None, call, True, None
            elif isinstance(owner, Object):
                trace.sources[id(owner)] = (owner, Source("argument", "self", static=self.is_module(owner)))
        key, given = compiled_key(trace, target, arguments, keywords), numbers(arguments, keywords)
        settled = self.settled.get(key or ())
        if settled is not None and settled.serves(self.changes, given):
            self.trace, self.current, self.under = before
            self.met += settled.met
            return anew(settled.result)
        unchanged, met = (self.draws, self.changes), len(self.met)
        self._yields(function)
        try:
            result = self.run_eagerly(target, arguments, keywords, site)
            for part in result if isinstance(result, tuple | list) else (result,):
                if isinstance(part, Sourced) and isinstance(part.value, str | bool | None):
                    self.use(part)  # what is returned is part of what is compiled
        finally:
            last, self.trace = self.trace, None
            if last is not None:
                self._end(last)
            self.trace, self.current, self.under = before
        result = result.value if isinstance(result, Sourced) else result
        if key is not None and unchanged == (self.draws, self.changes) and is_settled(result):
            passed = [*arguments, *keywords.values()]
            needed = None if is_of_sizes(result, passed) else given
            self.settled[key] = Settled(
                self.changes, needed, result, tuple(self.met[met:]), (target, *passed)
            )
        return result

    def _yields(self, function: object) -> None:
        """Notice that what is compiled is a generator, of which Dynamo compiles nothing."""
        written = isinstance(function, Closure) and function.body is None
        if written and isinstance(function, Closure) and self.bodies.is_generator(function.where):
            self.breaking("generator", self.here(function.where))

    def _begin(self, trace: Trace) -> bool:
        """Look for what serves a call, and trace it; false if nothing does and a stance forbids to compile.

        Notes why the call compiles, if it does.
        """
        call, cache, site, target = trace.compile, trace.cache, trace.called, trace.target
        trace.static = call.keyword("dynamic") is False or self.settings.get(AUTOMATIC, (None,))[0] is False
        trace.dynamic = call.keyword("dynamic") is True
        trace.modes = self.modes()
        modes, tensors, resolve = trace.modes, trace.tensors, self.resolver(trace.entry, trace.names)
        self.steps += sum(len(entry.guards) for entry in cache.entries) // 8  # each of them may be checked
        skips = self.on(SKIPS)
        entry = cache.fitting(tensors, modes, resolve, skips=skips)
        if skips and entry is None:
            return False
        unchecked = cache.skipped(entry, resolve, skips=skips) if entry is not None else []
        self.skipped += [self._recompile(one, trace) for one in unchecked]
        if entry is not None and trace.resumed is None:
            for what in entry.unseen(tensors, modes):
                self.note(UNGUARDED + what, site, site, target, call)
        if trace.resumed is None:
            if not cache.entries and trace.code in self.begun and not trace.apart:
                self.note("reset", self.resets[-1] if self.resets else call.site, site, target, call)
            self.begun[trace.code] = target
            self.resets.clear()
        failures = cache.failures(tensors, modes, resolve) if entry is None else []
        failing = self._failing(failures, trace)
        self.recompiles += [self._recompile(guard, trace) for guard in failing if not self.is_counted(guard)]
        trace.serves, trace.compiles, trace.unchecked = entry, entry is None, bool(unchecked)
        earlier = [n for n, other in enumerate(cache.entries) if other is entry]
        number = earlier[0] if earlier else len(cache.entries)
        trace.version = (cache.key, number)
        self.trace = trace
        return True

    def _end(self, trace: Trace, *, broken: bool = False) -> None:
        """Keep what was compiled, or notice what is no longer as it was then.

        What ends in a graph break is kept even if it computes nothing: Dynamo looks at that where it returns.
        """
        self.reached |= trace.sources.keys()
        if trace.pending:
            if not trace.frames:
                return  # the break was in the last statement: nothing is behind it
            self.go_on(trace)
            self.trace = None
        if trace.serves is not None:
            if not trace.unchecked:
                self._compare(trace.serves, trace)
            return
        self.affect()
        if not (trace.computes or broken) and (trace.resumed is not None or trace.apart):
            trace.cache.left = True
            return
        resolve = self.resolver(trace.entry, trace.names)
        guards, unguarded = self._filtered(trace, trace.compile, resolve)
        trace.cache.keys |= {one.source: self.keys_of(one.source, trace.entry, resolve) for one in guards}
        trace.cache.add(
            trace.tensors,
            trace.modes,
            trace.called,
            guards,
            trace.burned,
            unguarded,
            static=trace.static,
            dynamic=trace.dynamic,
        )

    # --- graph breaks -----------------------------------------------------------------------------------

    def split(self) -> None:
        """End the graph at the current line: what is behind it is compiled apart, where that is known."""
        trace = self.trace
        if trace is None or trace.ended or self.doubt or self.recording or self.on(NESTED):
            return
        if trace.compile.keyword("fullgraph") is True:
            return
        if self.can_resume(trace):
            self.leave_frame(trace)
            self.resume_frame(trace)
            return
        self.splits.learn(trace.version, trace.frames)
        self.affect()
        entry = trace.entry
        if not isinstance(entry, Closure):
            self.splits.lost.setdefault(trace.code, trace.version[1])
        trace.ended, trace.compiles = True, False

    def can_resume(self, trace: Trace) -> bool:
        """Whether the current line is one behind which a compiled frame can be resumed."""
        if trace.ended or trace.compile.keyword("fullgraph") is True or len(trace.frames) != 1:
            return False
        (frame,) = trace.frames
        return not frame.held and frame.where == self.current.where and isinstance(trace.entry, Closure)

    def leave_frame(self, trace: Trace) -> None:
        """End the trace of a frame: what it hands to the rest of it is guarded."""
        frame, end = trace.frames[0], self.current.node.end_lineno or self.current.node.lineno
        for name, lines in self.bodies.mentions(frame.where).read.items():
            held = frame.names.get(name)
            if isinstance(held, Sourced) and name not in frame.carried and max(lines) > end:
                self.use(held, symbolic=True)
            elif isinstance(held, list | dict) and max(lines) > end:
                self.handed(held)
        self.trace = None
        self._end(trace, broken=True)

    def resume_frame(self, trace: Trace) -> None:
        """Trace the rest of a frame behind the current line as a function of its own."""
        line, before = self.current.node.lineno, trace.resumed
        place = (line, before[1] + 1 if before is not None and before[0] == line else 0)
        self.trace = Trace(
            self.cache_of(trace.target, trace.compile, place),
            trace.entry,
            {},
            trace.called,
            trace.compile,
            trace.target,
            trace.code,
            resumed=place,
            apart=trace.apart,
            operations=trace.operations,
            settled=trace.settled,
            frames=[*trace.frames],
            entered=True,
            pending=True,
        )

    def go_on(self, trace: Trace) -> None:
        """Look for what serves the rest of a frame, once the statement at which its graph broke is done."""
        trace.pending = False
        if trace.cache.left:
            self.trace, self.under = None, trace.compile
            return
        frame = trace.frames[0]
        trace.names = {name: self.use_raw(value) for name, value in frame.names.items()}
        frame.names |= trace.names
        frame.carried = {*trace.names}
        if not self._begin(trace):
            self.trace = None

    def _failing(self, failures: list[str | Guard], trace: Trace) -> list[Guard]:
        """Note why a call compiles, or that it does not; the guards that each ask for a compile."""
        why = next((failure for failure in failures if isinstance(failure, str)), None)
        changed = self.settings.get(why, (None, None))[1] if why is not None else None
        modes, site = trace.modes, trace.called
        states: tuple[tuple[object, Site], ...] = ()
        if why is not None and why in modes:
            states = tuple(({modes[why]: site} | trace.cache.states(why)).items())
        if trace.resumed is None:
            static = trace.static and why == SIZES
            self.note(why or "compiled", changed or site, site, trace.target, trace.compile, static, states)
        guards = [failure for failure in failures if isinstance(failure, Guard)]
        telling = _telling(guards)
        # Tensors that change together, each in several respects, ask for one compile.
        of_tensors = sorted(guards, key=lambda guard: OF_TENSORS.index(guard.what))[:1] if not telling else []
        return telling or (of_tensors if why is None else [])

    def _compare(self, entry: CacheEntry, trace: Trace) -> None:
        """Notice what is no longer as it was when the code was compiled that serves a call."""
        for fact, (what, found, use, owner) in trace.burned.items():
            if fact in entry.burned and entry.burned[fact][1] != found:
                hooks = owner.hooks if isinstance(owner, Object) and fact[1] == HOOKS else []
                hook = hooks[-1] if hooks else None
                doubt = self.doubt > 0 or (hook is not None and hook.doubt)
                unit = self.unit_of(trace.target)
                self.stale.append(Stale(what, use, trace.called, unit, doubt, trace.compile, hook))

    def _filtered(
        self, trace: Trace, call: CompileCall, resolve: Resolve
    ) -> tuple[tuple[Guard, ...], frozenset[str]]:
        """The guards as the filter of a compile leaves them, and what nothing guards of modes and sizes."""
        options = call.keyword("options")
        chosen = options.get(OPTION) if isinstance(options, dict) else None
        if chosen is None:
            return tuple(trace.guards.values()), frozenset()

        def drops(asked: Iterable[Object]) -> bool | None:
            """Whether it drops all guards that would notice a change; None if that is not known."""
            kept = [self.keeps(chosen, one, trace.cache, call.site) for one in asked]
            return None if None in kept and True not in kept else True not in kept

        guards = tuple(
            replace(one, dropped=drops(entries(one, resolve, self.is_module)))
            for one in trace.guards.values()
        )
        tensors = [name for name, one in trace.names.items() if isinstance(one, Tensor)]
        groups = {MODES: [of_modes()], SIZES: [*map(of_tensor, tensors)]}
        return guards, frozenset(what for what, group in groups.items() if drops(group))

    def keeps(self, chosen: object, asked: Object, cache: Cache, site: Site) -> bool | None:
        """Whether a filter keeps one guard; None if that is not known, which says nothing of the others."""
        known = FILTERS.get(chosen.dotted.rpartition(".")[2]) if isinstance(chosen, External) else None
        if known is not None:
            return known.keeps(asked)
        key = id(chosen), *(guarded_part(one) for one in asked.attributes.values())
        if key not in cache.kept:
            found = self.invoke(chosen, [[asked]], {}, site)
            cache.kept[key] = self.truth(found[0]) if isinstance(found, list) and len(found) == 1 else None
        return cache.kept[key]

    def _recompile(self, guard: Guard, trace: Trace) -> Recompile:
        """Describe the state behind a guard that does not hold."""
        function, resolve = trace.entry, self.resolver(trace.entry, trace.names)
        holder, key = self._holder(guard, resolve)
        since = [
            write
            for place in self._places(guard, resolve, trace.target)
            for write in self.writes.get(place, ())
            if write.time >= guard.time
        ]
        root = resolve(Source(guard.source.root, guard.source.name))
        other = isinstance(root, Object) and root is not guard.root and self.is_module(root)
        return Recompile(
            guard,
            self.unit_of(trace.target),
            trace.called,
            tuple(since),
            self.writes.setdefault((id(holder), key), []),
            isinstance(function, Closure) and function is not guard.entry,
            other and not since,
            guard.doubt
            or self.doubt > 0
            or _is_chosen(trace.target)
            or _is_chosen(holder)
            or any(write.doubt for write in since)
            or (guard.dropped is not False and not self._decides(guard, resolve(guard.source)))
            or (guard.source.root == "local" and is_stand_in(resolve(guard.source)))
            or resolve(guard.source) is UNKNOWN,
            resolve(guard.source),
            holder,
            key,
            trace.cache,
            trace.compile,
            self.keys_of(guard.source, function, resolve),
            len(self.met),
            trace.resumed[0] if trace.resumed is not None else None,
            trace.apart,
        )

    def _decides(self, guard: Guard, value: object) -> bool:
        """Whether what was compiled for one value of a guard that is dropped is wrong for another."""
        if guard.dropped is None or guard.what not in {"value", "length", "keys", "presence", "test"}:
            return False  # an operation may be right for another dtype, too
        if guard.what == "value" and isinstance(value, Object):
            return self.is_module(value)  # what an object of another class holds has guards of its own
        return True

    def _holder(self, guard: Guard, resolve: Callable[[Source], object]) -> tuple[object, object]:
        """The holder of a guarded value, and its name in there: the elements of a tuple are part of it."""
        source = guard.source
        if guard.what in {"length", "keys"}:
            return resolve(source), LENGTH
        while source.steps:
            *above, (_, key) = source.steps
            source = Source(source.root, source.name, tuple(above))
            holder = resolve(source)
            if not isinstance(holder, tuple):
                return holder, key
        return None, source.name

    def _places(
        self, guard: Guard, resolve: Callable[[Source], object], target: object
    ) -> list[tuple[int, object]]:
        """Where an assignment would have changed the value, the nearest first."""
        source = guard.source
        found: list[tuple[int, object]] = []
        if guard.what in {"length", "keys"}:
            found.append((id(resolve(source)), LENGTH))
        if guard.what in {"gradient", "dtype"}:
            found.append((id(resolve(source)), "requires_grad" if guard.what == "gradient" else guard.what))
        while source.steps:
            *above, (step, key) = source.steps
            source = Source(source.root, source.name, tuple(above))
            holder = resolve(source)
            found += self.places(holder, key)
            if step == "item" and isinstance(holder, list):
                found.append((id(holder), LENGTH))  # which moves the items
        if source.root == "global":
            path, _, name = source.name.rpartition("::")
            found.append((id(self.file(path)), name))
        if source.root == "closure" and (home := home_of(target, source.name)):
            found.append((id(home), source.name))
        return found

    @abstractmethod
    def arguments_of(
        self, target: object, arguments: list[object], keywords: dict[str, object]
    ) -> tuple[object, dict[str, object]]:
        """The function that a compiled call runs, and its arguments by name; the module itself is `self`."""

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
            forward = self.forward_in(target)
            return any(part in self.disabled for part in self.project.mro(target.kind)) or (
                forward in self.disabled and "forward" not in target.attributes
            )
        return isinstance(target, Closure) and target.disabled

    def forward_in(self, target: Object) -> FunctionRef | None:
        """The `forward` that the class of an object of the project has."""
        return self.project.method(target.kind, "forward") if isinstance(target.kind, ClassRef) else None

    def unit_of(self, target: object) -> str:
        """Identity of the function that is compiled, or of the class of a library."""
        match target:
            case Object(ClassRef() as ref):
                forward = self.forward_in(target)
                return forward.id if forward is not None else ref.id
            case Object(str() as dotted):
                return dotted
            case Closure(where):
                return where.id
            case Method(Object(str() as dotted), name):
                return f"{dotted}.{name}"
            case Decorated(_, function) | Partial(function):
                return self.unit_of(function)
        return ""

    def cache_of(self, target: object, call: CompileCall, resumed: tuple[int, int] | None = None) -> Cache:
        """The compiled versions that a call may use: those of its backend, or its own alone.

        With `resumed`, those of the part of it that goes on behind a graph break.
        """
        backend = call.keyword("backend")
        alone = call.keyword("isolate_recompiles") is True
        own = id(call) if alone else id(backend) if not isinstance(backend, str | None) else ""
        key = f"{self.code_of(target, call)} {own} {resumed or ''}"
        return self.caches.setdefault(key, Cache(unit=self.unit_of(target), key=key))

    def code_of(self, target: object, call: CompileCall) -> str:
        """Identity of the code that a call runs; of the object, if that is compiled alone."""
        if call.keyword("isolate_recompiles") is True:
            return f"{id(target)}"
        if isinstance(target, Object) and isinstance(target.kind, ClassRef):
            forward = self.project.method(target.kind, "forward")
            return forward.id if forward is not None else f"{id(target)}"
        while isinstance(target, Decorated):
            target = target.function
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
                self.made.update(self.project.mro(value.kind) if isinstance(value.kind, ClassRef) else ())
                made.lost = site if value.compiled is not None else None
                made.buffers |= value.buffers
                made.attributes |= {
                    name: self.copied(one, site, known) for name, one in value.attributes.items()
                }
                made.items += [self.copied(one, site, known) for one in value.items]
                return made
            case list():
                copies: list[object] = []
                known[id(value)] = copies
                copies += [self.copied(part, site, known) for part in value]
                return copies
            case dict():
                pairs: dict[object, object] = {}
                known[id(value)] = pairs
                pairs |= {key: self.copied(part, site, known) for key, part in value.items()}
                return pairs
            case Tensor():
                return known.setdefault(id(value), replace(value, marked=set(value.marked)))
        return value


def _telling(failed: list[Guard]) -> list[Guard]:
    """The guards whose failure is no mere consequence of that of another one."""
    changed_in = {one.source.way for one in failed if one.what in {"length", "keys"}}
    return [one for one in failed if one.what not in OF_TENSORS and changed_in.isdisjoint(one.source.above())]
