"""Data classes whose methods are written late do what those of Python do."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, Any

import pytest

from dynamo_lint.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable


def of_both(make: Callable[[Any], type]) -> tuple[type, type]:
    """A class as it is made here, and by Python."""
    return make(dataclass), make(dataclasses.dataclass)


def point(kind: Any) -> type:
    @kind(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False)
        hidden: str = field(default="h", repr=False)

        @property
        def sum(self) -> int:
            return self.x + self.y

    return Point


def deeper(kind: Any) -> type:
    @kind(frozen=True, slots=True)
    class Base:
        a: int

    @kind(frozen=True, slots=True)
    class Deeper(Base):
        b: int = 3

    return Deeper


def counting(kind: Any) -> type:
    @kind(slots=True)
    class Counting:
        given: int
        doubled: int = field(init=False)

        def __post_init__(self) -> None:
            self.doubled = 2 * self.given

    return Counting


def alike(kind: Any) -> type:
    @kind(slots=True, eq=False)
    class Alike:
        a: int = 1

    return Alike


def hashed(kind: Any) -> type:
    @kind(frozen=True, slots=True)
    class Hashed:
        a: int

        def __hash__(self) -> int:
            return 7

    return Hashed


def text(value: object) -> str:
    """How a value is shown, without the function that its class is made in."""
    return repr(value).rpartition("<locals>.")[2]


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (point, [(1,), (1, 2), (1, 3), (1, 2, ["t"]), (1, 2, [], "other")]),
        (deeper, [(1,), (1, 3), (1, 4)]),
        (counting, [(1,), (2,)]),
        (hashed, [(1,), (2,)]),
    ],
)
def test_objects_are_shown_compared_hashed_and_copied_alike(
    make: Callable[[Any], type], given: list[tuple[Any, ...]]
) -> None:
    ours, theirs = of_both(make)
    for one in given:
        mine, other = ours(*one), theirs(*one)
        assert text(mine) == text(other)
        assert text(dataclasses.replace(mine)) == text(other)
        assert text(copy.deepcopy(mine)) == text(other)
        assert [ours(*two) == mine for two in given] == [theirs(*two) == other for two in given]
        if theirs.__hash__ is None:
            assert ours.__hash__ is None
        else:
            assert hash(mine) == hash(other)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(theirs)]


def test_those_that_are_not_compared_are_themselves_alone() -> None:
    ours = alike(dataclass)
    one, other = ours(), ours()
    assert one != other
    assert len({one, other, one}) == 2


def test_another_class_with_the_same_fields_is_not_equal() -> None:
    assert point(dataclass)(1) != point(dataclass)(1)


def test_a_mutable_default_is_made_for_each() -> None:
    ours = point(dataclass)
    assert ours(1).tags is not ours(1).tags


def test_what_is_missing_is_told_as_python_tells_it() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        point(dataclass)()
