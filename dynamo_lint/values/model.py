"""Abstract values: classes, instances, functions and containers of them, and sets of these.

Values are tuples with a word for their `kind`, like the references they hold, because they are hashed and
compared more than anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef


class Slot(tuple[tuple["Value", Confidence], ...]):
    """The values that one position of a container may hold: equal in any order, walked in the order found.

    A set is walked in an order that differs from run to run, and with it would the chains that are shown.
    """

    _hash: int

    def __new__(cls, items: Iterable[tuple[Value, Confidence]] = ()) -> Slot:
        """Hold these values."""
        held = super().__new__(cls, items)
        held._hash = hash(frozenset(held))
        return held

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Slot) or self._hash != other._hash:
            return False
        return super().__eq__(other) or frozenset(self) == frozenset(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._hash


Written = tuple[tuple[str, str], ...]
"""The texts, or members of enumerations (`Mode.FAST`), that one call writes out for some parameters."""
Arguments = tuple[tuple[str, Slot], ...]
"""The values that one call passes for some of the parameters."""


class Context(NamedTuple):
    """Where an expression stands: a function, and the class of its `self` on this path."""

    function: FunctionRef
    receiver: ClassRef | None = None
    given: Arguments = ()
    """The arguments of the one call in question, for some of the parameters."""
    written: Written = ()
    """What this call writes out for parameters that the function compares with texts or members."""

    def passed(self, name: str) -> Slot | None:
        """The values that this call passes under a name; None if nothing is known of it."""
        return next((held for known, held in self.given if known == name), None)


class ClassValue(NamedTuple):
    """A class of the project itself."""

    ref: ClassRef
    sort: Literal["class"] = "class"


class Instance(NamedTuple):
    """An instance of a project class."""

    ref: ClassRef
    sort: Literal["instance"] = "instance"


class ExternalInstance(NamedTuple):
    """An instance of a class outside the project."""

    dotted: str
    sort: Literal["foreign"] = "foreign"


class AnonymousModule(NamedTuple):
    """The `nn.Module()` of one line: it has no code of its own, only what is hung on it."""

    path: str
    line: int
    sort: Literal["bare"] = "bare"


class FunctionValue(NamedTuple):
    """A function of the project; bound if `receiver` is set."""

    ref: FunctionRef
    receiver: ClassRef | None = None
    sort: Literal["function"] = "function"


class SuperProxy(NamedTuple):
    """`super()`: attributes are looked up after `owner` in the MRO of `receiver`."""

    owner: ClassRef
    receiver: ClassRef
    sort: Literal["parent"] = "parent"


class Container(NamedTuple):
    """A container; each position holds a set of possible values."""

    kind: str
    """`list`, `tuple`, `dict`, `sequential` (callable), or `each`: one position stands for all."""
    items: tuple[Slot, ...]
    keys: tuple[str | None, ...] = ()
    """Those of a dictionary, or the fields of a named tuple."""

    def at(self, index: object) -> Iterator[Slot]:
        """The positions that a literal index may name; all of them for an unknown one."""
        if self.kind in ("list", "tuple", "sequential") and isinstance(index, int):
            if -len(self.items) <= index < len(self.items):
                yield self.items[index]
        elif isinstance(index, str) and index in self.keys:
            known = zip(self.keys, self.items, strict=False)
            yield from (item for key, item in known if key is None or key == index)
        else:
            yield from self.items


class Compiled(NamedTuple):
    """A function from outside the project that was compiled at some line of it."""

    dotted: str
    path: str
    line: int
    sort: Literal["compiled"] = "compiled"


class Text(NamedTuple):
    """A literal string: it may name an attribute."""

    value: str
    sort: Literal["text"] = "text"


class LibraryRegistry(NamedTuple):
    """A registry of a library, by the line that makes it."""

    path: str
    line: int
    sort: Literal["kept"] = "kept"


class EntryPoint(NamedTuple):
    """An entry point of the project: what it names, to be loaded."""

    held: Slot
    sort: Literal["loadable"] = "loadable"


class ConfigKey(NamedTuple):
    """A key of a configuration that only the run knows, inside the function it is passed to."""

    name: str
    sort: Literal["key"] = "key"


Value = (
    ClassValue
    | Instance
    | ExternalInstance
    | AnonymousModule
    | FunctionValue
    | SuperProxy
    | Container
    | Compiled
    | Text
    | LibraryRegistry
    | EntryPoint
    | ConfigKey
    | File
    | ExternalSymbol
)
ValueSet = Mapping[Value, Confidence]
EMPTY: ValueSet = {}


def union(parts: Iterable[ValueSet], weakest: Confidence = Confidence.CERTAIN) -> ValueSet:
    """All values of all parts, each at the best tier it was found at, but no better than `weakest`."""
    first: ValueSet = EMPTY
    found: dict[Value, Confidence] | None = None
    for part in parts:
        if not part:
            continue
        if not first:
            first = part
            continue
        if found is None:
            found = dict(first)
        for value, confidence in part.items():
            known = found.get(value)
            if known is None or confidence < known:
                found[value] = confidence
    return at_best(first if found is None else found, weakest)


def one_of(options: Sequence[ValueSet]) -> ValueSet:
    """All values of what a test chooses between: likely, those that only some of the options give."""
    several = [values for values in options if values]
    if len(several) < 2:
        return union(several)
    return {
        value: confidence
        if all(value in values for values in several)
        else max(confidence, Confidence.LIKELY)
        for value, confidence in union(several).items()
    }


def at_best(values: ValueSet, weakest: Confidence) -> ValueSet:
    """The values, each at a tier no better than `weakest`."""
    if weakest is Confidence.CERTAIN or not values:
        return values
    return {value: confidence if confidence > weakest else weakest for value, confidence in values.items()}


def freeze(values: ValueSet) -> Slot:
    """Values as one position of a `Group`."""
    return _slot(tuple(values.items()))


@cache
def _slot(values: tuple[tuple[Value, Confidence], ...]) -> Slot:
    """One object for all positions that hold the same: four out of five do, and each has its own hash."""
    return Slot(values)


def each(values: ValueSet) -> ValueSet:
    """A container that may hold any of the values anywhere."""
    return {Container("each", (freeze(values),)): Confidence.CERTAIN}


def elements(values: ValueSet) -> ValueSet:
    """The values that iterating yields."""
    return union(
        (dict(item) for value in values if isinstance(value, Container) for item in value.items),
        weakest=max(
            (confidence for value, confidence in values.items() if isinstance(value, Container)),
            default=Confidence.CERTAIN,
        ),
    )


def flattened(values: ValueSet) -> ValueSet:
    """The values with containers (an `nn.Sequential`) replaced by what they hold; a tuple is no callable."""
    values = {
        v: confidence
        for v, confidence in values.items()
        if not (isinstance(v, Container) and v.kind == "tuple")
    }
    while any(isinstance(value, Container) for value in values):
        single: ValueSet = {
            value: confidence for value, confidence in values.items() if not isinstance(value, Container)
        }
        values = union([single, elements(values)])
    return values


def stored(parts: Iterable[tuple[str | None, ValueSet]]) -> ValueSet:
    """A container of what is put into it piece by piece, by the literal keys that are known."""
    by_key: dict[str | None, list[ValueSet]] = {}
    for key, values in parts:
        if values:
            by_key.setdefault(key, []).append(values)
    if not by_key:
        return EMPTY
    items = tuple(freeze(union(values)) for values in by_key.values())
    kind, keys = ("dict", tuple(by_key)) if any(by_key) else ("each", ())
    return {Container(kind, items, keys): Confidence.CERTAIN}


def functions_in(values: ValueSet) -> ValueSet:
    """Those of the values that are functions."""
    return {value: confidence for value, confidence in values.items() if isinstance(value, FunctionValue)}


def id_of(value: Value) -> str:
    """The path and name of a definition of the project that a value is, or is an instance of."""
    return value.ref.id if isinstance(value, Instance | ClassValue | FunctionValue) else ""
