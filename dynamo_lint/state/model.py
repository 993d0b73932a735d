"""Types of the state stage: values, places, reads, writes, lookups, and the table of one attribute."""

from __future__ import annotations

from enum import Enum

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import UNKNOWN, Expr
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position
from dynamo_lint.regions.model import CompiledFunction


class Kind(Enum):
    """The kind of a value, as far as guards are concerned."""

    INT = "int"
    BOOL = "bool"
    FLOAT = "float"
    STR = "str"
    TUPLE = "tuple"
    """A tuple of scalars; one that holds tensors is a CONTAINER."""
    ENUM = "enum member"
    NONE = "None"
    TENSOR = "tensor"
    COUNT = "itertools.count"
    CONTAINER = "container"
    OBJECT = "object"


Kinds = frozenset[Kind]
"""Everything a value can be; empty when unknown."""
SCALARS = frozenset({Kind.INT, Kind.BOOL, Kind.FLOAT, Kind.STR, Kind.TUPLE, Kind.ENUM})
"""Kinds that Dynamo guards by value."""


class Use(Enum):
    """How a value that was read is consumed; Dynamo guards here, not where the value is mentioned."""

    CONTROL = "control flow"
    COMPARE = "comparison"
    NONE_TEST = "is None"
    ARITHMETIC = "arithmetic"
    TENSOR_MATH = "tensor arithmetic"
    POWER = "power"
    INDEX = "index"
    KEY = "index of a Python container"
    ARGUMENT = "argument"
    HANDED_ON = "argument of some function"
    """Which function it is was decided elsewhere, and not each that it may be uses the value."""
    RECEIVER = "receiver"
    """`value.attribute` or `value.method()`: it cannot be None here."""
    RETURNED = "returned"
    STORED = "stored"
    NAMED = "bound to a local name"
    """A use where torch guards on what gets a name."""
    FORMATTED = "formatted"
    ITERATED = "iterated"


Place = tuple[str, ...]
"""A root name and a path: `("self", "cfg", "step")`, `("self", "stats", "['n']")`."""


@dataclass(frozen=True, slots=True)
class Load:
    """One mention of a place that holds state from before the call."""

    place: Place
    position: Position


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from, and what was done to it on the way."""

    source: str
    """`param`, `state`, `global`, `fresh`, `literal`, `item`, `shape`, `host` or `unknown`."""
    name: str = ""
    via: str = "plain"
    """`plain`, `computed`, `moved` (`.to()` and its kin), `text` (formatted into a string), `str` (through
    `str()`), `element`, or `index` (it was picked by it)."""


@dataclass(frozen=True, slots=True)
class Value:
    """The outcome of an expression in one call of a function."""

    kinds: Kinds = frozenset()
    constants: frozenset[str] | None = None
    """Source text of every value it can have, when all are literals."""
    pending: frozenset[Load] = frozenset()
    """State this is a plain copy of: not guarded until something consumes it."""
    derived: frozenset[Load] = frozenset()
    """State that it was computed from."""
    origins: frozenset[Origin] = frozenset()
    place: Place | None = None
    """The place this is another name for."""
    bound: int | None = None
    """At most this many distinct values over all calls; 0 means bounded by an unknown number."""
    largest: bool = False
    """The larger or smaller of itself and something else, as in `self.n = max(self.n, k)`."""
    items: tuple[Value, ...] | None = None
    """Elements of a tuple display."""
    settled: bool = False
    """It went into tensor arithmetic: later uses are uses of a tensor, not of the state behind it."""


@dataclass(frozen=True, slots=True)
class Key:
    """An attribute of a class: what all places in all functions are compared by."""

    owner: ClassRef
    """For a global or a closure cell: the module or function that holds it, written as a class."""
    attribute: str
    """A path below the instance: `n`, `cfg.step`, `stats['n']`."""

    @property
    def id(self) -> str:
        """The same as one text."""
        return f"{self.owner.path}::{self.owner.key}.{self.attribute}"

    def __lt__(self, other: Key) -> bool:
        return (self.owner, self.attribute) < (other.owner, other.attribute)


@dataclass(frozen=True, slots=True)
class EnclosingTest:
    """An enclosing test that mentions an attribute."""

    key: Key
    missing: bool
    """The test asks whether the attribute is absent, None or false."""
    limit: str | None = None
    """The comparison with something else, as in `>=4`; `>=?` if that is not a literal."""


@dataclass(frozen=True, slots=True)
class Read:
    """State that is consumed."""

    load: Load
    keys: frozenset[Key]
    use: Use


@dataclass(frozen=True, slots=True)
class Write:
    """A store to a place."""

    place: Place
    keys: frozenset[Key]
    position: Position
    value: Value
    guards: frozenset[EnclosingTest] = frozenset()
    registers: bool = False
    """It is `register_buffer` or another method that adds to a module."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of the length or the keys of a container."""

    place: Place
    keys: frozenset[Key]
    position: Position
    how: str
    """`grow`, `shrink`, `clear`, `item` (under some key), `element` (of a set) or `merge` (of two dicts)."""
    index: Value | None = None
    """The key, or the element of a set."""
    guards: frozenset[EnclosingTest] = frozenset()


@dataclass(frozen=True, slots=True)
class Callee:
    """A function of the project that a call may reach."""

    function: FunctionRef
    receiver: ClassRef | None
    explicit: bool = field(default=False, compare=False)
    """The call names the class and passes `self` itself: `Base.method(self, x)`."""


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A call of a project function, with what holds at that moment."""

    callee: Callee
    arguments: tuple[tuple[str, Value], ...]
    written: frozenset[Key]
    guards: frozenset[EnclosingTest]


@dataclass(frozen=True, slots=True)
class Lookup:
    """getattr and its kin, or a look into `__dict__`."""

    function: str
    """`getattr`, `setattr`, `hasattr`, `delattr` or `__dict__`."""
    position: Position
    text: str
    owner: str
    """Source of the object that is asked."""
    place: Place | None
    keys: frozenset[Key]
    """The attribute it asks for, when the name is constant and the object's class is known."""
    name: Value
    default: bool = False


@dataclass(frozen=True, slots=True)
class EnvironmentRead:
    """A read of the process environment."""

    position: Position
    form: str
    """`getenv`, `get`, `item`, `in`, `setdefault`, or `all` of it."""
    key: str
    """Source of the key; empty when it is the whole environment."""


@dataclass(frozen=True, slots=True)
class FunctionState:
    """The reads, writes and calls of one function, seen with one class of `self`."""

    reads: tuple[Read, ...] = ()
    writes: tuple[Write, ...] = ()
    mutations: tuple[Mutation, ...] = ()
    calls: tuple[CallEvent, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    environment: tuple[EnvironmentRead, ...] = ()
    leaves_written: frozenset[Key] = frozenset()
    """Attributes that are certainly written when it returns."""
    consumed: tuple[tuple[str, Use], ...] = ()
    """Parameters it consumes, so that what the caller passes is guarded."""
    returns: Kinds = frozenset()


@dataclass(frozen=True, slots=True)
class ReadSite:
    """A use of state, and the hot function it stands in."""

    hot: CompiledFunction
    position: Position
    use: Use


@dataclass(frozen=True, slots=True)
class WriteSite:
    """A write to state, and the hot function it stands in."""

    hot: CompiledFunction
    write: Write

    @property
    def position(self) -> Position:
        """Where the write stands."""
        return self.write.position


@dataclass(frozen=True, slots=True)
class MutationSite:
    """A change of a container, and the hot function it stands in."""

    hot: CompiledFunction
    mutation: Mutation

    @property
    def position(self) -> Position:
        """Where the change stands."""
        return self.mutation.position


@dataclass(frozen=True, slots=True)
class Outside:
    """A write outside hot code, known from the index alone."""

    path: str
    line: int
    column: int
    kinds: Kinds
    constant: str | None
    initial: bool
    """It belongs to construction: `__init__`, what it calls, the class body."""
    value: Expr = UNKNOWN
    where: FunctionRef | None = None
    augmented: bool = False
    """It is a `+=`."""
    generic: bool = False
    """The object may be of many classes, or of any below a base of many, so that it may well be another."""


@dataclass(frozen=True, slots=True)
class AttributeState:
    """Everything known of one attribute of one class."""

    key: Key
    declared_in: ClassRef
    """The class of the hierarchy that initialises it."""
    reads: tuple[ReadSite, ...]
    """Hot reads of what earlier calls left there."""
    writes: tuple[WriteSite, ...]
    """Hot writes to an object that outlives the call."""
    outside: tuple[Outside, ...]
    mutations: tuple[MutationSite, ...] = ()
    """Hot changes of its length or keys, where it holds a container."""
    external: bool = False
    """A base outside the project, other than `nn.Module`, may initialise it."""
    root: str = "state"
    """How hot code gets at the object: `state` (it belongs to a module that is compiled), `bound` (it belongs
    to a plain object with a compiled method), `argument` (of the compiled function), `global`, `closure`."""

    scoped: bool = False
    """It is a name of a module or function, not an attribute of a class."""
    chosen: bool = False
    """It belongs to one of several classes, of which the caller of the compiled code chooses one."""

    @property
    def argument(self) -> bool:
        """Dynamo treats a number in it like one that is passed in."""
        return self.root in {"bound", "argument", "closure"}
