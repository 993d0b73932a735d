"""Calls that change nothing: the next one like them does the same, and is not run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dynamo_lint.dataclass import dataclass
from dynamo_lint.interpreter.guards import Trace
from dynamo_lint.interpreter.model import PLAIN, Closure, Met, Tensor, Unknown

_NUMBERS = (int, float)
CallKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that changed nothing, and compiled nothing."""

    since: object
    """What had been changed before it, as a count."""
    numbers: tuple[object, ...] | None
    """The numbers that it was given; None if what it gives does not depend on them."""
    result: object
    met: tuple[Met, ...]
    """The calls of other compiled code in it."""
    given: tuple[object, ...]
    """What it was given, held so that nothing else gets its identity."""

    def serves(self, since: object, numbers: tuple[object, ...]) -> bool:
        """Whether a call with these numbers, after so many changes, does the same."""
        return self.since == since and self.numbers in (None, numbers)


def compiled_key(
    trace: Trace | None, target: object, arguments: Sequence[object], keywords: Mapping[str, object]
) -> CallKey | None:
    """The version that serves a call with all that it is given; None if it compiles, or that is not known.

    Of numbers its guards have seen all that the version depends on, but not what its result does.
    """
    if trace is None or trace.serves is None or trace.unchecked:
        return None
    given = [*enumerate(arguments), *sorted(keywords.items())]
    return (id(trace.serves), identity(target), *((name, _kind(value)) for name, value in given))


def eager_key(
    function: Closure, arguments: Sequence[object], keywords: Mapping[str, object], doubt: int
) -> CallKey:
    """A function of the project with all that it is given."""
    given = [*enumerate(arguments), *sorted(keywords.items())]
    return (doubt > 0, identity(function), *((name, identity(value)) for name, value in given))


def identity(value: object) -> object:
    """Return what tells one value from another; methods and tensors are made anew all the time."""
    if isinstance(value, PLAIN):
        return type(value), value
    if isinstance(value, Tensor):
        return value.known
    if isinstance(value, Closure):
        return value.where, id(value.receiver), id(value.outer), id(value.body)
    return id(value)


def _kind(value: object) -> object:
    """Return what tells one argument from another, but for numbers."""
    return type(value) if type(value) in _NUMBERS else identity(value)


def numbers(arguments: Sequence[object], keywords: Mapping[str, object]) -> tuple[object, ...]:
    """The numbers that a call is given."""
    return tuple(value for value in (*arguments, *keywords.values()) if type(value) in _NUMBERS)


def is_of_sizes(result: object, arguments: Iterable[object]) -> bool:
    """Whether a result is made of tensors whose known sizes are all those of arguments."""
    if type(result) is tuple:
        return all(is_of_sizes(part, arguments) for part in result)
    if isinstance(result, Unknown):
        return True
    sizes = {size for value in arguments if isinstance(value, Tensor) for size in value.shape or ()}
    return isinstance(result, Tensor) and {*(result.shape or ())} <= {None, *sizes}


def is_settled(result: object) -> bool:
    """Whether a result is made of tensors alone, and of what is equal in each call."""
    if type(result) is tuple:
        return all(map(is_settled, result))
    return isinstance(result, (*PLAIN, Tensor, Unknown))


def anew(result: object) -> object:
    """A result of another call: its tensors are other ones."""
    if isinstance(result, Tensor):
        return replace(result, marked={*result.marked})
    return tuple(map(anew, result)) if type(result) is tuple else result
