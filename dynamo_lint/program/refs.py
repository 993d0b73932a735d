"""References to definitions, and how surely a claim about them is proven: the currency of all later stages.

References are keys of nearly every table, and a tuple is hashed and compared several times as fast as a
dataclass; `kind` keeps tuples of different classes apart.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Literal, NamedTuple

from dynamo_lint.dataclass import dataclass

COMPILE = "torch.compile"


class Confidence(IntEnum):
    """How well a claim is proven; the weakest link of a chain decides, so tiers combine with `max`."""

    CERTAIN = 0
    """Bound by symbol: constructors, annotations, declarations in code or configuration."""
    LIKELY = 1
    """A flow-insensitive union, or a library convention."""
    POSSIBLE = 2
    """A guess by name, or one of many candidates: shown only on request."""

    @property
    def word(self) -> str:
        """The tier as the interface spells it."""
        return self.name.lower()


class FunctionRef(NamedTuple):
    """A function by file and key."""

    path: str
    key: str
    sort: Literal["function"] = "function"

    @property
    def id(self) -> str:
        """`path::qualname`, as in the interface; a repeated definition shares its qualname's id."""
        return f"{self.path}::{self.key.split('@')[0].split('#')[0]}"

    @property
    def name(self) -> str:
        """The bare function name, also of a repeated definition."""
        return self.key.split("@")[0].split("#")[0].rpartition(".")[2]

    def stands_in(self, other: FunctionRef) -> bool:
        """Whether it is a closure of another function."""
        return self.path == other.path and self.key.startswith(f"{other.key}.<locals>.")


@cache
def function_ref(path: str, key: str) -> FunctionRef:
    """The one reference to a function that all tables of a project share: they hold it a dozen times."""
    return FunctionRef(path, key)


class ClassRef(NamedTuple):
    """A class by file and key."""

    path: str
    key: str
    sort: Literal["class"] = "class"

    @property
    def id(self) -> str:
        """`path::qualname`, as in the interface."""
        return f"{self.path}::{self.key.split('#')[0]}"

    @property
    def name(self) -> str:
        """The bare class name."""
        return self.key.split("#")[0].rpartition(".")[2]


class Node(NamedTuple):
    """A function on one class of `self`."""

    function: FunctionRef
    receiver: ClassRef | None


class File(NamedTuple):
    """A module of the project, as a value of a name."""

    path: str
    sort: Literal["file"] = "file"


class ExternalSymbol(NamedTuple):
    """Something defined outside the project, by dotted name: `torch.nn.ModuleList`."""

    dotted: str
    sort: Literal["external"] = "external"


Symbol = ClassRef | FunctionRef | File | ExternalSymbol
"""Anything that a name may be bound to."""


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of a file: 1-based lines and columns, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
