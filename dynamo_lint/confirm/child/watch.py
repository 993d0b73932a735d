"""Named Python state from call to call, followed or set: attributes of objects, globals, the environment."""

from __future__ import annotations

import ast
import enum
import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, TypeVar

import torch

from dynamo_lint.confirm.child.stacks import qualified
from dynamo_lint.confirm.child.values import digest, displayed, displayed_tensor
from dynamo_lint.confirm.model import Met, Setting, Unit
from dynamo_lint.logs.texts import Subject, read_subject

ABSENT = "absent"
REPEATS = 2
"""Calls for each value that is set: the second one shows whether the first settled it."""
SCANS = (0, 1, 2)
"""Before these calls all objects are searched for owners; later ones are met when their methods run."""

Scalar = (bool, int, float, str, bytes)

KEYS = re.compile(r"""\[('[^']*'|"[^"]*"|-?\d+)\]""")

Timepoint = dict[str, tuple[str, ...]]
"""Subject to the values of all its owners."""

Key = tuple[str, int]
"""A function by file and first line."""

State = tuple[str, str]
"""A value as far as a guard could tell it from another, and the numbers in it."""

Told = TypeVar("Told")

Run = dict[tuple[str, int], State]
"""What one run of a unit met: the value of each subject in each of its owners, by their identity."""


@dataclass(slots=True)
class Values:
    """The different values of a subject that the compiled code of a unit met."""

    histories: dict[tuple[int, int], dict[str, None]] = field(default_factory=dict)
    """Per generation of compiled code and owner."""
    first: dict[int, dict[tuple[int, ...], str]] = field(default_factory=dict)
    """Per generation, for all owners that one run met, what they had then the first time."""
    numbers: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    """Per generation and owner, the numbers in those values."""

    def note(self, generation: int, now: dict[int, State]) -> None:
        """Note what the owners that one run met had then."""
        for owner, (value, numbers) in now.items():
            self.histories.setdefault((generation, owner), {})[value] = None
            self.numbers.setdefault((generation, owner), set()).add(numbers)
        together = " ".join(value for value, _ in now.values())
        self.first.setdefault(generation, {}).setdefault(tuple(sorted(now)), together)

    def met(self, subject: str, unit: int) -> Met:
        """All of it as plain data."""
        over_time = max((tuple(values) for values in self.histories.values()), key=len)
        across = max((tuple(dict.fromkeys(values.values())) for values in self.first.values()), key=len)
        seen = dict.fromkeys(value for values in self.histories.values() for value in values)
        recomputed = any(len(numbers) > 1 for numbers in self.numbers.values())
        return Met(subject, unit, over_time, across, tuple(seen), recomputed)


@dataclass(slots=True)
class Watch:
    """The values that some state had, as short texts, when guards on it were or would have been checked."""

    subjects: tuple[Subject, ...]
    folder: Path
    units: tuple[Unit, ...] = ()
    """The functions that Dynamo compiled: guards are checked when one of them starts."""
    timeline: list[Timepoint] = field(default_factory=list)
    """For each call, every subject's values at its end, for those owners that a search finds in any run."""
    _values: dict[tuple[str, int], Values] = field(default_factory=dict)
    """By subject and index of the unit."""
    _runs: dict[int, list[Run]] = field(default_factory=dict)
    """By index of the unit, its runs in the present call."""
    _kept: dict[int, Any] = field(default_factory=dict)
    """All owners that were met, so that no other object gets the identity of one."""
    _scanned: dict[str, dict[int, Any]] = field(default_factory=dict)
    """Class name to the objects of it that were found, by identity."""
    _by_class: dict[str, list[Subject]] = field(default_factory=dict)
    _by_key: dict[Key, int] = field(default_factory=dict)
    _matching: dict[type, tuple[Subject, ...]] = field(default_factory=dict)
    _started: bool = False
    """Objects that are still being built hold no state yet."""

    def __post_init__(self) -> None:
        for subject in self.subjects:
            if subject.owner and not subject.argument:
                self._by_class.setdefault(subject.owner, []).append(subject)
        self._by_key = {(one.path, one.first_line): index for index, one in enumerate(self.units)}

    def before(self, call: int) -> None:
        """A call is about to be made."""
        self._started = True
        if call in SCANS and self._by_class:
            self._scan()

    def after(self, call: int) -> None:
        """A call has been made."""
        now = ((one, self._scanned.get(one.owner, {}).values()) for one in self.subjects)
        self.timeline.append(
            {
                one.text: tuple(sorted(read(owner, one)[0] for owner in owners))
                if one.owner and not one.argument
                else tuple(value for value, _ in self._shared(one).values())
                for one, owners in now
            }
        )
        for index, runs in self._runs.items():
            generations = [generation for at, generation in self.units[index].runs if at == call]
            if len(runs) == len(generations):  # else some of them ran uncompiled, or within another unit
                for generation, run in zip(generations, runs, strict=True):
                    self._note(index, generation, run)
        self._runs.clear()

    def on_enter(self, frame: FrameType) -> None:
        """A function of the project starts; if it does so within units, they meet what it is handed."""
        if not self._started or not (around := self._units_around(frame)):
            return
        own = self._by_key.get(_key(frame))
        if own is not None:
            shared = {
                (one.text, owner): value
                for one in self.subjects
                for owner, value in self._shared(one).items()
            }
            self._runs.setdefault(own, []).append(shared)
        found = self._handed(frame)
        for index in around:
            for key, value in found.items():
                self._runs[index][-1].setdefault(key, value)

    def met(self) -> tuple[Met, ...]:
        """The values that the compiled code of each unit met."""
        return tuple(values.met(*key) for key, values in self._values.items())

    def _note(self, index: int, generation: int, run: Run) -> None:
        by_subject: dict[str, dict[int, State]] = {}
        for (text, owner), state in run.items():
            by_subject.setdefault(text, {})[owner] = state
        for text, now in by_subject.items():
            self._values.setdefault((text, index), Values()).note(generation, now)

    def _units_around(self, frame: FrameType | None) -> list[int]:
        """The units that run now, as far as this call began them, the innermost first."""
        found = []
        own = frame
        while frame is not None:
            index = self._by_key.get(_key(frame))
            if index is not None and (frame is own or index in self._runs):
                found.append(index)
            frame = frame.f_back
        return found

    def _handed(self, frame: FrameType) -> Run:
        """The state in what a function is handed: its arguments, what it closes over, and what those hold."""
        run: Run = {}
        handed = dict(frame.f_locals)
        name = qualified(frame.f_code)
        for subject in self.subjects:
            closed_over = not subject.owner and subject.attribute in frame.f_code.co_freevars
            if subject.attribute in handed and (closed_over or (subject.argument and subject.owner == name)):
                run[subject.text, 0] = state_of(handed[subject.attribute])
        for one in _within(handed.values()) if self._by_class else ():
            for subject in self._about(type(one)):
                self._kept[id(one)] = one
                run[subject.text, id(one)] = read(one, subject)
        return run

    def _about(self, cls: type) -> tuple[Subject, ...]:
        """The subjects that are attributes of the objects of a class."""
        if cls not in self._matching:
            names = [base.__name__ for base in cls.__mro__ if base.__name__ in self._by_class]
            told = names if names and _current(cls) else []
            self._matching[cls] = tuple(subject for name in told for subject in self._by_class[name])
        return self._matching[cls]

    def _scan(self) -> None:
        gc.collect()  # what happens to be garbage still would make two runs differ
        for one, subjects in _each_with(self._about):
            for subject in subjects:
                self._scanned.setdefault(subject.owner, {})[id(one)] = one

    def _shared(self, subject: Subject) -> dict[int, State]:
        """The value of state that belongs to no object: a variable of the environment, or globals."""
        if subject.environment:
            return {0: (os.environ.get(subject.attribute, ABSENT), "")}
        if subject.owner:
            return {}
        modules = (one for one in _modules(self.folder) if subject.attribute in vars(one))
        return {id(one): read(one, subject) for one in modules}


def owners_of(subject: Subject, root: Path) -> list[Any]:
    """The objects, or modules for a global, whose attribute a subject is about."""
    if not subject.owner:
        return [module for module in _modules(root) if subject.attribute in vars(module)]

    def owns(cls: type) -> bool:
        return any(base.__name__ == subject.owner for base in cls.__mro__) and _current(cls)

    return [one for one, _ in _each_with(owns)]


def _each_with(told: Callable[[type], Told]) -> Iterator[tuple[Any, Told]]:
    """Every object of whose class anything is told, with that; a process with torch has a few thousand
    classes, and a few hundred thousand objects."""
    by_class: dict[type, Told] = {}
    for one in gc.get_objects():
        cls = type(one)
        if cls not in by_class:
            by_class[cls] = told(cls)
        if by_class[cls]:
            yield one, by_class[cls]


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


def state_of(value: Any) -> State:
    """A value as far as a guard could tell it from another, and the numbers in it."""
    numbers = ""
    with suppress(Exception):
        numbers = str([*digest(value)])
    return token(value), numbers


def read(owner: Any, subject: Subject) -> State:
    """The value of a subject in one of its owners."""
    try:
        return state_of(_item(getattr(owner, subject.attribute), subject))
    except Exception:
        return ABSENT, ""


def _item(value: Any, subject: Subject) -> Any:
    """The item of a container that a subject names, or the whole where it names no single one."""
    keys = KEYS.findall(subject.inside)
    if "".join(f"[{key}]" for key in keys) == subject.inside:
        for key in keys:
            value = value[ast.literal_eval(key)]
    return value


def _within(handed: Iterable[Any], deeper: int = 2) -> Iterator[Any]:
    """Objects handed to a function, and those in their attributes; modules there are met when they run."""
    for one in handed:
        yield one
        if deeper and not issubclass(type(one), (type, FunctionType, ModuleType)):
            held: list[Any] = []
            with suppress(Exception):  # of a slot, or of a proxy
                held = [part for part in vars(one).values() if not isinstance(part, torch.nn.Module)]
            yield from _within(held, deeper - 1)


def _key(frame: FrameType) -> Key:
    return frame.f_code.co_filename, frame.f_code.co_firstlineno


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


@dataclass(slots=True)
class Schedule:
    """Assignments as a scheduler in the user's program makes them, by the call they come before.

    The calls before `first` belong to the probe alone.
    """

    settings: Sequence[Setting]
    root: Path
    first: int
    problems: list[str] = field(default_factory=list)
    _saved: list[tuple[Any, str, Any]] = field(default_factory=list)
    _plan: dict[int, tuple[Subject, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        call = self.first
        for setting in self.settings:
            subject = read_subject(setting.subject)
            for index in range(len(setting.values) or 3):
                if subject is not None:
                    self._plan[call] = subject, index
                    call += REPEATS
        self.calls = call

    calls: int = 0
    """Calls in all."""

    def before(self, call: int) -> None:
        """Set what is planned before a call."""
        if call not in self._plan:
            return
        subject, index = self._plan[call]
        if index == 0:
            self.restore()
        given = next(one.values for one in self.settings if one.subject == subject.text)
        owners = owners_of(subject, self.root)
        if not owners:
            self.problems.append(f"{subject.text} was not found and could not be set")
        try:
            for owner in owners:
                self._set(owner, subject.attribute, given, index)
        except Exception as error:
            self.problems.append(f"{subject.text} cannot be set: {error}"[:200])

    def restore(self) -> None:
        """Give everything the value back that it had."""
        for owner, name, value in reversed(self._saved):
            setattr(owner, name, value)
        self._saved.clear()

    def _set(self, owner: Any, name: str, given: tuple[Any, ...], index: int) -> None:
        original = next((old for one, key, old in self._saved if one is owner and key == name), None)
        if original is None:
            original = getattr(owner, name)
            self._saved.append((owner, name, original))
        values = given or others(original)
        if index < len(values):
            setattr(owner, name, values[index])
        elif not values:
            self.problems.append(
                f"no other values are known for {name} = {displayed(original)}; give some with --set"
            )


def others(value: Any) -> tuple[Any, ...]:
    """Up to three values of the same kind; not only 0 and 1, which Dynamo always treats as constants."""
    match value:
        case bool():
            return (not value, value, not value)
        case enum.Enum():
            return tuple(one for one in type(value) if one is not value)[:3]
        case int():
            return (value + 2, value + 5, value + 9)
        case float():
            return (value * 0.5 + 0.125, value * 0.25 + 0.375, value * 0.75 + 0.0625)
        case _:
            return ()
