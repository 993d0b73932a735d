"""The effects of torch and Python: functions, methods of tensors and containers, modules, optimizers."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import itertools
import json
import math
import numbers
import sys
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import GEN_CREATED, GEN_SUSPENDED, getgeneratorstate
from itertools import chain, cycle, islice, repeat

from dynamo_lint import knowledge
from dynamo_lint.interpreter import sizes
from dynamo_lint.interpreter.breaking import HOOKS_BACKWARD, NUMBERS
from dynamo_lint.interpreter.compiled import CompiledCalls
from dynamo_lint.interpreter.expressions import LATE, OPERATORS, OPTIONS, ROUNDS, SOME, is_short, text
from dynamo_lint.interpreter.guards import LENGTH, GraphBreak
from dynamo_lint.interpreter.model import (
    COUNT,
    LONGEST,
    MISSING,
    UNKNOWN,
    Catcher,
    ClassObject,
    Closure,
    CompileCall,
    Counts,
    Decorated,
    Defaults,
    Elements,
    External,
    FileValue,
    FixedSize,
    Fresh,
    Hook,
    Manager,
    Measured,
    Member,
    Method,
    Object,
    Parent,
    Partial,
    PartialMethod,
    Queue,
    Site,
    Size,
    Sourced,
    Static,
    Tensor,
    Uncounted,
    Unknown,
    Unwrapped,
    Wrapper,
    is_key,
    is_known,
    is_small,
    is_stand_in,
)
from dynamo_lint.interpreter.sizes import made
from dynamo_lint.interpreter.stage import SKIPS
from dynamo_lint.interpreter.stage import STANCE as STANCE_SETTING
from dynamo_lint.models.drivers import (
    CALCULATING,
    CONFIGURATION,
    GUARDED,
    MADE_WITH,
    MODES,
    MODULES,
    NAMES,
    OPTIMIZERS,
    SIGNATURES,
    STANCE,
)
from dynamo_lint.models.tensor_results import BOOL_FUNCTIONS, GIVES_NO_TENSOR
from dynamo_lint.program.refs import ClassRef

_LARGEST = 2**31
_TAKING_SOURCES = frozenset(
    {"setattr", "partial", "list", "tuple", "zip", "enumerate", "iter", "next", "map", "filter", "chain"}
    | {"filterfalse", "takewhile", "dropwhile", "starmap", "accumulate", "reduce", "zip_longest", "islice"}
)
"""Functions of Python that hand on what they are given."""
_CHOOSING: Mapping[str, Callable[[Callable[[object], bool], Iterable[object]], Iterable[object]]] = {
    "filter": filter,
    "filterfalse": itertools.filterfalse,
    "takewhile": itertools.takewhile,
    "dropwhile": itertools.dropwhile,
}
"""Functions of Python that let some items through."""
_TAKING_ALL = frozenset({"any", "all", "sum", "min", "max", "list", "tuple", "set", "frozenset", "sorted"})
"""Functions of Python that run through what they are given."""
_REFLECTION = frozenset(
    {
        "isinstance",
        "callable",
        "isfunction",
        "isclass",
        "type",
        "hasattr",
        "vars",
        "globals",
        "id",
        "__setattr__",
        "setattr",
        "getattr",
    }
)
_OF_TEXT = frozenset(name for name in vars(str) if name[0] != "_") - {
    "center",
    "expandtabs",
    "ljust",
    "rjust",
    "zfill",
}
"""Methods of texts, but for those that may make one that is very long."""
_NUMBERS = frozenset(
    {"min", "max", "sum", "float", "int", "str", "bool", "abs", "any", "all", "round", "divmod"}
)
_OF_PYTHON = frozenset({"builtins", "numbers", "collections.abc", "typing"})
"""Packages whose classes are asked what they are instances of."""
_HARMLESS = frozenset({"torch", "builtins", *sys.stdlib_module_names})
"""Packages whose functions change no object that they are given."""
_GIVES = knowledge.pairs("gives")
"""The classes that functions of libraries give instances of."""
_OF_NUMPY = {"power": "pow", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "fabs": "fabs"}
"""Functions of numpy that have another name in `math`."""
_BY_METHOD = {f"__{word}__": kind() for kind, word in OPERATORS.items()}
"""By special method, the operator that it is behind."""
_BY_FUNCTION = {
    name: kind() for kind, word in OPERATORS.items() for name in (word, f"{word}_", f"i{word}", f"__{word}__")
}
"""By function of `operator`, the operator that it stands for."""
_COUNTED = (list, tuple, dict, str, range, Object, ClassObject, Iterator, Tensor)
"""Kinds of values of which a run has as many parts as they have."""
_SET_UPS = NAMES["prepares"] | NAMES["wraps"] | NAMES["unwraps"]
"""Functions and methods of libraries that give back the models they are given."""
_WAITING = frozenset({GEN_CREATED, GEN_SUSPENDED})
_NO_CONTEXT = "contextlib.nullcontext"
_NAMED_TUPLE = "collections.namedtuple.made"
EXIT_STACK = "contextlib.ExitStack"
_PARSER = "argparse.ArgumentParser"
SPECIAL = frozenset({"forward", "_call_impl"})
"""Methods that run a module around its compiled call."""

_WHOLE = frozenset(
    f"torch.{name}" for name in ("uint8", "int8", "int16", "short", "int32", "int", "int64", "long")
)
"""The dtypes of whole numbers."""


class Library(CompiledCalls):
    """A stage that knows libraries."""

    __slots__ = ()

    @abstractmethod
    def inherited(
        self,
        owner: ClassRef,
        receiver: Object,
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
    ) -> object:
        """Call `super().name(…)`."""

    @abstractmethod
    def target_of(self, site: Site) -> object:
        """Return what a compile site compiles that no run has made; UNKNOWN if nothing says so."""

    @abstractmethod
    def store(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute, or a setting of torch."""

    @abstractmethod
    def _of_every_object(self, receiver: Object, name: str, arguments: list[object], site: Site) -> object:
        """Call a special method that all objects inherit; MISSING if it is none of those."""

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
                container.items += self.elements(one)
        container.complete = container.complete and all(isinstance(one, Object) for one in container.items)

    def _library_module(
        self, target: Object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run a module of a library: those that it holds, one after the other, and guard on what it reads."""
        kind = target.kind.rpartition(".")[2] if isinstance(target.kind, str) else ""
        if not (kind or self.is_module(target)):
            return UNKNOWN
        if self.trace is not None:
            self.trace.computes = True
        if target.kind == "weakref.ref":
            return self.attribute(target, "referent", site)
        for name in ("p", "training") if kind in NAMES["training"] else ():
            self.use(self.attribute(target, name, site))
        for name in GUARDED.get(kind, ()) if self.trace is not None else ():
            if name in target.attributes:
                self.use(self.attribute(target, name, site))
        tensors = [*arguments, *self.parameters(target)]
        for name in ("weight", "bias") if self.trace is not None else ():
            if name in target.attributes:
                self.read(target, "attribute", name, target.attributes[name])
        parts = [*self.each(target)] if target.items else [*target.parts()]
        if not parts:
            return self.tracked(Tensor(), tensors)
        result: object = arguments[0] if arguments else UNKNOWN
        for part in parts:
            result = self.invoke(part, [result, *arguments[1:]], keywords, site)
        return result

    def parameters(self, module: Object) -> list[Tensor]:
        """The parameters of a module of torch, without those of the modules in it."""
        if isinstance(module.kind, str):
            self._learn(module, module.kind.rpartition(".")[2])
        return [one for one in module.attributes.values() if isinstance(one, Tensor)]

    def _learn(self, module: Object, kind: str) -> None:
        """Give a module the parameters that one of this kind of torch has."""
        if "weight" not in module.attributes and kind.startswith(tuple(NAMES["learning"])):
            for name in ("weight", "bias") if "bias" not in module.attributes else ("weight",):
                module.attributes[name] = Tensor(static=True, grad=True, dtype=sizes.FLOAT)
                module.buffers.add(name)

    def _method(
        self, receiver: object, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a method of something that has no code in the project."""
        match receiver:
            case Sourced():
                return self._method(self.use(receiver), name, arguments, keywords, site)
            case Tensor():
                return self._of_tensor(receiver, name, arguments, keywords, site)
            case ClassObject() if name == "apply" and self.trace is not None:
                return self._apply(receiver.ref, arguments, keywords, site)
            case Parent(owner, instance):
                return self.inherited(owner, instance, name, arguments, keywords)
            case Object():
                return self._of_module(receiver, name, arguments, keywords, site)
            case Method(FileValue() as file, "__dict__"):
                return self._of_namespace(receiver, file, name, arguments, keywords, site)
            case Method(Object() as inner, "__dict__"):
                return self._of_attributes(receiver, inner, name, arguments, keywords, site)
            case int() | float() if name in _BY_METHOD and len(arguments) == 1:
                return self.binary(receiver, _BY_METHOD[name], arguments[0])
            case list() | dict() if name == "__setitem__" and len(arguments) == 2:
                self.put(receiver, self.use(arguments[0]), arguments[1])
                return None
            case list() | dict() if name == "__getitem__" and len(arguments) == 1:
                return self.item(receiver, arguments[0])
            case Hook(module) if name == "remove":
                self.affect()
                for hooks in (module.hooks, module.backward):
                    hooks[:] = (one for one in hooks if one is not receiver)
            case list():
                return self._of_list(receiver, name, arguments, keywords)
            case dict():
                return self._of_dict(receiver, name, arguments, keywords)
            case Generator() if name in {"send", "__next__"} and getgeneratorstate(receiver) in _WAITING:
                self.effects += 1
                begun = getgeneratorstate(receiver) != GEN_CREATED
                with suppress(StopIteration):
                    return receiver.send(self.use(arguments[0]) if begun and arguments else None)
                return UNKNOWN
            case str() if name in _OF_TEXT and not keywords:
                given = [self.use(one) for one in arguments]
                return _of_text(receiver, name, given)
        if name in _SET_UPS and any(isinstance(one, Object | Wrapper) for one in arguments):
            return _handed_back(arguments)
        self.hand_out(receiver)
        self.lost([*arguments, *keywords.values()], site, f"`{name}` of what is not known")
        return UNKNOWN

    def _apply(
        self, ref: ClassRef, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call an `autograd.Function`, whose `forward` gets a context unless something else sets that up."""
        forward = self.project.method(ref, "forward")
        if forward is None:
            return self.tracked(Tensor(), arguments)
        apart = self.project.method(ref, "setup_context") is not None
        given = arguments if apart else [Object("torch.autograd.function.FunctionCtx"), *arguments]
        made = self.invoke(self.code(forward, None), given, keywords, site)
        return made if made is not UNKNOWN else self.tracked(Tensor(), arguments)

    def _of_attributes(
        self,
        attributes: Method,
        owner: Object,
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
    ) -> object:
        """Call a method of the `__dict__` of an object."""
        key, default = (*map(self.use, arguments[:1]), *arguments[1:2], None, None)[:2]
        given = {**key, **keywords} if isinstance(key, dict) else keywords
        match name:
            case "get" if arguments:
                return owner.attributes.get(key, default) if isinstance(key, str) else UNKNOWN
            case "update" if key is None or (isinstance(key, dict) and all(isinstance(k, str) for k in key)):
                for attribute, value in given.items():
                    self.put(attributes, attribute, value)
                return None
            case "setdefault" if isinstance(key, str):
                if key not in owner.attributes:
                    self.put(attributes, key, default)
                return self.attribute(owner, key, site)
            case "update" | "setdefault" | "pop" | "popitem" | "clear":
                self.lost([owner], site, f"`__dict__.{name}` of what is not known")
        return UNKNOWN

    def _of_namespace(
        self,
        names: Method,
        file: FileValue,
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
    ) -> object:
        """Call a method of the dict that holds the names of a file: `globals().update(…)`."""
        key, default = (*map(self.use, arguments[:1]), *arguments[1:2], None, None)[:2]
        match name:
            case "get" | "setdefault" | "__getitem__" if isinstance(key, str):
                found = self.filed(file, key, site)
                if not isinstance(found, Unknown):
                    return found
                if name == "setdefault":
                    self.put(names, key, default)
                return UNKNOWN if name == "__getitem__" else default
            case "update" | "__setitem__":
                given = {key: default} if name == "__setitem__" else key if isinstance(key, dict) else {}
                for one, value in {**given, **keywords}.items():
                    self.put(names, one, value)
                return None
            case "pop" | "clear" | "popitem":
                self.give_up(site, "a name of a file is taken away")
        return UNKNOWN

    def _of_module(
        self, module: Object, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a method that all modules, plain objects or optimizers have."""
        match name:
            case "compile" if self.is_module(module):
                self.affect()
                module.compiled, module.lost = CompileCall(site, _known(keywords)), None
                self.wrapped.append(Wrapper(module, module.compiled))
                return None
            case "_replace":
                return self._replaced(module, keywords)
            case "train" | "eval" if self.is_module(module):
                mode = name == "train" and (self.use(arguments[0]) if arguments else True)
                for one in module.tree():
                    self.assign(one, "training", mode, site)
                return module
            case "requires_grad_" | "parameters" | "named_parameters":
                tensors = self._named_parameters(module)
                if name == "requires_grad_":
                    return self._switch(module, tensors, arguments[0] if arguments else True, site)
                return [*tensors.values()] if name == "parameters" else [*tensors.items()]
            case "apply" if self.is_module(module) and arguments:
                for one in reversed(module.tree()):
                    self.invoke(arguments[0], [one], {}, site)
                return module
            case "register_forward_hook" | "register_forward_pre_hook" if arguments:
                return self._hook(module, name, arguments[0], keywords.get("with_kwargs") is True, site)
            case _ if name in HOOKS_BACKWARD and self.trace is None and arguments:
                return self._hook(module, name, arguments[0], False, site)
            case _ if isinstance(module.kind, str) and module.kind.startswith(OPTIMIZERS):
                return self._of_optimizer(module, name)
            case "start" | "run" if module.kind == "threading.Thread":
                own = module.attributes
                named = own["kwargs"] if isinstance(own["kwargs"], dict) else {}
                self.invoke(own["target"], [*self.each(own["args"])], named, site)
                return None
            case "submit" if module.kind == "concurrent.futures.ThreadPoolExecutor" and arguments:
                given = self.invoke(arguments[0], arguments[1:], keywords, site)
                return Object("concurrent.futures.Future", {"value": given})
            case _ if module.kind == _PARSER:
                return self._of_parser(module, name, arguments, keywords)
            case "enter_context" if module.kind == EXIT_STACK and arguments:
                module.items.append(arguments[0])
                return self.enter_context(arguments[0], "__enter__")
            case "result" if module.kind == "concurrent.futures.Future":
                return module.attributes["value"]
            case _ if name in NAMES["returns_self"]:
                return self._cast(module, sizes.cast(name, arguments, keywords))
        return self._of_container(module, name, arguments, keywords, site)

    def _of_parser(
        self, parser: Object, name: str, arguments: list[object], keywords: dict[str, object]
    ) -> object:
        """Call a method of a parser of options: of these only rates have the values of their defaults."""
        if name == "add_argument" and isinstance(default := keywords.get("default"), float):
            flags = [text for text in map(self.use, arguments) if isinstance(text, str)]
            flag = next((text for text in flags if text.startswith("--")), (*flags, "")[0])
            parser.attributes[str(keywords.get("dest", flag.lstrip("-").replace("-", "_")))] = default
        if name in {"add_argument_group", "add_mutually_exclusive_group"}:
            return parser
        given = Object(OPTIONS, dict(parser.attributes))
        return (given, UNKNOWN) if name == "parse_known_args" else given if name == "parse_args" else UNKNOWN

    def _hook(self, module: Object, name: str, function: object, named: bool, site: Site) -> Hook:
        """Put a hook on a module, before or behind its forward or its backward pass."""
        hook = Hook(module, function, "pre" in name, named, site, self.doubt > 0)
        if self.trace is None:
            (module.backward if name in HOOKS_BACKWARD else module.hooks).append(hook)
            self.affect()
        else:
            self.split()
        return hook

    def _switch(self, module: Object, tensors: Mapping[str, Tensor], wanted: object, site: Site) -> Object:
        """Freeze or thaw a module, at which the graph ends if that changes one of its parameters."""
        if any(tensor.grad is not wanted for tensor in tensors.values()):
            self.breaking("switch", site)
        for tensor in tensors.values():
            self.assign(tensor, "requires_grad", wanted, site)
        return module

    def enter_context(self, manager: object, method: str) -> object:
        """Enter a context manager, by a method if it is an object of the project; what `as` names."""
        if isinstance(manager, Manager) and not manager.before:
            self.enter(manager)
        elif isinstance(manager, Iterator):  # what a `contextmanager` of the project yields
            return next(manager, None)
        elif isinstance(manager, Object) and manager.kind == _NO_CONTEXT:
            return manager.attributes["enter_result"]
        elif isinstance(manager, Object):
            value = self.special(manager, method, [], self.current)
            return manager if value is MISSING else value
        return manager

    def _named_parameters(self, module: Object) -> dict[str, Tensor]:
        """The parameters of a module and of all in it, by the ways to them."""
        return {
            f"{way}.{name}".removeprefix("."): held
            for way, part in _named(module, deep=True)
            for name, held in ([*part.attributes.items()] if self.parameters(part) else ())
            if isinstance(held, Tensor)
        }

    def _state(self, module: Object, given: dict[object, object]) -> dict[object, object]:
        """The parameters and buffers of a module by their names; those that are given take their places."""
        found: dict[object, object] = {}
        for way, part in _named(module, deep=True):
            for name, held in [*part.attributes.items()] if self.parameters(part) else ():
                key = f"{way}.{name}".removeprefix(".")
                other = given.get(key)
                if isinstance(held, Tensor) and held.static:
                    found[key] = replace(held, marked=set())
                if isinstance(held, Tensor) and isinstance(other, Tensor):
                    self.assign(part, name, replace(other, static=held.static, grad=held.grad), self.current)
        return found

    def _cast(self, module: Object, dtype: str | None) -> Object:
        """Turn the parameters and buffers of a module to a dtype, in place."""
        for part in module.tree() if dtype is not None and self.is_module(module) else ():
            for one in self.parameters(part):
                if one.static and "float" in (one.dtype or ""):
                    self.wrote(one, "dtype", dtype)
                    one.dtype = dtype
        return module

    def _part(self, module: Object, way: str, site: Site) -> object:
        """Return the part of a module at a dotted way; the module itself at an empty one."""
        found: object = module
        for part in way.split(".") if way else ():
            if isinstance(found, Object) and part.isdecimal() and int(part) < len(found.items):
                found = self.read(found, "item", int(part), found.items[int(part)])
            else:
                found = self.attribute(found, part, site)
        return found

    def _of_container(
        self, module: Object, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a method about what a module holds."""
        match name:
            case "children" | "modules" | "named_children" | "named_modules":
                named = [
                    (way, self._part(module, way, site)) for way, _ in _named(module, deep="modules" in name)
                ]
                return named if name.startswith("named") else [part for _, part in named]
            case "register_buffer" | "register_parameter" if len(arguments) > 1:
                if isinstance(key := self.use(arguments[0]), str):
                    self.absent(module, "own", key, present=key in module.attributes)
                    module.buffers.add(key)
                    self.assign(module, key, arguments[1], site)
                return None
            case "get_submodule" | "get_parameter" | "get_buffer" if arguments:
                return self._part(module, str(self.use(arguments[0])), site)
            case "state_dict" | "load_state_dict" if self.is_module(module):
                given = arguments[0] if arguments else None
                assigns = name == "load_state_dict" and keywords.get("assign") is True
                return self._state(module, given if assigns and isinstance(given, dict) else {})
            case "values" | "items":
                held = [
                    (key, self.read(module, "attribute", key, one)) for key, one in module.attributes.items()
                ]
                return [pair[1] for pair in held] if name == "values" else held
            case "__call__" | "forward" | "_call_impl":
                if name in SPECIAL and module.compiled is not None:
                    self.note("forward", site, site, module, module.compiled)
                    return self.run_eagerly(module, arguments, keywords, site)
                return self.invoke(module, arguments, keywords, site)
            case _ if name in NAMES["registers_module"] or name in {"append", "extend"}:
                self.wrote(module, LENGTH, UNKNOWN)
                self.hold(module, arguments[-1:])
                return module
        made = self._of_every_object(module, name, arguments, site)
        if made is not MISSING:
            return made
        outside = [] if isinstance(module.kind, str) else self.project.external_bases(module.kind)
        inherits = any(base.partition(".")[0] not in _HARMLESS for base in outside)
        given = [*arguments, *keywords.values(), *([module] if inherits else [])]
        self.lost(given, site, f"`{name}` is not code of this project")
        return UNKNOWN

    def _of_tensor(
        self, tensor: Tensor, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a method of a tensor."""
        given, named = self._operands(name, arguments, keywords)
        if name == "requires_grad_":
            self.assign(tensor, "requires_grad", given[0] if given else True, self.current)
            return tensor
        if (answer := _of_kind(name, tensor)) is not None:
            return answer
        if name in {"item", "tolist"}:
            self.leaves_graph("scalar", NUMBERS, site)
            if name == "tolist":
                count = tensor.shape[0] if tensor.shape is not None and len(tensor.shape) == 1 else None
                if count is None:
                    return UNKNOWN
                return [self.measured(tensor, site) for _ in range(min(count, LONGEST))]
            return self.measured(tensor, site)
        result = sizes.method(tensor, name, given, named)
        if name == "size" and result is UNKNOWN and given:
            return Size(SOME)
        if isinstance(result, Tensor) and "requires_grad" in named:
            result.grad = named["requires_grad"] is True
            return result
        return self.tracked(result, [tensor, *given, *named.values()], name)

    def measured(
        self, tensor: Tensor | None = None, site: Site | None = None, *, whole: bool = False
    ) -> Measured | Size:
        """A number that tensors decide: that of a tensor is of its dtype, others are fractions or `whole`."""
        self.draws += 1
        whole = whole or (tensor is not None and tensor.dtype in _WHOLE)
        number = Size(SOME + 1 + self.draws) if whole else Measured(1 + self.draws / 64)
        if self.trace is not None:
            self.taken[number] = (site or self.current).place
        return number

    def _operands(
        self, name: str, arguments: list[object], keywords: dict[str, object]
    ) -> tuple[list[object], dict[str, object]]:
        """The operands of a function of torch: integers may be symbols, floats only in plain arithmetic."""
        if self.trace is not None:
            self.trace.computes = True
        return (
            [self._operand(name, one) for one in arguments],
            {key: self._operand(key, one) for key, one in keywords.items()},
        )

    def _operand(self, name: str, value: object) -> object:
        if isinstance(value, list | tuple) and self.trace is not None and is_small(value):
            self.length(value)
            return type(value)(self._operand(name, one) for one in self.each(value))
        if name in NAMES["arithmetic"]:
            return self.use(value, symbolic=True)
        if not isinstance(value, Sourced):
            return self.use(value)
        whole = all(isinstance(part.raw, int) for part in (value, *value.others))
        return self.sized(value) if whole else self.fixed(value)

    def _of_list(
        self, items: list[object], name: str, arguments: list[object], keywords: dict[str, object]
    ) -> object:
        """Call a method of a list."""
        if name in {
            "append",
            "extend",
            "insert",
            "pop",
            "clear",
            "popleft",
            "appendleft",
            "remove",
            "rotate",
        }:
            self.length(items)
        first = arguments[0] if arguments else None
        match name:
            case "append" if arguments:
                items.append(self.use(first, symbolic=True))
            case "extend" if arguments:
                items += self.elements(first)
            case "insert" if len(arguments) == 2 and isinstance(first, int):
                items.insert(first, self.kept(arguments[1]))
            case "appendleft" if arguments:
                items.insert(0, self.kept(first))
            case "rotate" if isinstance(turns := self.use(first) if arguments else 1, int) and items:
                turns %= len(items)
                items[:] = [*items[len(items) - turns :], *items[: len(items) - turns]]
            case "reverse":
                items.reverse()
            case "sort":
                items[:] = self._sorted([*self.each(items)], keywords, self.current)
                return None
            case "clear":
                items.clear()
            case "copy":
                return [*self.each(items)]
            case "remove" if arguments:
                place = next((n for n, one in enumerate(items) if one is first or one == first), None)
                if place is None:
                    return UNKNOWN
                del items[place]
            case "index" if arguments and is_key(self.use(first)):
                found = self.use(first)
                return items.index(found) if found in items else UNKNOWN
            case "pop" | "popleft":
                position = self.use(first) if arguments else -1
                if not items or not isinstance(position, int) or not -len(items) <= position < len(items):
                    return UNKNOWN
                gone = self.item(items, 0 if name == "popleft" else position)
                del items[0 if name == "popleft" else position]
                self.wrote(items, LENGTH, UNKNOWN)
                return gone
            case _:
                return UNKNOWN
        if isinstance(items, Queue):
            items.shorten(at_end=name == "appendleft")
        self.wrote(items, LENGTH, UNKNOWN)
        return None

    def _sorted(self, values: list[object], options: dict[str, object], site: Site) -> list[object]:
        """Values in order; of which none is known if what they are ordered by is not."""
        key = options.get("key")
        by = [self.use(self.invoke(key, [one], {}, site)) if key is not None else one for one in values]
        known = all(is_key(one) and not is_stand_in(one) for one in by)
        try:
            order = sorted(range(len(by)), key=by.__getitem__) if known else []  # type: ignore[arg-type]
        except TypeError:
            order = []
        found = [values[place] for place in order] or [UNKNOWN] * len(values)
        return found[::-1] if options.get("reverse") is True else found

    def _of_dict(
        self,
        items: dict[object, object],
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
    ) -> object:
        """Call a method of a dict."""
        key = self.use(arguments[0]) if arguments else None
        default = arguments[1] if len(arguments) > 1 else None
        match name:
            case "add" if is_key(key):
                self.put(items, key, None)
                return None
            case "remove" | "discard" if is_key(key) and key in items:
                self.length(items)
                del items[key]
                self.wrote(items, LENGTH, UNKNOWN)
                return None
            case "keys" | "values" | "items":
                self.length(items)
                held = [(one, self.read(items, "item", one, items[one])) for one in items]
                pairs = [(UNKNOWN if isinstance(one, Unknown) else one, value) for one, value in held]
                return pairs if name == "items" else [pair[name == "values"] for pair in pairs]
            case "get" | "setdefault" | "pop" if arguments and is_key(key):
                self.absent(items, "item", key, present=key in items)
                if key in items:
                    found = self.item(items, key)
                    if name == "pop":
                        del items[key]
                        self.wrote(items, LENGTH, UNKNOWN)
                    return found
                default = UNKNOWN if UNKNOWN in items else default
                if name == "setdefault":
                    self.put(items, key, default)
                return default
            case "get" if arguments and items.keys() <= {UNKNOWN}:  # by a key that is not known
                self.absent(items, "item", UNKNOWN, present=UNKNOWN in items)
                return UNKNOWN if items else default
            case "update" if isinstance(items, Counts):
                self._count(items, arguments, keywords)
                return None
            case "update":
                given = arguments[0] if arguments else {}
                known = given if isinstance(given, dict) else dict.fromkeys(items, UNKNOWN)
                for one, value in (known | keywords).items():
                    self.put(items, one, value)
                return None
            case "clear":
                self.length(items)
                items.clear()
                self.wrote(items, LENGTH, UNKNOWN)
                return None
            case "copy":
                return dict(items)
        return UNKNOWN

    def _count(self, counts: Counts, arguments: list[object], keywords: dict[str, object]) -> None:
        """Add to the counts of a `Counter`: what it is given once each, or by another number."""
        given = arguments[0] if arguments else {}
        pairs = [*given.items()] if isinstance(given, dict) else [(one, 1) for one in self.elements(given)]
        for key, number in (*pairs, *keywords.items()):
            known = self.use(key)
            if is_key(known):
                self.put(counts, known, self.binary(self.item(counts, known), ast.Add(), number))

    def _is_compiling(self, dotted: str) -> bool | None:
        """The answer of a function of torch that says whether code is compiled, scripted or exported."""
        if dotted in NAMES["compiling"]:
            return self.trace is not None
        never = dotted.startswith("torch.") and dotted.rpartition(".")[2] in NAMES["false_when_compiling"]
        return False if never else None

    def _external(
        self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        first = arguments[0] if arguments else None
        if (answer := self._is_compiling(dotted)) is not None:
            return answer
        if dotted in NAMES["compile"]:
            return self._compiling(dotted, arguments, keywords, site)
        if dotted in NAMES["makes_operator"] or dotted in NAMES["makes_faked_operator"]:
            kernel = next((one for one in (*arguments, *keywords.values()) if isinstance(one, Closure)), None)
            return Partial(External(dotted), [], {}) if kernel is None else replace(kernel, operator=True)
        if dotted in NAMES["disable"]:
            return Partial(External(dotted), [], keywords) if first is None else _disabled(first)
        if dotted in NAMES["copy"] and isinstance(first, Object | Wrapper | dict | Tensor):
            return self.copied(first, site, {})
        if dotted in NAMES["holding_copy"] and isinstance(first, Object):
            return Object(dotted, {"module": self.copied(first, site, {})})
        if dotted in NAMES["reset"]:
            self._reset(site)
            return None
        if dotted in NAMES["mark"] or dotted in NAMES["keep"]:
            self.affect()
            demanded = site if dotted in NAMES["demand"] else None
            _mark(arguments, keywords, demanded, static=dotted in NAMES["keep"])
            return None
        if dotted in MODES:
            return self._mode(dotted, arguments, keywords, site)
        if dotted in STANCE:
            stance = first if arguments else keywords.get("stance")
            skips = keywords.get("skip_guard_eval_unsafe") is True
            manager = Manager({STANCE_SETTING: stance, SKIPS: skips}, site)
            self.enter(manager)
            return manager
        if dotted in NAMES["patch"]:
            given = {str(key): value for key, value in keywords.items()}
            given |= first if isinstance(first, dict) else {}
            given |= {first: arguments[1]} if isinstance(first, str) and len(arguments) > 1 else {}
            return Manager({f"{CONFIGURATION}.{name}": value for name, value in given.items()}, site, dotted)
        if dotted.startswith(OPTIMIZERS):
            return self._optimizer(dotted, arguments, keywords)
        if dotted in NAMES["parameter"] or dotted in NAMES["buffer"]:
            return _held(first, dotted in NAMES["parameter"], arguments, keywords)
        if dotted.startswith(MODULES) and dotted.rpartition(".")[2][:1].isupper():
            return self._library_object(dotted, arguments, keywords)
        if dotted == "torch.nn.functional.linear":
            self.fixes("linear", arguments, site)
        if dotted in NAMES["calls_first"]:
            return self.invoke(first, arguments[1:], {}, site)
        if dotted in NAMES["makes_sizes"]:
            return (*self.each(first),) if arguments else ()
        if dotted.startswith("torch."):
            kind = self._kind_of(dotted)
            return Object(kind) if kind else self._operation(dotted, arguments, keywords)
        if dotted.rpartition(".")[2] in _SET_UPS and isinstance(first, Object | Wrapper):
            return first
        if dotted in NAMES["gives_tensor"]:
            return self.tracked(Tensor(), [one for one in arguments if isinstance(one, Tensor)])
        return self._python(dotted, arguments, keywords, site)

    def _reset(self, site: Site) -> None:
        """Forget all that was compiled."""
        self.affect()
        self.resets.append(site)
        self.caches.clear()

    def fixes(self, kind: str, arguments: list[object], site: Site) -> None:
        """Note that a layer fixes a size of its input that must be dynamic."""
        first = arguments[0] if arguments else UNKNOWN
        if self.trace is None or not isinstance(first, Tensor) or first.shape is None:
            return
        axis = sizes.fixed_axis(kind, len(first.shape))
        mark = first.demanded.get(axis) if axis is not None else None
        if axis is not None and mark is not None:
            trace = self.trace
            found = FixedSize(axis, kind, mark, site, trace.called, trace.compile, self.doubt > 0)
            self.pinned.setdefault(mark.place, found)

    def _compiling(
        self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call `torch.compile`: the compiled function or module, or a decorator if there is none yet."""
        given = arguments[0] if arguments else keywords.get("model")
        given = self.target_of(site) if given is UNKNOWN else given
        call = CompileCall(site, _known(keywords))
        owner = owner_of(given)
        if owner is not None and owner.scheduled and _name_of(bare(given)) == "step":
            row = self.table.named["wrapped step"]
            wrapped = GraphBreak(row, site, site, "", self.doubt > 0, call, site.node.lineno)
            self.breaks.setdefault((*site.place, row.code), wrapped)
        if given is None:
            return Partial(External(dotted), [], keywords)
        if isinstance(given, Closure) and given.disabled and given.receiver is None:
            given = Closure(given.where, given.outer, None, given.body, False, given.defaults)
        made = Wrapper(given.target if isinstance(given, Wrapper | Unwrapped) else given, call)
        self.wrapped.append(made)
        return made

    def _library_object(self, dotted: str, arguments: list[object], keywords: dict[str, object]) -> Object:
        """A module of torch, with what it is made with."""
        held, kind = Object(dotted), dotted.rpartition(".")[2]
        self.making(held, kind, arguments, keywords)
        if kind in NAMES["training"]:
            held.attributes["p"] = arguments[0] if arguments else keywords.get("p", UNKNOWN)
        self.hold(held, [one for one in arguments if isinstance(one, Object | list | dict | Iterator)])
        return held

    def making(self, module: Object, kind: str, arguments: list[object], keywords: dict[str, object]) -> None:
        """Give a module of torch what it is made with, and parameters of the sizes that follow."""
        given = dict(zip(SIGNATURES.get(kind, ()), arguments, strict=False)) | keywords
        shape = sizes.weights(kind, given)
        if keywords.get("bias") is False or kind in NAMES["without_bias"]:
            module.attributes["bias"] = None
        if kind in NAMES["strided"]:
            plain = {"stride": 1, "padding": 0, "dilation": 1} | given
            for name in ("kernel_size", "stride", "padding", "dilation"):
                value = plain.get(name, UNKNOWN)
                whole = isinstance(value, int) and not is_stand_in(value)
                module.attributes[name] = (value,) * int(kind[4]) if whole else value
        if shape is not None:
            module.attributes |= {name: given[name] for name in MADE_WITH[kind][:2]}
            self._learn(module, kind)
            for number, tensor in enumerate(self.parameters(module)):
                tensor.shape = shape[:1] if number else shape

    def _optimizer(self, dotted: str, arguments: list[object], keywords: dict[str, object]) -> object:
        """An optimizer of torch with the options of its one group, or a schedule with its optimizer."""
        made = Object(dotted)
        first = arguments[0] if arguments else UNKNOWN
        if isinstance(first, Object) and "param_groups" in first.attributes:
            self.affect()
            first.scheduled = True
            made.attributes |= {"optimizer": first, "lambda": arguments[1] if len(arguments) > 1 else UNKNOWN}
            return made
        self._grouped(made, first, {"lr": arguments[1] if len(arguments) > 1 else 0.001} | keywords)
        return made

    def _grouped(self, optimizer: Object, parameters: object, options: dict[str, object]) -> None:
        """Give an optimizer its groups of parameters."""
        given = [*islice(self.each(parameters), LONGEST)]
        groups = [one for one in given if isinstance(one, dict)] or [{"params": given}]
        optimizer.attributes |= {
            "param_groups": [options | group for group in groups],
            "defaults": options,
            "state": Defaults(External("builtins.dict"), {}),
        }

    def _of_optimizer(self, optimizer: Object, name: str) -> object:
        """Call a method of an optimizer, whose step reads its options, or of a schedule, which sets rates."""
        owner = optimizer.attributes.get("optimizer")
        if name == "step" and isinstance(owner, Object):
            groups = owner.attributes.get("param_groups")
            count = optimizer.attributes["last_epoch"] = self.binary(
                optimizer.attributes.get("last_epoch", 0), ast.Add(), 1
            )
            for group in groups if isinstance(groups, list) else ():
                if isinstance(group, dict) and isinstance(group.get("lr"), float | int):
                    base = group.setdefault("initial_lr", group["lr"])
                    rate = self.invoke(optimizer.attributes["lambda"], [count], {}, self.current)
                    self.put(
                        group,
                        "lr",
                        self.binary(base, ast.Mult(), rate if is_known(rate) else self.measured()),
                    )
        elif name == "step":
            symbols = CALCULATING.get(str(optimizer.kind), [])
            for group in self.each(self.attribute(optimizer, "param_groups", self.current)):
                for option in [*group] if isinstance(group, dict) else ():
                    self.use(self.item(group, option), option in symbols)
        return None

    def _operation(self, dotted: str, arguments: list[object], keywords: dict[str, object]) -> object:
        """Call a function of torch."""
        if arguments and isinstance(arguments[0], list | tuple):
            self.needs(*arguments[0])
        name = dotted.rpartition(".")[2]
        given, named = self._operands(name, arguments, keywords)
        if name == "is_tensor" and given:
            return self._is_instance(given[0], External("torch.Tensor"))
        if given and isinstance(given[0], Tensor) and (answer := _of_kind(name, given[0])) is not None:
            return answer
        first = given[0] if given else None
        if name in BOOL_FUNCTIONS or (name in GIVES_NO_TENSOR and isinstance(first, Tensor | None)):
            return UNKNOWN
        tensor = made(dotted, given, named)
        parts = [*given, *named.values()]
        parts += [one for part in given if isinstance(part, list | tuple) for one in part]
        inputs = [one for one in parts if isinstance(one, Tensor)]
        if dotted.endswith(".__init__"):
            if isinstance(first, Object) and self.is_module(first):
                self.making(first, dotted.split(".")[-2], given[1:], named)
            return None
        if tensor is None:
            called = [part for part in (*given, *named.values()) if not isinstance(part, list | dict)]
            self.lost(called, self.current, f"`{dotted}` calls what it is given")
            return self.tracked(Tensor(), inputs) if inputs else UNKNOWN
        if inputs and "requires_grad" not in named:
            return self.tracked(tensor, inputs, name)
        tensor.grad = named.get("requires_grad", False) is True
        return tensor

    def _mode(self, dotted: str, arguments: list[object], keywords: dict[str, object], site: Site) -> object:
        mode = MODES[dotted]
        given = [*arguments, *keywords.values()]
        if mode.manager and mode.value is not None and len(given) == 1 and isinstance(given[0], Closure):
            return Decorated(Manager({mode.name: mode.value}, site), given[0])
        if mode.value is None and not all(map(is_setting, given)):
            return Manager({}, site) if mode.manager else None  # to what, nothing shows
        value = mode.value if mode.value is not None else ", ".join(map(setting_text, given))
        if keywords.get("enabled") is False:
            value = mode.default or value
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
        if (computed := self._computed(dotted, arguments, site)) is not MISSING:
            return computed
        if module == "operator" and (made := self._operated(name, arguments)) is not MISSING:
            return made
        if name == "__call__" and module.startswith("operator.") and arguments:
            return self._asked_of(module.rpartition(".")[2], arguments, keywords, site)
        if dotted in {"builtins.isinstance", "builtins.callable"}:
            arguments = [self.typed(one) for one in arguments]
        elif name not in _TAKING_SOURCES:
            arguments = [self.use(one) for one in arguments]
            keywords = {key: self.use(one) for key, one in keywords.items()}
        first = arguments[0] if arguments else UNKNOWN
        if arguments and first is UNKNOWN and module == "builtins" and name in _TAKING_ALL:
            return UNKNOWN
        match module, name:
            case "builtins" | "builtins.object" | "inspect", _ if name in _REFLECTION:
                return self._reflection(name, arguments, site)
            case "builtins", "min" | "max" if "key" in keywords:
                found = self._sorted([*islice(self.each(first), LONGEST)], {"key": keywords["key"]}, site)
                return UNKNOWN if not found else found[0 if name == "min" else -1]
            case "builtins", _ if name in _NUMBERS:
                return self._number(name, arguments, site)
            case "math" | "numpy", _ if all(isinstance(one, int | float) for one in arguments):
                return _of_math(_OF_NUMPY.get(name, name) if module == "numpy" else name, arguments)
            case "builtins", "range" | "enumerate" | "zip" | "map" | "filter" | "iter" | "next":
                return self._iterator(name, arguments, keywords, site)
            case "builtins", "set" | "frozenset":
                return self.elements_of(islice(self.each(first), LONGEST) if arguments else [])
            case "builtins", "sorted":
                return self._sorted([*islice(self.each(first), LONGEST)], keywords, site)
            case "builtins", "list" | "tuple" | "reversed":
                values = [*islice(self.each(first), LONGEST)] if arguments else []
                return values[::-1] if name == "reversed" else values
            case "builtins", "len":
                return self._counted_by(first, site)
            case "json", "dumps" | "loads" if len(arguments) == 1 and not keywords:
                return _of_json(name, first)
            case "itertools", "filterfalse" | "takewhile" | "dropwhile" if len(arguments) == 2:
                return self._chosen(name, first, arguments[1], site)
            case ("itertools", "accumulate") | ("functools", "reduce"):
                return self._folded(name, arguments, keywords, site)
            case "itertools", "starmap" if len(arguments) == 2:
                return (self.invoke(first, [*self.each(one)], {}, site) for one in self.each(arguments[1]))
            case "itertools", "zip_longest":
                fill = keywords.get("fillvalue")
                return itertools.zip_longest(*(self.each(one) for one in arguments), fillvalue=fill)
            case "itertools.chain", "from_iterable" if arguments:
                return (part for one in self.each(first) for part in self.each(one))
            case "itertools", _ if not keywords:
                return self._endless(name, first, arguments)
            case "random" | "numpy.random", "randint" | "randrange" | "choice":
                return self._picked(name, arguments)
            case "os" | "os.environ", _:
                return self._environment(name, arguments, site)
        return self._standard(module, name, arguments, keywords, site)

    def _computed(self, dotted: str, arguments: list[object], site: Site) -> object:
        """The symbol that compiled code makes of symbols by a function; MISSING if it makes none."""
        if self.trace is None:
            return MISSING
        module, _, name = dotted.rpartition(".")
        self._meets(module, name, arguments, site)
        return self._calculated(dotted, arguments)

    def _meets(self, module: str, name: str, arguments: list[object], site: Site) -> None:
        """Notice a function of Python that needs the value in a tensor, or a number of a break."""
        tensor = any(isinstance(one, Tensor) for one in arguments)
        if tensor and (module == "math" or (module == "builtins" and name in {"repr", "complex"})):
            self.leaves_graph("scalar", NUMBERS, site)
        if module == "builtins" and name == "range":
            self.needs(*arguments)
            if tensor:
                self.breaking("scalar", site, "storm")
            nodes = site.node.args if isinstance(site.node, ast.Call) else []
            for number, node in zip(arguments, nodes, strict=False):
                self.counts(number, node, site.where)
                self.decided(number, site)
        if module == "builtins" and name in {"str", "repr"} and arguments:
            self.formats(arguments[0], "string", site, site.node)

    def _counted_by(self, value: object, site: Site) -> object:
        """The value of `len(…)`."""
        self.length(value)
        made = self.special(value, "__len__", [], site)
        return _length(value) if made is MISSING else made

    def _operated(self, name: str, arguments: list[object]) -> object:
        """The value of a function of `operator` that takes two operands; MISSING if it is none."""
        if len(arguments) == 2 and name in _BY_FUNCTION:
            return self.binary(arguments[0], _BY_FUNCTION[name], arguments[1])
        match name, arguments:
            case "getitem", [held, key]:
                return self.item(held, key)
            case "setitem", [list() | dict() as held, key, value]:
                self.put(held, self.use(key), value)
                return None
            case "methodcaller" | "attrgetter" | "itemgetter", [_, *_]:
                return Partial(External(f"operator.{name}.__call__"), arguments, {})
        return MISSING

    def _asked_of(
        self, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """The value that a function gives which `methodcaller`, `attrgetter` or `itemgetter` has made."""
        *given, owner = arguments
        if name == "methodcaller" and given and isinstance(first := self.use(given[0]), str):
            return self.invoke(self.attribute(owner, first, site), given[1:], keywords, site)
        found = []
        for one in given:
            value, way = owner, self.use(one)
            if name == "itemgetter":
                value = self.item(owner, one)
            elif isinstance(way, str):
                for part in way.split("."):
                    value = self.attribute(value, part, site)
            found.append(value)
        return found[0] if len(found) == 1 else tuple(found)

    def _picked(self, name: str, arguments: list[object]) -> object:
        """A random number, or a random element of a sequence."""
        first = arguments[0] if arguments else UNKNOWN
        if name == "choice":
            self.draws += 1
            return first[self.draws % len(first)] if isinstance(first, list | tuple) and first else UNKNOWN
        known = [one for one in arguments if isinstance(one, int)]
        return self._drawn(known) if len(known) == len(arguments) else UNKNOWN

    def _calculated(self, dotted: str, arguments: list[object]) -> object:
        """The symbol that a function of Python makes of symbols; MISSING if it takes them as constants."""
        flat = dotted == "builtins.sum" and len(arguments) == 1 and isinstance(arguments[0], list | tuple)
        values = [*arguments[0]] if flat and isinstance(arguments[0], list | tuple) else arguments
        symbols = self.symbols_of(values)
        whole = all(isinstance(one.raw, int) for one in symbols)
        calculating = NAMES["calculates_integers"] if whole else NAMES["calculates"]
        if dotted not in calculating or not symbols:
            return MISSING
        module, _, name = dotted.rpartition(".")

        def compute(*given: object) -> object:
            return (
                _of_math(name, [*given])
                if module == "math"
                else self._number(name, [[*given]] if flat else [*given], self.current)
            )

        return self.derived(values, compute)

    def _standard(
        self, module: str, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Make a value of a class of Python, or wrap a function in one."""
        first = arguments[0] if arguments else UNKNOWN
        match module, name:
            case "dataclasses", "replace" if isinstance(first, Object):
                return self._replaced(first, keywords)
            case "dataclasses", "field":
                return _default_of_field(keywords)
            case "dataclasses", "asdict" if isinstance(first, Object):
                return self._as_dict(first)
            case "threading", "Thread":
                return Object("threading.Thread", {"target": UNKNOWN, "args": (), "kwargs": {}} | keywords)
            case "concurrent.futures", "ThreadPoolExecutor":
                return Object("concurrent.futures.ThreadPoolExecutor")
            case "contextlib", "ExitStack" | "AsyncExitStack":
                return Object(EXIT_STACK)
            case "contextlib", "nullcontext":
                return Object(_NO_CONTEXT, {"enter_result": arguments[0] if arguments else None} | keywords)
            case "weakref", "proxy":
                return first
            case "weakref", "ref":
                return Object("weakref.ref", {"referent": first})
            case "types", "SimpleNamespace":
                return Object("types.SimpleNamespace", dict(keywords))
            case "types", "MethodType" if len(arguments) == 2 and isinstance(first, Closure):
                held = arguments[1]
                return first.bound(held) if isinstance(held, Object) else UNKNOWN
            case "collections", _:
                made = self._collection(name, arguments, keywords)
                if made is not MISSING:
                    return made
            case "collections.namedtuple", "made":
                fields = first if isinstance(first, tuple) else ()
                values = zip(map(str, fields), arguments[1:], strict=False)
                return Object(_NAMED_TUPLE, dict(values) | keywords)
            case "builtins.dict" | "collections.OrderedDict", "fromkeys" if arguments:
                keys = [*islice(self.each(first), LONGEST)]
                return dict.fromkeys(keys, (*arguments, None)[1]) if all(map(is_key, keys)) else UNKNOWN
            case "builtins", "dict":
                known = first if arguments else {}
                return known | keywords if isinstance(known, dict) else UNKNOWN
            case "builtins", "staticmethod":
                return Static(first)
            case "functools", "wraps" | "lru_cache" | "cache" | "singledispatch":
                return first if name == "cache" and isinstance(first, Closure) else UNKNOWN
            case "contextlib", "suppress":
                names = (one.dotted.rpartition(".")[2] for one in arguments if isinstance(one, External))
                return Catcher(frozenset(names), site)
            case "functools", "partialmethod":
                return PartialMethod(Partial(first, arguments[1:], keywords))
            case "functools", "partial":
                return Partial(first, arguments[1:], keywords)
        given = [*arguments, *keywords.values()]
        if module.partition(".")[0] in _HARMLESS:  # they call what they are given, and change nothing else
            given = [part for part in given if not isinstance(part, Object | list | dict)]
        self.lost(given, site, f"`{module}.{name}` is not code of this project")
        kind = self._kind_of(f"{module}.{name}")
        return Object(kind) if kind else UNKNOWN

    def _kind_of(self, dotted: str) -> str:
        """The class of a library of which a function gives an object; empty if nothing is said of it."""
        return _GIVES.get(dotted, dotted if dotted in self.table.makers else "")

    def _collection(self, name: str, arguments: list[object], keywords: dict[str, object]) -> object:
        """Make a container of `collections`; MISSING if it is none of those."""
        first = arguments[0] if arguments else UNKNOWN
        match name:
            case "defaultdict":
                known = arguments[1] if len(arguments) > 1 else {}
                return Defaults(first, known) if isinstance(known, dict) else UNKNOWN
            case "Counter":
                made = Counts(External("builtins.int"), {})
                self._count(made, arguments, keywords)
                return made
            case "OrderedDict" if not arguments:
                return dict(keywords)
            case "deque":
                longest = arguments[1] if len(arguments) > 1 else keywords.get("maxlen")
                held = [*islice(self.each(first), LONGEST)] if arguments else []
                return Queue(held, longest) if longest is None or isinstance(longest, int) else UNKNOWN
            case "namedtuple" if len(arguments) > 1:
                named = self.use(arguments[1])
                named = named.replace(",", " ").split() if isinstance(named, str) else named
                fields = tuple(named) if isinstance(named, list | tuple) else ()
                return Partial(External(_NAMED_TUPLE), [fields], {}) if fields else UNKNOWN
        return MISSING

    def _reflection(self, name: str, arguments: list[object], site: Site) -> object:
        """Ask about an object, or for an attribute by its name."""
        first = arguments[0] if arguments else UNKNOWN
        arguments = [*arguments[:1], *map(self.use, arguments[1:2]), *arguments[2:]]
        match name:
            case "isinstance" if len(arguments) == 2:
                return self._is_instance(first, arguments[1])
            case "isfunction" | "isclass" if first is not UNKNOWN:
                return isinstance(first, Closure if name == "isfunction" else ClassObject)
            case "callable":
                return True if isinstance(first, Closure | ClassObject | Wrapper | Partial) else UNKNOWN
            case "type" if len(arguments) == 1 and isinstance(first, Object):
                return self.attribute(first, "__class__", site)
            case "hasattr" if len(arguments) == 2 and isinstance(arguments[1], str):
                return self._has(first, arguments[1])
            case "vars" if isinstance(first, Object | FileValue):
                return Method(first, "__dict__")
            case "globals":
                return Method(FileValue(site.where.path), "__dict__")
            case "id" if isinstance(first, Object | Closure | list | dict | Tensor):
                return id(first)
            case "__setattr__" if len(arguments) == 3 and isinstance(arguments[1], str):
                self._shadow(first, arguments[1], arguments[2], site)
                return None
            case "setattr" if len(arguments) == 3 and isinstance(arguments[1], str):
                self.store(first, arguments[1], arguments[2], site)
                return None
            case "setattr" if len(arguments) == 3 and isinstance(first, Object) and self.is_module(first):
                self.give_up(site, "an attribute of a module is set whose name is not known")
                return None
            case "getattr" if len(arguments) > 1 and isinstance(arguments[1], str):
                if (
                    len(arguments) > 2
                    and isinstance(first, Object)
                    and self._has(first, arguments[1]) is False
                ):
                    return arguments[2]
                if len(arguments) == 2 and self._holds(first, arguments[1]) is False:
                    self.lacks("AttributeError")
                found = self.attribute(first, arguments[1], site)
                if isinstance(found, Method) and len(arguments) > 2:
                    return arguments[2] if isinstance(first, Object) else UNKNOWN
                return found
        return UNKNOWN

    def _number(self, name: str, arguments: list[object], site: Site) -> object:
        """Call a function of Python that gives a number, a text or a truth value."""
        first = arguments[0] if arguments else UNKNOWN
        match name:
            case "min" | "max" | "sum":
                values = arguments if len(arguments) > 1 else [*islice(self.each(first), LONGEST)]
                tensors = [one for one in values if isinstance(one, Tensor)]
                return self.tracked(Tensor(), tensors) if tensors else _reduced(name, values)
            case "float" | "int" | "bool" | "str" if isinstance(first, Tensor):
                self.leaves_graph("scalar", NUMBERS, site)
                return UNKNOWN if name == "str" else self.measured(site=site, whole=name == "int")
            case "float" | "int" if not arguments:
                return 0 if name == "int" else 0.0
            case "any" | "all":
                answers = [self.truth(one, site) for one in islice(self.each(first), LONGEST)]
                ends = name == "any"
                return ends if ends in answers else UNKNOWN if None in answers else not ends
            case "round" | "divmod" if all(isinstance(one, int | float) for one in arguments):
                return _of_builtin(name, arguments)
            case "int" | "float" | "str" | "bool" | "abs":
                return _cast(name, first)
        return UNKNOWN

    def _shadow(self, owner: object, name: str, value: object, site: Site) -> None:
        """Assign an attribute past `Module.__setattr__`: Dynamo goes on with the module of that name."""
        if (
            isinstance(owner, Object)
            and self.is_module(owner)
            and isinstance(owner.attributes.get(name), Object)
        ):
            owner.shadowed.add(name)
        self.assign(owner, name, value, site)

    def _replaced(self, value: Object, changes: dict[str, object]) -> Object:
        """A copy of a plain object with other values of some attributes."""
        held = {name: self.read(value, "attribute", name, one) for name, one in value.attributes.items()}
        return Object(
            value.kind,
            {name: self.use_raw(self.settled_number(one)) for name, one in (held | changes).items()},
        )

    def _as_dict(self, value: object) -> object:
        """The fields of a plain object by name, and those of the objects that they hold."""
        match self.use_raw(value):
            case Object(kind=ClassRef() as kind, attributes=held) if not self.project.is_module(kind):
                read = {name: self.read(value, "attribute", name, one) for name, one in held.items()}
                return {name: self._as_dict(one) for name, one in read.items()}
            case list() | tuple() as items:
                return type(items)(map(self._as_dict, items))
        return value

    def _is_instance(self, value: object, kinds: object) -> object:
        """Whether a value is of a class, or of one of several."""
        answers = [self._is_a(value, kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        return True if True in answers else UNKNOWN if None in answers else False

    def _is_a(self, value: object, kind: object) -> bool | None:
        match value, kind:
            case Object(ClassRef() as own), ClassObject(ref):
                return ref in self.project.mro(own)
            case Object(ClassRef() as own), External(dotted):
                bases = self.project.external_bases(own)
                if dotted == "torch.nn.Module":
                    return self.project.is_module(own)
                if dotted in bases:
                    return True
                known = set(bases) <= {"torch.nn.Module", "builtins.object"}
                plain = dotted.startswith("builtins.") and known
                return False if plain or dotted.startswith(MODULES) else None
            case Object(str() as own), External(dotted):
                if dotted == "torch.nn.Module":
                    return own.startswith(MODULES)
                known = own.startswith(MODULES) and dotted.startswith((*MODULES, "builtins."))
                return own == dotted if known else None
            case Object(str() as own), ClassObject():
                return False if own.startswith(MODULES) else None
            case Tensor(), _:
                return kind == External("torch.Tensor")
            case bool() | int() | float() | str() | list() | tuple() | dict() | None, External(dotted):
                return _is_plainly(value, dotted)
            case bool() | int() | float() | str() | list() | tuple() | dict() | None, ClassObject():
                return False
        return None

    def _has(self, owner: object, name: str) -> object:
        """Whether an object has an attribute, on which compiled code that asks is guarded."""
        there = self._holds(owner, name)
        if isinstance(owner, Object) and isinstance(owner.kind, ClassRef) and isinstance(there, bool):
            self.absent(owner, "attribute", name, present=there)
        return there

    def _holds(self, owner: object, name: str) -> object:
        """Whether an object has an attribute."""
        if not isinstance(owner, Object) or not isinstance(owner.kind, ClassRef):
            return UNKNOWN if not isinstance(owner, Object) or name not in owner.attributes else True
        there = self.peek(owner, name) is not MISSING or self.project.method(owner.kind, name) is not None
        known = self.project.external_bases(owner.kind) in ((), ("torch.nn.Module",), ("builtins.object",))
        return there if there or known else UNKNOWN

    def _iterator(
        self, name: str, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call a function of Python that iterates."""
        first = arguments[0] if arguments else UNKNOWN
        match name:
            case "range":
                known = [one for one in arguments if isinstance(one, int) and abs(one) < _LARGEST]
                whole = len(known) == len(arguments) and 0 < len(known) < 4 and (len(known) < 3 or known[2])
                return range(*known) if whole else self._uncounted(arguments)
            case "enumerate":
                start = arguments[1] if len(arguments) > 1 else keywords.get("start", 0)
                first_number = start if isinstance(start, int) else 0
                if isinstance(self.use_raw(first), _COUNTED):
                    return enumerate(self.each(first), first_number)
                later = (first_number + place for place in LATE)
                return Uncounted(self.rounds(range(first_number, first_number + ROUNDS)), later, pairs=True)
            case "zip":
                return zip(*(self.each(one) for one in arguments), strict=False)
            case "map" if len(arguments) > 1:
                given = zip(*(self.each(one) for one in arguments[1:]), strict=False)
                return (self.invoke(first, [*values], {}, site) for values in given)
            case "filter" if len(arguments) == 2:
                return self._chosen("filter", first, arguments[1], site)
            case "iter":
                return self.each(first)
            case "next" if isinstance(counter := self.use_raw(first), Object) and counter.kind == COUNT:
                return self.counted(counter)
            case "next" if isinstance(first, Iterator):
                self.effects += 1
                return next(first, UNKNOWN)
        return UNKNOWN

    def _uncounted(self, bounds: list[object]) -> Uncounted:
        """The numbers of a `range` whose end is not known."""
        start, _, step = (*bounds, 1)[:3] if len(bounds) > 1 else (0, UNKNOWN, 1)
        start = start if isinstance(start, int) and abs(start) < _LARGEST else 0
        step = step if isinstance(step, int) and 0 < step < _LARGEST else 1
        numbers = range(start, start + ROUNDS * step, step)
        return Uncounted(self.rounds(numbers), (start + place * step for place in LATE), pairs=False)

    def _chosen(self, name: str, asks: object, items: object, site: Site) -> object:
        """The items that a function lets through, such as `filter`; not known if one answer is not."""
        answers: list[bool | None] = []

        def lets_through(item: object) -> bool:
            answers.append(self.truth(item if asks is None else self.invoke(asks, [item], {}, site)))
            return bool(answers[-1])

        passed = [*_CHOOSING[name](lets_through, islice(self.each(items), LONGEST))]
        return UNKNOWN if None in answers else iter(passed)

    def _folded(self, name: str, arguments: list[object], keywords: dict[str, object], site: Site) -> object:
        """The value that `reduce` makes of some items, or each step of it, as `accumulate` gives them."""
        function, items, start = (*arguments, MISSING, MISSING, MISSING)[:3]
        if name == "accumulate":
            function, items, start = keywords.get("func", items), function, keywords.get("initial", start)
        if items is MISSING or function is None:
            return UNKNOWN

        def combine(before: object, item: object) -> object:
            if function is MISSING:
                return self.binary(before, ast.Add(), item)
            return self.invoke(function, [before, item], {}, site)

        first = [] if start is MISSING else [start]
        steps = [*itertools.accumulate(chain(first, islice(self.each(items), LONGEST)), combine)]
        return iter(steps) if name == "accumulate" else steps[-1] if steps else UNKNOWN

    def _endless(self, name: str, first: object, arguments: list[object]) -> object:
        """Call a function of `itertools`."""
        second = arguments[1] if len(arguments) > 1 else None
        match name:
            case "chain":
                return chain(*(self.each(one) for one in arguments))
            case "cycle":
                return cycle([*islice(self.each(first), LONGEST)])
            case "repeat":
                return repeat(first, second) if isinstance(second, int) else repeat(first)
            case "product" | "permutations" | "combinations" | "pairwise":
                given = [
                    one if isinstance(one, int) else [*islice(self.each(one), LONGEST)] for one in arguments
                ]
                with suppress(TypeError, ValueError):
                    return getattr(itertools, name)(*given)
            case "islice" if len(arguments) == 2 and isinstance(second, int):
                return islice(self.each(first), max(second, 0))
            case "count":
                start = first if isinstance(first, int) else 0
                return Object(COUNT, {"number": start, "step": second or 1})
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


def _default_of_field(options: Mapping[str, object]) -> object:
    """The default that `dataclasses.field` gives a field; MISSING if it gives none."""
    factory = options.get("default_factory", MISSING)
    return Fresh(factory) if factory is not MISSING else options.get("default", MISSING)


def _held(given: object, trains: bool, arguments: Sequence[object], keywords: Mapping[str, object]) -> Tensor:
    """The parameter, or else the buffer, that a module is given."""
    wanted = arguments[1] if len(arguments) > 1 else keywords.get("requires_grad", True)
    grad = trains and (wanted if isinstance(wanted, bool) else None)
    shape, dtype = (given.shape, given.dtype) if isinstance(given, Tensor) else (None, None)
    return Tensor(shape, static=True, grad=grad, dtype=dtype)


def _handed_back(arguments: list[object]) -> object:
    """The result of a call that gives back what it is given, in order."""
    return arguments[0] if len(arguments) == 1 else tuple(arguments)


def _named(module: Object, deep: bool) -> Iterator[tuple[str, Object]]:
    """The modules in a module with the ways to them; with `deep` all of them, itself first.

    Each is given once, as torch does: a part may lead back to what holds it.
    """
    pending, given = [("", module)], {id(module)}
    while pending:
        above, holder = pending.pop()
        if deep:
            yield above, holder
        parts: list[tuple[str, Object]] = []
        for name, part in (*holder.attributes.items(), *enumerate(holder.items)):
            if isinstance(part, Object) and id(part) not in given:
                given.add(id(part))
                parts.append((f"{above}.{name}" if above else str(name), part))
        if deep:
            pending += reversed(parts)
        else:
            yield from parts


def _is_plainly(value: object, dotted: str) -> bool | None:
    """Whether a value of Python is of a class by its dotted name; None if that is not known."""
    package, _, name = dotted.rpartition(".")
    if dotted.startswith("torch."):
        return dotted == "torch.Size" and None
    module = {"builtins": builtins, "numbers": numbers}.get(package, collections.abc)
    kind = getattr(module, name, None) if package in _OF_PYTHON else None
    if not isinstance(kind, type) or isinstance(value, Measured | Elements | Defaults):
        return None
    return isinstance(value, kind)


def bare(function: object) -> object:
    """A function without the context managers that decorators put around it."""
    while isinstance(function, Decorated):
        function = function.function
    return function


def owner_of(function: object) -> Object | None:
    """The object whose method a function is; None if it is of none."""
    method = bare(function)
    owner = method.receiver if isinstance(method, Closure | Method) else None
    return owner if isinstance(owner, Object) else None


def _name_of(method: object) -> str:
    """The name of a method; empty if it is none."""
    if isinstance(method, Closure):
        return method.where.name
    return method.name if isinstance(method, Method) else ""


def _of_kind(name: str, tensor: Tensor) -> bool | None:
    """Whether a tensor is of the kind that a function asks for; None if that is not known, or not asked."""
    if name in {"is_complex", "is_floating_point"} and tensor.dtype is not None:
        kinds = ("complex",) if name == "is_complex" else ("float", "bfloat", "half", "double")
        return tensor.dtype.removeprefix("torch.").startswith(kinds)
    return False if name in NAMES["false_of_plain_tensors"] else None


def _length(value: object) -> object:
    if isinstance(value, Tensor):
        size = value.shape[0] if value.shape else None
        return UNKNOWN if size is None else size
    items = value.items if isinstance(value, Object) else value
    return len(items) if isinstance(items, list | tuple | dict | str | range) else UNKNOWN


def _of_math(name: str, values: list[object]) -> object:
    if f"math.{name}" not in NAMES["quick"]:
        return UNKNOWN
    try:
        found = getattr(math, name)(*values)
    except (AttributeError, ArithmeticError, ValueError, TypeError):
        return UNKNOWN
    return found if isinstance(found, int | float) and abs(found) < _LARGEST else UNKNOWN


def _of_json(name: str, value: object) -> object:
    """The text of a known value, or the value that a short text holds."""
    if name == "dumps":
        parts = value if isinstance(value, list | tuple) else [value]
        known = is_known(value) and is_short(value) and not any(map(is_stand_in, parts))
        return text(lambda: json.dumps(value), "") if known else UNKNOWN
    if not isinstance(value, str) or not is_short(value):
        return UNKNOWN
    try:
        return json.loads(value, parse_constant=_float_in)
    except (ValueError, RecursionError):
        return UNKNOWN


def _of_builtin(name: str, values: list[object]) -> object:
    try:
        found = getattr(builtins, name)(*values)
    except (ArithmeticError, ValueError, TypeError):
        return UNKNOWN
    return found if is_known(found) else UNKNOWN


def _of_text(receiver: str, name: str, arguments: list[object]) -> object:
    known = all(map(is_known, arguments)) and not any(map(is_stand_in, arguments))
    if not (known and is_short([receiver, *arguments])):
        return UNKNOWN
    if name in {"format", "join"}:
        return text(lambda: getattr(receiver, name)(*arguments), receiver if name == "format" else "")
    try:
        found = getattr(receiver, name)(*arguments)
    except (IndexError, KeyError, ValueError, TypeError):
        return UNKNOWN
    return found if is_known(found) and is_short(found) else UNKNOWN


def _reduced(name: str, values: list[object]) -> object:
    numbers = [one for one in values if isinstance(one, int | float)]
    if not numbers or len(numbers) != len(values):
        return UNKNOWN
    found = sum(numbers) if name == "sum" else min(numbers) if name == "min" else max(numbers)
    if any(map(is_stand_in, numbers)):
        return Size(found) if isinstance(found, int) else Measured(found)
    return found


def _float_in(text: str) -> object:
    """The number that a text is, such as `inf` or `1e-3`; not known if it is none, or `nan`."""
    try:
        number = float(text)
    except ValueError:
        return UNKNOWN
    return UNKNOWN if math.isnan(number) else number


def _cast(name: str, value: object) -> object:
    """The value of `int(…)`, `str(…)` and the like."""
    if isinstance(value, str):
        if name == "int":
            return int(value) if value.isascii() and value.isdecimal() and len(value) < 9 else UNKNOWN
        if name == "float":
            return _float_in(value)
        return value if name == "str" else bool(value) if name == "bool" else UNKNOWN
    if isinstance(value, Member):
        return f"{value.kind.name}.{value.name}" if name == "str" else UNKNOWN
    if isinstance(value, Measured):
        return value if name in {"float", "abs", "int"} else UNKNOWN
    if isinstance(value, float) and name in {"float", "abs"}:
        return abs(value) if name == "abs" else value
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


def setting_text(value: object) -> str:
    """The text of what is passed."""
    return value.dotted if isinstance(value, External) else repr(value)


def _known(keywords: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    return tuple(
        (name, value) for name, value in keywords.items() if is_known(value) or name in {"backend", "options"}
    )


def _disabled(given: object) -> object:
    if isinstance(given, Closure):
        return Closure(given.where, given.outer, given.receiver, given.body, True, given.defaults)
    return given


def _mark(
    arguments: list[object], keywords: Mapping[str, object], demanded: Site | None, *, static: bool
) -> None:
    tensor = arguments[0] if arguments else UNKNOWN
    axes = arguments[1] if len(arguments) > 1 else keywords.get("index", keywords.get("dim"))
    if isinstance(tensor, Tensor):
        tensor.static = tensor.static or static
        if not static:
            given = axes if isinstance(axes, list | tuple) else (axes,)
            known = [one for one in given if isinstance(one, int)]
            tensor.marked.update(known)
            # torch keeps a negative axis as it is, and finds no size by that.
            tensor.demanded |= {one: demanded for one in known if demanded is not None and one >= 0}
