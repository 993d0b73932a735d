"""Follows named Python state from call to call: attributes of objects, globals, environment variables."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import torch

from dynamo_lint.confirm.child.values import displayed, displayed_tensor
from dynamo_lint.confirm.subjects import Subject

ABSENT = "absent"
SCANS = (0, 1, 2)
"""Before these calls all objects are searched for owners; later ones are met when their methods run."""

Scalar = (bool, int, float, str, bytes)


Root = tuple[str, int, str]
"""A function by file, first line and bare name."""

Owners = dict[str, dict[int, Any]]


@dataclass(slots=True)
class Watch:
    """The values that some state had, as short texts, when guards on it were or would have been checked."""

    subjects: tuple[Subject, ...]
    folder: Path
    roots: frozenset[Root] = frozenset()
    """The functions that Dynamo compiled: guards are checked when one of them starts."""
    owners: Owners = field(default_factory=dict)
    """Class name to the objects of it that were met, by identity."""
    seen: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """Subject to the values of each of its owners, repeated values once."""
    timeline: list[dict[str, str]] = field(default_factory=list)
    """For each call, every subject's values at its end, for those owners that a search finds in any run."""
    _scanned: Owners = field(default_factory=dict)
    _classes: frozenset[str] = frozenset()
    _started: bool = False
    """Objects that are still being built hold no state yet."""

    def __post_init__(self) -> None:
        self._classes = frozenset(subject.owner for subject in self.subjects if subject.owner)

    def before(self, call: int) -> None:
        """A call is about to be made."""
        self._started = True
        if call in SCANS:
            self._scan()
        if not self.roots:
            self._sample()

    def after(self, _call: int) -> None:
        """A call has been made."""
        now = self._now(self._scanned)
        self.timeline.append({text: " ".join(sorted(values.values())) for text, values in now})

    def on_enter(self, frame: FrameType) -> None:
        """A function of the project starts; its first argument may be an owner."""
        code = frame.f_code
        if not self._started:
            return
        if code.co_argcount and self._classes:
            first = frame.f_locals.get(code.co_varnames[0])
            for name in {cls.__name__ for cls in type(first).__mro__} & self._classes:
                self.owners.setdefault(name, {})[id(first)] = first
        if (code.co_filename, code.co_firstlineno, code.co_name) in self.roots:
            self._sample()

    def varied(self) -> dict[str, list[str]]:
        """Subject to the different values it had; one value if it never changed, none if it was never met."""
        found: dict[str, list[str]] = {}
        for subject in self.subjects:
            values = self.seen.get(subject.text, {})
            changed = next((history for history in values.values() if len(set(history)) > 1), None)
            across = dict.fromkeys(value for history in values.values() for value in history)
            found[subject.text] = list(dict.fromkeys(changed or ())) or list(across)[:1]
        return found

    def across(self) -> dict[str, list[str]]:
        """Subject to the different values that its owners had between them."""
        return {
            text: list(dict.fromkeys(value for history in values.values() for value in history))
            for text, values in self.seen.items()
        }

    def _scan(self) -> None:
        names = self._classes
        if not names:
            return
        gc.collect()  # what happens to be garbage still would make two runs differ
        matching: dict[type, list[str]] = {}
        for one in gc.get_objects():
            cls = type(one)
            if cls not in matching:
                matching[cls] = [base.__name__ for base in cls.__mro__ if base.__name__ in names]
                matching[cls] = matching[cls] if _current(cls) else []
            for name in matching[cls]:
                self.owners.setdefault(name, {})[id(one)] = one
                self._scanned.setdefault(name, {})[id(one)] = one

    def _sample(self) -> None:
        for text, now in self._now(self.owners):
            seen = self.seen.setdefault(text, {})
            for ident, value in now.items():
                history = seen.setdefault(ident, [])
                if not history or history[-1] != value:
                    history.append(value)

    def _now(self, owners: Owners) -> Iterator[tuple[str, dict[int, str]]]:
        for subject in self.subjects:
            if subject.environment:
                yield subject.text, {0: os.environ.get(subject.attribute, ABSENT)}
            elif subject.owner:
                met = owners.get(subject.owner, {})
                yield subject.text, {ident: _read(one, subject.attribute) for ident, one in met.items()}
            else:
                yield subject.text, dict(self._globals(subject.attribute))

    def _globals(self, name: str) -> Iterator[tuple[int, str]]:
        for module in _modules(self.folder):
            if name in vars(module):
                yield id(module), token(vars(module)[name])


def owners_of(subject: Subject, root: Path) -> list[Any]:
    """The objects, or modules for a global, whose attribute a subject is about."""
    if not subject.owner:
        return [module for module in _modules(root) if subject.attribute in vars(module)]
    found = []
    for one in gc.get_objects():
        cls = type(one)
        if any(base.__name__ == subject.owner for base in cls.__mro__) and _current(cls):
            found.append(one)
    return found


def token(value: Any, depth: int = 0) -> str:
    """A value as far as a guard could tell it from another."""
    if value is None or isinstance(value, Scalar):
        return displayed(value)
    if isinstance(value, torch.Tensor):
        return displayed_tensor(value)
    if isinstance(value, (list, tuple, set, frozenset, dict)) and depth < 2:
        items = list(value.items()) if isinstance(value, dict) else list(value)
        parts = ", ".join(token(item, depth + 1) for item in items[:8])
        return f"{type(value).__name__}({len(items)}: {parts})"
    return type(value).__qualname__


def _read(owner: Any, name: str) -> str:
    try:
        return token(getattr(owner, name))
    except Exception:
        return ABSENT


def _modules(root: Path) -> list[ModuleType]:
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_relative_to(root):
            found.append(module)
    return found


def _current(cls: type) -> bool:
    """A class of the program as it is loaded now, not of an earlier load of it."""
    if "<locals>" in cls.__qualname__:
        return True
    here: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        here = getattr(here, part, None)
    return here is cls
