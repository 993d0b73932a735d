"""Which plain values the compiled modules hold: across instances of a class, and over time.

A finding whose state never differed was not exercised, so it can be neither right nor wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch

Snapshot = dict[tuple[int, str], str]

OWN = frozenset(vars(torch.nn.Module()))
"""What every module holds for itself."""


class Attributes:
    """Values seen so far; `look` after each step."""

    def __init__(self, compiled: Sequence[torch.nn.Module]) -> None:
        self._compiled = compiled
        self._last: Snapshot = {}
        self._across: dict[str, set[str]] = defaultdict(set)
        self._changed: set[str] = set()
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
        self._last = now

    def differing(self) -> list[str]:
        """`Class.attribute` of what has more than one value among the instances of a class."""
        return sorted(subject for subject, values in self._across.items() if len(values) > 1)

    def held(self) -> list[str]:
        """`Class.attribute` of everything that was looked at."""
        return sorted(self._across)

    def changed(self) -> list[str]:
        """`Class.attribute` of what had different values at different times in one instance."""
        return sorted(self._changed)


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
    return f"{type(value).__module__}.{type(value).__qualname__}"
