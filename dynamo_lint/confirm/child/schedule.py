"""Sets state from outside between calls, as a scheduler or a setter in the user's program would."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynamo_lint.confirm.child.values import displayed
from dynamo_lint.confirm.child.watch import owners_of
from dynamo_lint.confirm.model import Setting
from dynamo_lint.logs.texts import Subject, read_subject

REPEATS = 2
"""Calls for each value: the second one shows whether the first settled it."""


@dataclass(slots=True)
class Schedule:
    """Assignments by the call they come before; the calls before `first` belong to the probe alone."""

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
