"""Types of the comparison: an attribute that is not the same for all instances of a class."""

from __future__ import annotations

from enum import Enum

from dynamo_lint.dataclass import dataclass
from dynamo_lint.instances.terms import Term
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position


class DifferenceKind(Enum):
    """The kind of a difference."""

    SCALAR = "scalar"
    """A number, string or tuple: guarded by its value where it is used."""
    PART = "part"
    """A setting of a torch.nn module, which its forward reads."""
    VARIANT = "variant"
    """The type of a submodule, whether it is there, or which function is called."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many different values there are over all instances."""

    values: int | None
    """None if there is one per instance, and nobody says how many instances there are."""
    each: bool
    """Every instance has a value of its own."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One attribute that differs between instances of a unit."""

    unit: ClassRef
    owner: ClassRef
    """The class whose attribute it is: the unit, or the class of something inside it."""
    attribute: str
    sort: DifferenceKind
    count: Count
    samples: tuple[Term, ...]
    """The different values."""
    roots: frozenset[str]
    """The constructor parameters of the unit that it follows from."""
    path: str
    line: int
    """Where the instances are made."""
    stores: tuple[tuple[str, Position], ...]
    """Where the attribute gets its value, by path."""
    values: tuple[Term, ...]
    """Its value in every instance."""
    cause: tuple[Term, ...] | tuple[int, ...]
    """For every instance, what decides its value; equal for attributes that always differ together."""
    setting: str = ""
    """For a PART: the parameters of the torch.nn class that differ, and the class itself."""


@dataclass(frozen=True, slots=True)
class Units:
    """All differences of all regional units."""

    differences: tuple[Difference, ...] = ()
    skipped: tuple[tuple[ClassRef | FunctionRef, str], ...] = ()
    """Units and functions that make some whose differences were not all looked for, and why."""

    @property
    def names(self) -> frozenset[str]:
        """Names of attributes whose reads matter; that a submodule is called is known without them."""
        return frozenset(one.attribute for one in self.differences if one.sort == DifferenceKind.SCALAR)
