"""Calls in eager code: of the project's functions and classes, of torch, and of what is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import chain, cycle, islice, repeat

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Function
from dynamo_lint.models.drivers import CONFIGURATION, MODES, MODULES, NAMES, STANCE
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.rehearsal import sizes
from dynamo_lint.rehearsal.compiled import Compiled
from dynamo_lint.rehearsal.expressions import ROUNDS, is_key, is_known
from dynamo_lint.rehearsal.model import (
    UNKNOWN,
    Catcher,
    ClassObject,
    Closure,
    CompileCall,
    Decorated,
    External,
    Frame,
    Manager,
    Method,
    Object,
    Parent,
    Partial,
    Site,
    Tensor,
    Unwrapped,
    Wrapper,
)
from dynamo_lint.rehearsal.sizes import made
from dynamo_lint.rehearsal.stage import STANCE as STANCE_SETTING

_ITSELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_"}
)
_LONGEST = 64
"""Values of an iterable that are looked at."""
_LARGEST = 2**31
_SPECIAL = frozenset({"forward", "_call_impl"})
"""Methods that run a module around its compiled call."""


class Calls(Compiled):
    """A stage on which calls have effects."""

    __slots__ = ()

    def call(self, node: ast.Call, frame: Frame) -> object:
        """The value of a call, with what it does."""
        site = Site(frame.where, node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            receiver = frame.names.get(next(iter(frame.names), ""))
            if isinstance(receiver, Object) and frame.owner is not None:
                return Parent(frame.owner, receiver)
        function = self.value(node.func, frame)
        arguments = self.items(node.args, frame)
        keywords: dict[str, object] = {}
        for one in node.keywords:
            value = self.value(one.value, frame)
            if one.arg is not None:
                keywords[one.arg] = value
            elif isinstance(value, dict):
                keywords |= {key: held for key, held in value.items() if isinstance(key, str)}
        if isinstance(node.func, ast.Attribute) and isinstance(function, Closure):
            self.around(node.func.attr, function, arguments, site)
        return self.invoke(function, arguments, keywords, site)

    def around(self, name: str, function: Closure, arguments: list[object], site: Site) -> None:
        """Notice `module.forward(x)` of a module that is compiled in place."""
        if name in _SPECIAL:
            receiver = function.receiver or (arguments[0] if arguments else None)
            if isinstance(receiver, Object) and receiver.compiled is not None:
                self.note("forward", site, site, receiver, receiver.compiled)

    def invoke(
        self, function: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """The value that calling something gives."""
        self.step()
        match function:
            case External(dotted):
                return self._external(dotted, arguments, keywords, site)
            case Wrapper(target, call):
                return self.run_compiled(target, call, arguments, keywords, site, in_place=False)
            case Unwrapped(target, call):
                if not function.changed:
                    self.note("unwrapped", site, site, target, call)
                return self.run_eagerly(target, arguments, keywords, site)
            case Closure():
                return self.run(function, arguments, keywords)
            case ClassObject(ref):
                return self._construct(ref, arguments, keywords, site)
            case Object():
                return self._module(function, arguments, keywords, site)
            case Method(receiver, name):
                return self._method(receiver, name, arguments, keywords, site)
            case Partial(inner, before, named):
                return self.invoke(inner, [*before, *arguments], {**named, **keywords}, site)
            case Manager():
                self.leave(function)  # `@set_stance(…)` is in force around the calls alone
                function.before.clear()
                return Decorated(function, arguments[0]) if arguments else UNKNOWN
            case Decorated(manager, inner):
                self.enter(manager)
                try:
                    return self.invoke(inner, arguments, keywords, site)
                finally:
                    self.leave(manager)
        return UNKNOWN

    # --- the project's own ------------------------------------------------------------------------------

    def run(self, closure: Closure, arguments: list[object], keywords: dict[str, object]) -> object:
        """Run a function of the project; a generator runs while it is asked."""
        if closure.body is not None:
            frame = Frame(closure.where, outer=closure.outer)
            names = [one.arg for one in closure.body.args.args]
            frame.names |= dict(zip(names, arguments, strict=False)) | keywords
            return self.value(closure.body.body, frame)
        body = self.bodies.of(closure.where)
        if body is None:
            return UNKNOWN
        self.entered.add(closure.where)
        function = self.project.function(closure.where)
        frame = Frame(closure.where, outer=closure.outer, owner=self.project.owner(closure.where))
        given = [closure.receiver, *arguments] if closure.receiver is not None else arguments
        frame.names |= _bound(function, given, keywords)
        running = self.function(body, frame)
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own(body)):
            return running
        self.depth += 1
        try:
            for _ in running:
                pass
        finally:
            self.depth -= 1
        return frame.result

    def function(self, body: list[ast.stmt], frame: Frame) -> Iterator[object]:
        """Run the body of a function; what it yields."""
        raise NotImplementedError

    def _construct(
        self, ref: ClassRef, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        made = Object(ref)
        init = self.project.method(ref, "__init__")
        if init is not None:
            self.run(Closure(init, self.file(init.path), made), arguments, keywords)
        elif any(base in NAMES["containers"] for base in self.project.external_bases(ref)):
            self.hold(made, arguments)
        else:
            fields = [name for name, _ in self.project.class_(ref).annotations]
            made.attributes |= dict(zip(fields, arguments, strict=False)) | keywords
        return made

    def hold(self, container: Object, arguments: list[object]) -> None:
        """Put modules into a container of torch."""
        for one in arguments:
            if isinstance(one, Object | Wrapper | Closure):
                container.items.append(one)
            elif isinstance(one, dict):
                container.attributes |= {str(name): value for name, value in one.items()}
            elif one is UNKNOWN:
                container.complete = False
            else:
                container.items += islice(self.each(one), ROUNDS)
        container.complete = container.complete and all(isinstance(one, Object) for one in container.items)

    def _module(
        self, module: Object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call an object."""
        if module.compiled is not None:
            return self.run_compiled(module, module.compiled, arguments, keywords, site, in_place=True)
        if module.lost is not None:
            self.note("copy", module.lost, site, module, None)
        return self.run_eagerly(module, arguments, keywords, site)

    def run_eagerly(
        self, target: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run what a module or function does, uncompiled; parts of it may be compiled."""
        if not isinstance(target, Object):
            return self.invoke(target, arguments, keywords, site)
        forward = target.attributes.get("forward")
        if forward is None and isinstance(target.kind, ClassRef):
            names = ("forward", "__call__") if self.project.is_module(target.kind) else ("__call__",)
            found = next((one for name in names if (one := self.project.method(target.kind, name))), None)
            forward = self.method(found, target) if found is not None else None
        if forward is not None:
            return self.invoke(forward, arguments, keywords, site)
        for part in target.parts():
            self.invoke(part, arguments, keywords, site)
        return Tensor()

    def _method(
        self, receiver: object, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a method of something that has no code in the project."""
        match receiver:
            case Tensor():
                return sizes.method(receiver, name, arguments)
            case Parent(owner, instance):
                return self._inherited(owner, instance, name, arguments, keywords)
            case Object() if name == "compile" and self.is_module(receiver):
                receiver.compiled, receiver.lost = CompileCall(site, _known(keywords)), None
                return None
            case Object() if name in _ITSELF:
                return receiver
            case Object() if name in {"children", "modules", "named_children", "named_modules"}:
                parts = receiver.tree() if "modules" in name else [*receiver.parts()]
                return [("", one) for one in parts] if name.startswith("named") else parts
            case Object() if name in {"values", "items"}:
                held = receiver.attributes
                return [*(held.values() if name == "values" else held.items())]
            case Object() if name in {"__call__", *_SPECIAL}:
                if name in _SPECIAL and receiver.compiled is not None:
                    self.note("forward", site, site, receiver, receiver.compiled)
                    return self.run_eagerly(receiver, arguments, keywords, site)
                return self.invoke(receiver, arguments, keywords, site)
            case Object() if name in {"append", "add_module", "register_module", "extend"}:
                self.hold(receiver, arguments[-1:])
                return receiver
            case list() if name in {"append", "extend"} and arguments:
                receiver += [arguments[0]] if name == "append" else islice(self.each(arguments[0]), ROUNDS)
                return None
            case list() | dict() if name in {"pop", "popleft"}:
                return receiver.pop() if isinstance(receiver, list) and receiver else UNKNOWN
            case dict() if name == "items":
                return [*receiver.items()]
            case dict() if name == "values":
                return [*receiver.values()]
            case dict() if name == "get" and arguments and is_key(arguments[0]):
                return receiver.get(arguments[0], arguments[1] if len(arguments) > 1 else None)
        return UNKNOWN

    def _inherited(
        self,
        owner: ClassRef,
        receiver: Object,
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
    ) -> object:
        """Call `super().name(…)`."""
        if not isinstance(receiver.kind, ClassRef):
            return UNKNOWN
        order = self.project.mro(receiver.kind)
        for part in order[order.index(owner) + 1 :] if owner in order else ():
            for binding in self.project.class_(part).bindings:
                if binding.name == name and isinstance(binding.value, ir.Definition):
                    where = FunctionRef(part.path, binding.value.key)
                    if where.key in self.project.files[part.path].functions:
                        return self.run(Closure(where, self.file(part.path), receiver), arguments, keywords)
        if name == "__init__" and any(
            one in NAMES["containers"] for one in self.project.external_bases(receiver.kind)
        ):
            self.hold(receiver, arguments)
        elif name == "compile" and self.is_module(receiver):
            return None
        elif name in _ITSELF:
            return receiver
        return UNKNOWN

    # --- libraries --------------------------------------------------------------------------------------

    def _external(
        self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        first = arguments[0] if arguments else None
        if dotted in NAMES["compile"]:
            given = first if arguments else keywords.get("model")
            call = CompileCall(site, _known(keywords))
            if given is None:
                return Partial(External(dotted), [], keywords)
            if isinstance(given, Closure) and given.disabled and given.receiver is None:
                given = Closure(given.where, given.outer, None, given.body)
            return Wrapper(given.target if isinstance(given, Wrapper | Unwrapped) else given, call)
        if dotted in NAMES["disable"]:
            return Partial(External(dotted), [], keywords) if first is None else _disabled(first)
        if dotted in NAMES["copy"] and isinstance(first, Object | Wrapper):
            return self.copied(first, site, {})
        if dotted in NAMES["holding_copy"] and isinstance(first, Object):
            return Object(dotted, {"module": self.copied(first, site, {})})
        if dotted in NAMES["reset"]:
            self.resets.append(site)
            self.caches.clear()
            return None
        if dotted in NAMES["mark"] or dotted in NAMES["keep"]:
            _mark(arguments, keywords, static=dotted in NAMES["keep"])
            return None
        if dotted in MODES:
            return self._mode(dotted, arguments, keywords, site)
        if dotted in STANCE:
            stance = first if arguments else keywords.get("stance")
            manager = Manager({STANCE_SETTING: stance}, site)
            self.enter(manager)
            return manager
        if dotted in NAMES["patch"]:
            given = {str(key): value for key, value in keywords.items()}
            given |= first if isinstance(first, dict) else {}
            given |= {first: arguments[1]} if isinstance(first, str) and len(arguments) > 1 else {}
            return Manager({f"{CONFIGURATION}.{name}": value for name, value in given.items()}, site)
        if dotted.startswith(MODULES) and dotted.rpartition(".")[2][:1].isupper():
            held = Object(dotted)
            self.hold(held, [one for one in arguments if isinstance(one, Object | list | dict | Iterator)])
            return held
        tensor = made(dotted, arguments, keywords)
        return tensor if tensor is not None else self._python(dotted, arguments, keywords, site)

    def _mode(self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site) -> object:
        mode = MODES[dotted]
        given = [*arguments, *keywords.values()]
        if mode.manager and mode.value is not None and len(given) == 1 and isinstance(given[0], Closure):
            return Decorated(Manager({mode.name: mode.value}, site), given[0])
        if mode.value is None and not all(map(is_setting, given)):
            return Manager({}, site) if mode.manager else None  # to what, nothing shows
        value = mode.value if mode.value is not None else ", ".join(map(spelled, given))
        if mode.manager:
            value = {"True": "grad", "False": "no_grad"}.get(value, value)
        manager = Manager({mode.name: value}, site)
        if mode.value is None:
            self.enter(manager)
        return manager if mode.manager else None

    def _python(
        self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a function of Python."""
        module, _, name = dotted.rpartition(".")
        first = arguments[0] if arguments else UNKNOWN
        match module, name:
            case "builtins", "range" | "enumerate" | "zip" | "map" | "iter" | "next":
                return self._iterator(name, arguments, keywords, site)
            case "builtins", "list" | "tuple" | "sorted" | "reversed" | "set":
                return _ordered(name, [*islice(self.each(first), _LONGEST)] if arguments else [])
            case "builtins", "len":
                return _length(first)
            case "builtins", "min" | "max" | "sum":
                values = arguments if len(arguments) > 1 else [*islice(self.each(first), _LONGEST)]
                return _reduced(name, values)
            case "builtins", "int" | "float" | "str" | "bool" | "abs":
                return _cast(name, first)
            case "builtins", "setattr" if len(arguments) == 3 and isinstance(arguments[1], str):
                self.store(first, arguments[1], arguments[2], site)
                return None
            case "builtins", "getattr" if len(arguments) > 1 and isinstance(arguments[1], str):
                found = self.attribute(first, arguments[1], site)
                return arguments[2] if isinstance(found, Method) and len(arguments) > 2 else found
            case "contextlib", "suppress":
                names = (one.dotted.rpartition(".")[2] for one in arguments if isinstance(one, External))
                return Catcher(frozenset(names), site)
            case "functools", "partial":
                return Partial(first, arguments[1:], keywords)
            case "itertools", _:
                return self._endless(name, first, arguments)
            case "random" | "numpy.random", "randint" | "randrange":
                known = [one for one in arguments if isinstance(one, int)]
                return self._drawn(known) if len(known) == len(arguments) else UNKNOWN
            case "random" | "numpy.random", "choice" if isinstance(first, list | tuple) and first:
                self.draws += 1
                return first[self.draws % len(first)]
            case "os" | "os.environ", _:
                return self._environment(name, arguments, site)
        return UNKNOWN

    def _iterator(
        self, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a function of Python that iterates."""
        first = arguments[0] if arguments else UNKNOWN
        match name:
            case "range":
                known = [one for one in arguments if isinstance(one, int) and abs(one) < _LARGEST]
                whole = len(known) == len(arguments) and 0 < len(known) < 4 and (len(known) < 3 or known[2])
                return range(*known) if whole else (number for number in range(3))
            case "enumerate":
                start = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
                return enumerate(self.each(first), start if isinstance(start, int) else 0)
            case "zip":
                return zip(*(self.each(one) for one in arguments), strict=False)
            case "map" if len(arguments) == 2:
                return (self.invoke(first, [one], {}, site) for one in self.each(arguments[1]))
            case "iter":
                return self.each(first)
            case "next" if isinstance(first, Iterator):
                return next(first, UNKNOWN)
        return UNKNOWN

    def _endless(self, name: str, first: object, arguments: list[object]) -> object:
        """Call a function of `itertools`."""
        second = arguments[1] if len(arguments) > 1 else None
        match name:
            case "chain":
                return chain(*(self.each(one) for one in arguments))
            case "cycle":
                return cycle([*islice(self.each(first), _LONGEST)])
            case "repeat":
                return repeat(first, second) if isinstance(second, int) else repeat(first)
            case "islice" if len(arguments) == 2 and isinstance(second, int):
                return islice(self.each(first), max(second, 0))
            case "count":
                return iter(range(first if isinstance(first, int) else 0, _LARGEST))
        return UNKNOWN

    def _drawn(self, bounds: list[int]) -> object:
        low, high = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1]) if bounds else (0, 0)
        self.draws += 1
        return low + self.draws % (high - low) if high > low else UNKNOWN

    def _environment(self, name: str, arguments: list[object], site: Site) -> object:
        """Read or set a variable; one that nobody has set is missing."""
        first, second = (*arguments, None, None)[:2]
        key = f"os.environ.{first}"
        match name:
            case "pop" | "unsetenv":
                self.settings.pop(key, None)
            case "update" if isinstance(first, dict):
                for variable, value in first.items():
                    self.set(f"os.environ.{variable}", value, site)
            case "putenv" | "setdefault" if key not in self.settings:
                self.set(key, second, site)
            case "get" | "getenv" | "setdefault":
                return self.settings.get(key, (second, None))[0]
        return UNKNOWN

    def store(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute."""
        raise NotImplementedError


def _ordered(name: str, values: list[object]) -> object:
    """A list of what was iterated over, sorted or reversed if that is asked for and can be told."""
    numbers = [one for one in values if isinstance(one, int | float)]
    if name == "sorted" and len(numbers) == len(values):
        return sorted(numbers)
    return values[::-1] if name == "reversed" else values


def _length(value: object) -> object:
    if isinstance(value, Tensor):
        size = value.shape[0] if value.shape else None
        return UNKNOWN if size is None else size
    items = value.items if isinstance(value, Object) else value
    return len(items) if isinstance(items, list | tuple | dict | str | range) else UNKNOWN


def _reduced(name: str, values: list[object]) -> object:
    numbers = [one for one in values if isinstance(one, int | float)]
    if not numbers or len(numbers) != len(values):
        return UNKNOWN
    return sum(numbers) if name == "sum" else min(numbers) if name == "min" else max(numbers)


def _cast(name: str, value: object) -> object:
    """The value of `int(…)`, `str(…)` and the like."""
    if isinstance(value, str):
        if name == "int":
            return int(value) if value.isascii() and value.isdecimal() and len(value) < 9 else UNKNOWN
        return value if name == "str" else bool(value) if name == "bool" else UNKNOWN
    if not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return UNKNOWN
    match name:
        case "int":
            return int(value)
        case "float":
            return float(value)
        case "str":
            return str(value)
    return abs(value) if name == "abs" else bool(value)


def is_setting(value: object) -> bool:
    """Whether it is known what is passed: a number, a text, a dtype."""
    return is_known(value) or isinstance(value, External)


def spelled(value: object) -> str:
    """The text of what is passed."""
    return value.dotted if isinstance(value, External) else repr(value)


def _known(keywords: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in keywords.items() if is_known(value))


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions in it."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _bound(function: Function, given: list[object], keywords: Mapping[str, object]) -> dict[str, object]:
    """The parameters of a function with the values that a call gives them."""
    names: dict[str, object] = {}
    positional = [one.name for one in function.parameters if one.kind == "positional"]
    for one in function.parameters:
        known = isinstance(one.default, ir.Constant)
        names[one.name] = one.default.value if known and isinstance(one.default, ir.Constant) else UNKNOWN
        if one.kind == "vararg":
            names[one.name] = tuple(given[len(positional) :])
        elif one.kind == "kwarg":
            names[one.name] = {key: value for key, value in keywords.items() if key not in positional}
    names |= dict(zip(positional, given, strict=False))
    names |= {key: value for key, value in keywords.items() if key in names}
    return names


def _disabled(given: object) -> object:
    if isinstance(given, Closure):
        return Closure(given.where, given.outer, given.receiver, given.body, disabled=True)
    return given


def _mark(arguments: list[object], keywords: Mapping[str, object], *, static: bool) -> None:
    tensor = arguments[0] if arguments else UNKNOWN
    axes = arguments[1] if len(arguments) > 1 else keywords.get("index", keywords.get("dim"))
    if isinstance(tensor, Tensor):
        tensor.static = tensor.static or static
        if not static:
            tensor.marked.update(
                one for one in (axes if isinstance(axes, list | tuple) else (axes,)) if isinstance(one, int)
            )
