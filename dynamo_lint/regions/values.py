"""What an expression may hold, as far as regions care: classes, instances, functions, containers of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import External, File


class Held(tuple[tuple["Value", Tier], ...]):
    """What one position of a container may hold: equal in any order, but walked in the order it was found.

    A set is walked in an order that differs from run to run, and with it would the chains that are shown.
    """

    _set: frozenset[tuple[Value, Tier]]

    def __new__(cls, items: Iterable[tuple[Value, Tier]] = ()) -> Held:
        """Hold these values."""
        held = super().__new__(cls, items)
        held._set = frozenset(held)
        return held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self._set == other._set

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._set)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: a function, and the class of its `self` on this path."""

    function: FunctionRef
    receiver: ClassRef | None = None
    given: tuple[tuple[str, Held], ...] = ()
    """What the one call in question passes for some of the parameters."""


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class of the project itself."""

    ref: ClassRef


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a project class."""

    ref: ClassRef


@dataclass(frozen=True, slots=True)
class Foreign:
    """An instance of a class outside the project."""

    dotted: str


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the project; bound if `receiver` is set."""

    ref: FunctionRef
    receiver: ClassRef | None = None


@dataclass(frozen=True, slots=True)
class Parent:
    """`super()`: attributes are looked up after `owner` in the MRO of `receiver`."""

    owner: ClassRef
    receiver: ClassRef


@dataclass(frozen=True, slots=True)
class Group:
    """A container; each position holds a set of possible values."""

    kind: str
    """`list`, `tuple`, `dict`, `sequential` (callable), or `each`: one position stands for all."""
    items: tuple[Held, ...]
    keys: tuple[str | None, ...] = ()

    def at(self, index: object) -> Iterator[Held]:
        """The positions that a literal index may name; all of them for an unknown one."""
        if self.kind in ("list", "tuple", "sequential") and isinstance(index, int):
            if -len(self.items) <= index < len(self.items):
                yield self.items[index]
        elif self.kind == "dict" and isinstance(index, str) and index in self.keys:
            yield from (item for key, item in zip(self.keys, self.items, strict=False) if key == index)
        else:
            yield from self.items


@dataclass(frozen=True, slots=True)
class Text:
    """A literal string: it may name an attribute."""

    value: str


Value = ClassValue | Instance | Foreign | FunctionValue | Parent | Group | Text | File | External
Values = Mapping[Value, Tier]
EMPTY: Values = {}


def union(parts: Iterable[Values], weakest: Tier = Tier.CERTAIN) -> Values:
    """All values of all parts, each at the best tier it was found at, but no better than `weakest`."""
    found: dict[Value, Tier] = {}
    for part in parts:
        for value, tier in part.items():
            tier = max(tier, weakest)
            if tier < found.get(value, Tier.ASSUMED + 1):
                found[value] = tier
    return found


def freeze(values: Values) -> Held:
    """Values as one position of a `Group`."""
    return Held(values.items())


def elements(values: Values) -> Values:
    """What iterating over the values yields."""
    return union(
        (dict(item) for value in values if isinstance(value, Group) for item in value.items),
        weakest=max(
            (tier for value, tier in values.items() if isinstance(value, Group)), default=Tier.CERTAIN
        ),
    )
