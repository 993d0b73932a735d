"""Which plain values outlive the compiled calls: across instances of a class, and over time.

They are those of the compiled modules and of the objects in them, of the objects that a call is given, and of
the environment. A finding whose state never differed was not exercised, so it can be neither right nor wrong.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch

PLAIN = (type, FunctionType, MethodType, ModuleType, str, int, float, bool, torch.dtype)
"""What has no attributes that code would set."""

Snapshot = dict[tuple[int, str], str]

DEPTH = 5
"""Of objects in objects."""

OWN = frozenset(vars(torch.nn.Module()))
"""What every module holds for itself."""


class Attributes:
    """Values seen so far; `look` after each step."""

    def __init__(self, compiled: Sequence[torch.nn.Module]) -> None:
        self._compiled = compiled
        self._last: Snapshot = {}
        self._across: dict[str, set[str]] = defaultdict(set)
        self._changed: set[str] = set()
        self._seen: Snapshot = {}
        self._environment = dict(os.environ)
        self.look()

    def look(self) -> None:
        """Note every value, and which have changed since the last look."""
        now: Snapshot = {}
        for module in dict.fromkeys(inner for one in self._compiled for inner in one.modules()):
            names = [cls.__qualname__ for cls in type(module).__mro__ if issubclass(cls, torch.nn.Module)]
            for attribute, value in ((name, shown(held)) for name, held in values_of(module)):
                now[id(module), attribute] = value
                changed = self._last.get((id(module), attribute), value) != value
                for name in names[:-1]:
                    self._across[f"{name}.{attribute}"].add(value)
                    if changed:
                        self._changed.add(f"{name}.{attribute}")
            for name, held in vars(module).items():
                if name not in OWN:
                    self._objects(module, {name: held})
        self._last = now
        for name in {*os.environ, *self._environment}:
            subject = f'os.environ["{name}"]'
            self._across[subject].add(os.environ.get(name, ""))
            if os.environ.get(name) != self._environment.get(name):
                self._changed.add(subject)

    def watch(self) -> None:
        """Look at what the compiled modules are given from now on, by whoever calls them."""
        for module in self._compiled:
            inner = module._compiled_call_impl or module._call_impl
            module._compiled_call_impl = self._looking(module, inner)

    def _looking(self, module: torch.nn.Module, inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._objects(module, kwargs | dict(enumerate(args)))
            return inner(*args, **kwargs)

        return call

    def _objects(self, module: torch.nn.Module, roots: dict[Any, Any]) -> None:
        """Note the values in the objects below these, and which differ from those of an earlier look."""
        for path, owner, attribute, value in _plain(roots, "", 0):
            last = self._seen.setdefault((id(module), path), value)
            self._seen[id(module), path] = value
            for cls in type(owner).__mro__[:-1]:
                subject = f"{cls.__qualname__}.{attribute}"
                self._across[subject].add(value)
                if last != value:
                    self._changed.add(subject)

    def differing(self) -> list[str]:
        """`Class.attribute` of what has more than one value among the instances of a class."""
        return sorted(subject for subject, values in self._across.items() if len(values) > 1)

    def held(self) -> list[str]:
        """`Class.attribute` of everything that was looked at."""
        return sorted(self._across)

    def changed(self) -> list[str]:
        """`Class.attribute` of what had different values at different times in one instance."""
        return sorted(self._changed)


def _plain(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any, str, str]]:
    """Where each attribute of the plain objects in a value is, its owner, its name and what it holds."""
    if depth > DEPTH or isinstance(value, (torch.Tensor, torch.nn.Module, *PLAIN)):
        return
    if isinstance(value, dict):
        parts = [(f"{path}[{key!r}]", part) for key, part in value.items()]
    elif isinstance(value, (list, tuple)):
        parts = [(f"{path}[{number}]", part) for number, part in enumerate(value)]
    else:
        held = getattr(value, "__dict__", {})
        for name, inner in held.items():
            yield f"{path}.{name}", value, name, shown(inner)
        parts = [(f"{path}.{name}", inner) for name, inner in held.items()]
    for where, part in parts:
        yield from _plain(part, where, depth + 1)


def values_of(module: torch.nn.Module) -> list[tuple[str, Any]]:
    """The attributes, parts, weights and buffers of a module."""
    plain = [(name, value) for name, value in vars(module).items() if name not in OWN or name == "training"]
    parts = [*module._modules.items(), *module._parameters.items(), *module._buffers.items()]
    return [*plain, *parts]


def shown(value: Any) -> str:
    """Equal texts for what a guard would not tell apart; a module or an object by its class."""
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype)):
        return repr(value)[:80]
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(shown(part) for part in value[:16])})"
    if type(value) is dict:
        return f"dict({', '.join(f'{shown(key)}: {shown(part)}' for key, part in list(value.items())[:16])})"
    return f"{type(value).__module__}.{type(value).__qualname__}"
