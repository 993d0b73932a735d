"""A compiled call as Dynamo traces it: guards at the uses of values, and writes that last."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import cast

from dynamo_lint.index.ir import MODULE_KEY, Call, Constant
from dynamo_lint.interpreter.breaking import Breaking
from dynamo_lint.interpreter.guards import (
    LENGTH,
    Guard,
    Write,
    dtype_of,
    gradient_of,
    keys_of,
    length_of,
    presence_of,
    size_of,
    sizes_of,
    type_of,
    value_of,
)
from dynamo_lint.interpreter.model import (
    MISSING,
    PLAIN,
    UNKNOWN,
    ClassObject,
    Closure,
    Elements,
    External,
    FileValue,
    Frame,
    Member,
    Method,
    Object,
    Partial,
    Site,
    Source,
    Sourced,
    Static,
    Tensor,
    Wrapper,
    is_key,
    is_known,
    is_small,
)
from dynamo_lint.interpreter.stage import UNSPEC_INT
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.state.model import Key

MEASURES: Mapping[str, Callable[[object], object]] = {
    "value": value_of,
    "type": type_of,
    "length": length_of,
    "keys": keys_of,
    "presence": presence_of,
    "gradient": gradient_of,
    "dtype": dtype_of,
    "size": size_of,
}
GIVEN = frozenset({"argument", "local"})
"""The roots of what a compiled function, or the rest of one, is called with."""
HIDDEN = "globals()"
"""Before a name that compiled code has changed in the dict of a file, which Dynamo does not see."""
_DEEPEST = 6
_PARTED = (Sourced, tuple, list, slice)
_HELD = frozenset({"attribute", "own", "item"})
"""Steps to what an object holds."""


class Tracing(Breaking):
    """A stage on which compiled code reads values that live longer than a call."""

    __slots__ = ()

    # --- reading ----------------------------------------------------------------------------------------

    def read(self, owner: object, step: str, key: object, value: object) -> object:
        """A value that is read from an object or a container, with its source while code is compiled."""
        trace, above = self.trace, self.source_of(owner)
        if trace is None or above is None:
            return value
        for place in self.places(owner, key):
            if place in trace.written:
                return trace.written[place]
        if (id(owner), LENGTH) in trace.written and step == "item":
            return value
        return self.sourced(value, above.then(step, key, self.is_static(owner)))

    def sourced(self, value: object, source: Source) -> object:
        """A value with its source: constants are guarded at their use, all else by its type."""
        trace = self.trace
        if trace is None or value is UNKNOWN:
            return value
        if isinstance(value, (*PLAIN, Member, External)):
            return Sourced(value, source)
        if isinstance(value, tuple) and len(source.steps) < _DEEPEST and is_small(value):
            parts = tuple(self.sourced(one, source.then("item", n)) for n, one in enumerate(value))
            trace.sources[id(parts)] = (parts, source)
            return parts
        if isinstance(value, Object | Closure | Partial | list | dict | Tensor | ClassObject | Wrapper):
            first = trace.sources.setdefault(id(value), (value, source))[1]
            if first != source:
                self.guard(source, "alias", first, measure=lambda _: first)
            if isinstance(value, Tensor):
                self._of_tensor_itself(source, value)
            elif not isinstance(value, ClassObject):
                self.guard(source, "value", value)
            if isinstance(value, Object) and self._is_read_whole(value):
                for name, one in value.attributes.items():
                    self.use(self.sourced(one, source.then("attribute", name)), symbolic=True)
            if isinstance(value, Closure) and isinstance(value.receiver, Object):
                trace.sources.setdefault(
                    id(value.receiver), (value.receiver, source.then("receiver", "", static=True))
                )
        return value

    def _is_read_whole(self, value: Object) -> bool:
        """Whether this torch guards on all fields of an object that it meets: one of a frozen data class."""
        if not isinstance(value.kind, ClassRef):
            return False
        decorators = self.project.class_(value.kind).decorators
        is_frozen = any(
            isinstance(one, Call) and ("frozen", Constant(True)) in one.keywords for one in decorators
        )
        return is_frozen and not self.has("frozen-fields-are-unguarded")

    def _of_tensor_itself(self, source: Source, tensor: Tensor) -> None:
        """Guard on what Dynamo knows of a tensor; the cache itself holds the sizes of the arguments."""
        trace = self.trace
        self.guard(source, "gradient", tensor)
        self.guard(source, "dtype", tensor)
        if trace is not None and trace.compiles and (source.steps or source.root != "argument"):
            free = trace.cache.turned(source, tensor, static=trace.static, dynamic=trace.dynamic)
            self.guard(source, "sizes", tensor, measure=lambda other: sizes_of(other, free))

    def is_static(self, owner: object) -> bool:
        """Whether Dynamo takes the integers of an object for constants: those of modules and classes."""
        return isinstance(owner, ClassObject) or (isinstance(owner, Object) and self.is_module(owner))

    # --- guarding ---------------------------------------------------------------------------------------

    def guard(
        self,
        source: Source,
        what: str,
        value: object,
        key: object = None,
        measure: Callable[[object], object] | None = None,
    ) -> None:
        """Guard on what a source leads to."""
        trace = self.trace
        if trace is None or not trace.compiles:
            return
        before = trace.guards.get((source, key or what))
        if before is not None:
            if before.doubt and not self.doubt:
                trace.guards[source, key or what] = replace(before, doubt=False)
            return
        measure = measure or MEASURES[what]
        handed = source.root == "local" and not source.steps
        site = trace.reads.get(source.name, self.current) if handed else self.current
        trace.guards[source, key or what] = Guard(
            source,
            what,
            measure(value),
            measure,
            site,
            self.doubt > 0,
            trace.names.get(source.name) if source.root in GIVEN else None,
            len(self.met),
            trace.entry,
        )

    def length(self, container: object) -> None:
        """Guard on the length of a list, or on the keys of a dict."""
        trace, source = self.trace, self.source_of(container)
        if trace is None or source is None or (id(container), LENGTH) in trace.written:
            return
        if isinstance(container, Object) and container.attributes and not container.items:
            return
        self.guard(source, "keys" if isinstance(container, dict) else "length", container)

    def free(self, name: str, value: object, around: Frame, frame: Frame) -> object:
        """The value of a name outside of the compiled code that reads it, with its source."""
        written = self.trace.written if self.trace is not None else {}
        assigned = written.get((id(around), name))
        if isinstance(assigned, Sourced) and assigned.operations:
            return assigned
        if around.where.key == MODULE_KEY:
            value = written.get((id(around), (HIDDEN, name)), value)
            return self.sourced(value, Source("global", f"{around.where.path}::{name}", static=True))
        above = self.source_of(around)
        if above is None or (id(around), name) in written:
            return value
        source = Source("closure", name) if above == Source("closure", "") else above.then("cell", name)
        return self.sourced(value, source)

    def resume(self, name: str, value: object, frame: Frame) -> object:
        """The value of a name that a frame was handed behind a graph break, with its source."""
        frame.carried.discard(name)
        raw = self.use_raw(value)
        static = isinstance(raw, Object) and self.is_module(raw)
        held = self.sourced(raw, Source("local", name, static=static))
        frame.names[name] = held
        return held

    def entering(self, closure: Closure, frame: Frame) -> None:
        """Give the arguments of the compiled function, and the names around any other, their sources."""
        trace = self.trace
        if trace is None:
            return
        source = self.source_of(closure)
        entry = trace.entry
        if (
            not trace.entered
            and isinstance(entry, Closure)
            and (entry.where, entry.body) == (closure.where, closure.body)
        ):
            trace.entered = True
            source = Source("closure", "")
            frame.names |= {
                name: self.sourced(value, Source("argument", name)) for name, value in frame.names.items()
            }
        around = closure.outer
        while around is not None and source is not None:
            if not around.traced and around.where.key != MODULE_KEY:
                trace.sources.setdefault(id(around), (around, source))
            around = around.outer

    def absent(self, owner: object, step: str, key: object, *, present: bool) -> None:
        """Guard on whether an object has an attribute, or a dict a key."""
        if isinstance(owner, Elements):
            self.length(owner)
            return
        source = self.source_of(owner)
        if source is not None and self.trace is not None and (id(owner), key) not in self.trace.written:
            self.guard(source.then(step, key), "presence", UNKNOWN if present else MISSING)

    def burn(self, owner: Object, name: str, value: object) -> None:
        """Note what code is specialised for without a guard."""
        if self.trace is not None:
            kind = owner.kind if isinstance(owner.kind, str) else owner.kind.name
            fact = self.source_of(owner) or id(owner), name
            self.trace.burned.setdefault(fact, (f"{kind}.{name}", value, self.current, owner))

    def use(self, value: object, symbolic: bool = False) -> object:
        """The plain value of what compiled code uses, guarded; with `symbolic`, a number may vary."""
        if not isinstance(value, _PARTED):
            return value
        match value:
            case Sourced():
                return self._used(value, symbolic)
            case tuple() if self.trace is not None:
                return self._parted(value, lambda part: self.use(part, symbolic))
            case list() if self.trace is not None and any(isinstance(one, Sourced) for one in value):
                return [self.use(one, symbolic) for one in value]
            case slice() if self.trace is not None:
                return slice(*(self.use(one, symbolic) for one in (value.start, value.stop, value.step)))
        return value

    def _used(self, value: Sourced, symbolic: bool) -> object:
        if not (symbolic and self.is_symbol(value)):
            self.guard(value.source, "value", value.raw)
        for one in value.others:
            self.use(one, symbolic)
        return value.value

    def typed(self, value: object) -> object:
        """The plain value of what is asked for its type alone, or whether it is None."""
        if not isinstance(value, Sourced):
            return value
        if isinstance(value.raw, int | float) and not isinstance(value.raw, bool):
            self.guard(value.source, "type", value.raw)
            return value.value
        return self.use(value)

    def fixed(self, value: Sourced) -> object:
        """The plain value of a number that a graph takes as a constant: the floats that it is made of are."""
        for part in (value, *value.others):
            if isinstance(part.raw, float) or not self.is_symbol(part):
                self.guard(part.source, "value", part.raw)
        return value.value

    def _parted(self, value: tuple[object, ...], convert: Callable[[object], object]) -> object:
        """A tuple with its parts converted, if one is not used yet; not known if there are very many."""
        if not _has_sources(value):
            return value
        if not is_small(value):
            self.weaken()
            return UNKNOWN
        return tuple(map(convert, value))

    def sized(self, value: object) -> object:
        """The plain value of a number that a size or an index depends on: some sizes compile again."""
        if self.trace is not None:
            self.trace.computes = True
        if isinstance(value, Sourced) and self.is_symbol(value):
            self.guard(value.source, "size", value.raw)
        if isinstance(value, tuple):
            return self._parted(value, self.sized)
        if isinstance(value, slice):
            return slice(*(self.sized(one) for one in (value.start, value.stop, value.step)))
        return self.use(value, symbolic=True)

    def is_symbol(self, value: Sourced) -> bool:
        """Whether a number is a symbol in the graph, since it has varied before."""
        trace, raw = self.trace, value.raw
        if trace is None or not isinstance(raw, int | float) or isinstance(raw, bool):
            return False
        if (
            isinstance(raw, int)
            and value.source.static
            and not (value.source.root != "global" and self._follows_ints())
        ):
            return False
        if value.source not in trace.symbols:
            varies = trace.compiles and trace.cache.varies(value.source, raw)
            trace.symbols[value.source] = not trace.static and (trace.dynamic or varies)
        return trace.symbols[value.source]

    def _follows_ints(self) -> bool:
        """Whether integers of modules become symbols as well."""
        return self.on(UNSPEC_INT) or not self.has("int-attributes-are-constants")

    def compared(self, left: object, right: object, compute: Callable[[object, object], object]) -> object:
        """The outcome of a comparison: with a symbol in it, Dynamo guards on the outcome alone."""
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            if self.trace is not None:
                self.trace.computes = True
            return compute(self.use(left, symbolic=True), self.use(right, symbolic=True))
        first, second = self.use_raw(left), self.use_raw(right)
        answer: object = MISSING
        for value, turned in ((left, False), (right, True)):
            if not (isinstance(value, Sourced) and self.is_symbol(value)):
                self.use(value)
            elif turned:
                answer = self._outcome(value, lambda number: compute(first, number))
            else:
                answer = self._outcome(value, lambda number: compute(number, second))
        return (
            compute(self.use(left, symbolic=True), self.use(right, symbolic=True))
            if answer is MISSING
            else answer
        )

    def _outcome(self, value: Sourced, compute: Callable[[object], object]) -> object:
        def measure(raw: object) -> object:
            if not isinstance(raw, int | float):
                return value_of(raw)
            return compute(raw if value.compute is None else value.compute(raw))

        key = ("test", self.current, len(self.trace.guards) if self.trace is not None else 0)
        self.guard(value.source, "test", value.raw, key, measure)
        return compute(value.value)

    # --- writing ----------------------------------------------------------------------------------------

    def wrote(self, owner: object, key: object, value: object, site: Site | None = None) -> None:
        """Note an assignment."""
        trace = self.trace
        self.effects += 1
        self.changes += self._outlives(owner, key, value)
        write = Write(owner, value, site or self.current, trace is not None, self.doubt > 0, len(self.met))
        self.writes.setdefault((id(owner), key), []).append(write)
        if trace is not None:
            trace.written[id(owner), key] = value

    def _outlives(self, owner: object, key: object, value: object) -> bool:
        """Whether other calls may see an assignment: not if it gives a tensor the place of one like it."""
        if isinstance(owner, list | dict) and id(owner) not in self.reached and self.source_of(owner) is None:
            return False  # no compiled call was handed it
        before = owner.attributes.get(str(key)) if isinstance(owner, Object) else None
        alike = isinstance(value, Tensor) and isinstance(before, Tensor) and before.known == value.known
        return not alike

    def assign(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute of an object, a class or a tensor."""
        if name == "__dict__" and isinstance(owner, Object) and isinstance(value, dict):
            owner.attributes = cast("dict[str, object]", value)  # several objects may share what they hold
            return
        before = owner.attributes.get(name) if isinstance(owner, Object) else None
        held = self.doubted(self.kept(value), before)
        if isinstance(held, Tensor) and isinstance(owner, Object) and name in owner.buffers:
            held.static = True
        match owner:
            case Object(items=items) if name.isdecimal() and int(name) < len(items):
                self.put(owner, int(name), value)
            case Object():
                if before is not held or name not in owner.attributes or self.trace is not None:
                    self.wrote(owner, name, value, site)
                owner.attributes[name] = held
            case ClassObject(ref):
                self.class_attributes.setdefault(ref, {})[name] = held
                self.wrote(owner, name, value, site)
            case Tensor() if name == "data":
                if isinstance(value, Tensor) and value.dtype is not None and value.dtype != owner.dtype:
                    self.breaking("storage", site)
            case Tensor() if name == "requires_grad":
                if self.source_of(owner) is not None and self.trace is not None and owner.grad is not held:
                    self.end_graph("gradient")
                owner.grad = held if isinstance(held, bool) else None
                self.wrote(owner, name, held, site)

    def remove(self, owner: object, name: str) -> None:
        """Delete an attribute."""
        match owner:
            case Object(attributes=held) | Closure(attributes=held) if name in held:
                del held[name]
                self.wrote(owner, name, MISSING)
            case ClassObject(ref) if name in self.class_attributes.get(ref, {}):
                del self.class_attributes[ref][name]
                self.wrote(owner, name, MISSING)
            case _:
                self.give_up(self.current, f"`{name}` is deleted from what is not known")

    def doubted(self, value: object, before: object) -> object:
        """A value that is assigned in doubt: it is not known whether it replaces one of another kind."""
        known = isinstance(value, PLAIN) and isinstance(before, PLAIN)
        other = isinstance(value, Object) and isinstance(before, Object) and value.kind != before.kind
        unsure = self.doubt and (other or (known and value != before))
        return UNKNOWN if unsure and not self.presuming else value

    def kept(self, value: object) -> object:
        """The value as an object or a container keeps it: one made of a float that varies is a constant."""
        if isinstance(value, Sourced):
            if value.compute is None:
                self.use(value, symbolic=True)
            else:
                self.fixed(value)
        elif isinstance(value, tuple) and self.trace is not None:
            return self._parted(value, lambda part: self.use_raw(self.settled_number(part)))
        return self.use_raw(value)

    def settled_number(self, value: object) -> object:
        """A value as a part of something new: a number that was computed is a constant, all else as it is."""
        return self.kept(value) if isinstance(value, Sourced) and value.compute is not None else value

    def named(self, value: object) -> object:
        """The value as a name or an entry of a `__dict__` keeps it: newer torch guards where it is used."""
        return self.use_raw(value) if self.has("unused-numbers-are-not-guarded") else self.kept(value)

    def handed(self, value: object, seen: frozenset[int] = frozenset()) -> object:
        """A value as another frame gets it, without sources in this one, nor in containers of its own."""
        if isinstance(value, tuple):
            return self._parted(value, lambda part: self.handed(part, seen))
        if not isinstance(value, list | dict) or self.source_of(value) is not None or id(value) in seen:
            return self.use_raw(self.kept(value))
        within = seen | {id(value)}
        for key, part in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
            if isinstance(part, Sourced | list | dict | tuple):
                value[key] = self.handed(part, within)
        return value

    def use_raw(self, value: object) -> object:
        """A value without its source, on which nothing is guarded."""
        if isinstance(value, Sourced):
            return value.value
        if isinstance(value, tuple) and self.trace is not None:
            return self._parted(value, self.use_raw)
        return value

    def put(self, container: object, key: object, value: object) -> None:
        """Assign an item of a list, a dict or a container of modules."""
        held = self.kept(value) if isinstance(value, Sourced) and self.source_of(container) else value
        if self.doubt and isinstance(container, dict) and is_key(key):
            held = self.doubted(held, container.get(key))
        match container:
            case Object(attributes=attributes) if isinstance(key, str):
                attributes[key] = held
                self.wrote(container, key, value)
            case Object(items=items) if isinstance(key, int) and -len(items) <= key < len(items):
                items[key] = held
                self.wrote(container, key, value)
            case list() if isinstance(key, int) and -len(container) <= key < len(container):
                container[key] = held
                self.wrote(container, key, value)
            case list() if isinstance(key, slice):
                self.length(container)
                if is_known([key.start, key.stop, key.step]) and isinstance(held, list | tuple):
                    with suppress(ValueError):  # of another length than an extended slice
                        container[key] = held
                else:
                    container[:] = [UNKNOWN] * len(container)
                self.wrote(container, LENGTH, UNKNOWN)
            case dict() if is_key(key):
                if key not in container:
                    self.length(container)
                    self.wrote(container, LENGTH, UNKNOWN)
                container[key] = held
                self.wrote(container, key, value)
            case dict() if key is UNKNOWN and not container:  # whichever it is, the dict is empty no longer
                self.length(container)
                self.wrote(container, LENGTH, UNKNOWN)
                container[UNKNOWN] = UNKNOWN
                self.wrote(container, UNKNOWN, UNKNOWN)
            case Method(FileValue(path), "__dict__") if isinstance(key, str):
                home = self.file(path)
                if self.trace is not None:  # which goes on with what the name stood for
                    self.trace.written.setdefault((id(home), (HIDDEN, key)), home.names.get(key, MISSING))
                home.names[key] = self.use_raw(held)
                self.wrote(home, key, value)
            case Method(Object() as owner, "__dict__") if isinstance(key, str):
                self.assign(owner, key, self.named(value), self.current)

    def places(self, owner: object, key: object) -> list[tuple[int, object]]:
        """Where the value of an attribute or item may have been assigned: there, or in its class."""
        found = [(id(owner), key)]
        if isinstance(owner, Object) and isinstance(owner.kind, ClassRef) and key not in owner.attributes:
            found += [(id(self.class_object(part)), key) for part in self.project.mro(owner.kind)]
        return found

    # --- resolving --------------------------------------------------------------------------------------

    def resolver(self, target: object, names: Mapping[str, object]) -> Callable[[Source], object]:
        """A function that gives the value at a source before a call of `target`; MISSING if there is none.

        It holds as long as nothing is assigned: what several ways have in common is followed once.
        """
        values: dict[tuple[str, str, tuple[tuple[str, object], ...]], object] = {}

        def at(root: str, name: str, steps: tuple[tuple[str, object], ...]) -> object:
            way = (root, name, steps)
            if way in values:
                return values[way]
            if steps:
                value = self.stepped(at(root, name, steps[:-1]), *steps[-1])
            elif root in GIVEN:
                value = names.get(name, MISSING)
            elif root == "global":
                path, _, own_name = name.rpartition("::")
                value = self.file(path).names.get(own_name, MISSING)
            else:
                value = _cell(target, name)
            values[way] = value
            return value

        return lambda source: at(source.root, source.name, source.steps)

    def keys_of(self, source: Source, target: object, resolve: Callable[[Source], object]) -> tuple[Key, ...]:
        """The keys of the value at a source: as a part of each object on the way, the nearest first."""
        found: list[Key] = []
        path = ""
        for count in range(len(source.steps) - 1, -1, -1):
            step, key = source.steps[count]
            holder = resolve(Source(source.root, source.name, source.steps[:count]))
            called = key.name if isinstance(key, FunctionRef) else key
            path = (f"[{key!r}]" if step == "item" else f".{called}") + path
            match holder:
                case Object(ClassRef() as ref) | ClassObject(ref) if step in _HELD:
                    found.append(Key(ref, path.removeprefix(".")))
                case Closure(where) if step in {"attribute", "default"}:
                    found.append(Key(ClassRef(*where[:2]), path.removeprefix(".")))
                case _ if step == "cell" and (home := home_of(holder, str(key))) is not None:
                    found.append(Key(ClassRef(*home.where[:2]), path.removeprefix(".")))
        match source.root, target:
            case "global", _:
                file, _, name = source.name.rpartition("::")
                found.append(Key(ClassRef(file, MODULE_KEY), name + path))
            case "argument" | "local", Closure(where):
                found.append(Key(ClassRef(*where[:2]), source.name + path))
            case "closure", _ if (home := home_of(target, source.name)) is not None:
                found.append(Key(ClassRef(*home.where[:2]), source.name + path))
        return tuple(found)

    def stepped(self, value: object, step: str, key: object) -> object:
        """The value one step further along a source."""
        match step, value:
            case "hook", Object(hooks=hooks) if isinstance(key, int):
                return hooks[key].function if key < len(hooks) else MISSING
            case "own", Object(attributes=attributes):
                return attributes.get(str(key), MISSING)
            case "attribute", Object() | ClassObject():
                found = self.peek(value, str(key))
                return found.function if isinstance(found, Static) else found
            case "attribute", Closure(attributes=attributes):
                return attributes.get(str(key), MISSING)
            case "method", Object() | ClassObject() if isinstance(key, FunctionRef):
                return self.code(key, value)
            case "default", Closure(defaults=defaults):
                return defaults.get(str(key), MISSING)
            case "item", list() | tuple() if isinstance(key, int):
                return value[key] if -len(value) <= key < len(value) else MISSING
            case "item", dict():
                return value.get(key, MISSING)
            case "item", Object():
                if isinstance(key, int):
                    return value.items[key] if -len(value.items) <= key < len(value.items) else MISSING
                return value.attributes.get(str(key), MISSING)
            case "class", Object(kind=ClassRef() as kind):
                return self.class_object(kind)
            case "cell", _:
                return _cell(value, str(key))
            case "keyword", Partial(keywords=keywords):
                return keywords.get(str(key), MISSING)
            case "positional", Partial(arguments=arguments) if isinstance(key, int):
                return arguments[key] if key < len(arguments) else MISSING
            case "function", Partial(function=function):
                return function
            case "receiver", Closure(receiver=receiver):
                return receiver
            case "target", Wrapper(target=target):
                return target
        return UNKNOWN if value is UNKNOWN or isinstance(value, Method) else MISSING

    @abstractmethod
    def code(self, where: FunctionRef, receiver: Object | ClassObject | None) -> Closure:
        """A method as it is written, without its decorators."""

    @abstractmethod
    def peek(self, owner: Object | ClassObject, name: str) -> object:
        """The value of an attribute without running any code; MISSING if there is none."""


def _has_sources(value: tuple[object, ...]) -> bool:
    """Whether a tuple has a part that is not used yet; each tuple in it is looked at once."""
    pending, looked_at = [value], {id(value)}
    while pending:
        for part in pending.pop():
            if isinstance(part, Sourced | slice):
                return True
            if isinstance(part, tuple) and id(part) not in looked_at:
                looked_at.add(id(part))
                pending.append(part)
    return False


def _cell(value: object, name: str) -> object:
    """The value of a name around a function."""
    home = home_of(value, name)
    return home.names[name] if home is not None else MISSING


def home_of(value: object, name: str) -> Frame | None:
    """The frame that holds a name around a function."""
    while isinstance(value, Partial | Wrapper):
        value = value.function if isinstance(value, Partial) else value.target
    frame = value.outer if isinstance(value, Closure) else None
    while frame is not None:
        if name in frame.names:
            return frame
        frame = frame.outer
    return None
