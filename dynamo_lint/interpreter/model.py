"""Values of the interpreter, and the calls of compiled code that it meets, in order."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.program.refs import ClassRef, FunctionRef

Cell = ast.expr | ast.stmt | ast.excepthandler


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the code."""

    where: FunctionRef
    node: Cell

    def __hash__(self) -> int:
        return hash((self.where, self.node.lineno, self.node.col_offset))

    @property
    def place(self) -> tuple[str, int]:
        """Its file and line."""
        return self.where.path, self.node.lineno


class _Methods(dict[type, str]):
    """By the type of a node, the name of the method about it: always one text, which Python finds fast."""

    def __missing__(self, kind: type) -> str:
        name = self[kind] = sys.intern(f"_{kind.__name__}")
        return name


METHOD_OF = _Methods()


class Unknown:
    """A value of which nothing is known."""

    __slots__ = ()


UNKNOWN = Unknown()


class Missing:
    """Stands for an attribute, item or name that is not there."""

    __slots__ = ()


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Source:
    """The way by which compiled code reaches a value (torch/_dynamo/source.py)."""

    root: str
    """`argument`, `global`, `closure` for a name around the compiled function, or `local` for what a frame
    that is resumed behind a graph break is handed."""
    name: str
    """The argument or the name; with the path of its file for a global."""
    steps: tuple[tuple[str, object], ...] = ()
    """`attribute`, `item`, `cell` of a function, `keyword` and `positional` of a partial, with its key."""
    static: bool = False
    """A module or a global is on the way: Dynamo takes the integers behind it for constants."""

    @property
    def way(self) -> tuple[object, ...]:
        """The whole way as one tuple."""
        return self.root, self.name, *self.steps

    def above(self) -> Iterator[tuple[object, ...]]:
        """The ways to all that holds it, one within the other."""
        return (self.way[:count] for count in range(2, 2 + len(self.steps)))

    def then(self, step: str, key: object, static: bool = False) -> Source:
        """The way to what is held by the value."""
        return Source(self.root, self.name, (*self.steps, (step, key)), self.static or static)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enum of the project."""

    kind: ClassRef
    name: str
    value: object = field(default=None, compare=False)


class Measured(float):
    """A number that tensors decide: another in every call, and no test of it is decided here."""

    __slots__ = ()


class Size(int):
    """A size of a tensor that is not known: at least 1, the same in every call."""

    __slots__ = ()


class Elements(dict[object, object]):
    """A set: its elements are the keys."""

    __slots__ = ()


class Uncounted(Iterator[object]):
    """The count of a loop of which nobody knows how long it is: its first rounds, and some later ones."""

    __slots__ = ("_first", "_last", "_later", "_pairs")

    def __init__(self, first: Iterator[int], later: Iterable[int], pairs: bool) -> None:
        self._first, self._later, self._pairs = first, iter(later), pairs
        self._last = -1

    def look_at(self, more: Iterable[int]) -> None:
        """Add some of the later rounds."""
        self._later = iter(sorted({*self._later, *more}))

    def __next__(self) -> object:
        number = next(self._first, None)
        while number is None or number <= self._last:
            number = next(self._later)  # or it ends
        self._last = number
        return (number, UNKNOWN) if self._pairs else number


class Defaults(dict[object, object]):
    """A `defaultdict`: what is missing is made when it is asked for."""

    __slots__ = ("factory",)

    def __init__(self, factory: object, given: Mapping[object, object]) -> None:
        super().__init__(given)
        self.factory = factory


class Queue(list[object]):
    """A `deque`, which may hold so many items at most."""

    __slots__ = ("longest",)

    def __init__(self, given: Iterable[object], longest: int | None) -> None:
        super().__init__(given)
        self.longest = longest
        self.shorten()

    def shorten(self, *, at_end: bool = False) -> None:
        """Take away what is too much, from the other end than items came in at."""
        if self.longest is not None:
            del self[slice(self.longest, None) if at_end else slice(0, max(len(self) - self.longest, 0))]


COUNT = "itertools.count"
"""The kind of an object that counts."""


class Counts(Defaults):
    """A `Counter`, whose `update` adds."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Static:
    """`staticmethod(function)` on a class."""

    function: object


@dataclass(slots=True, eq=False)
class Sourced:
    """A constant that compiled code has read and not used yet: Dynamo guards at the use."""

    raw: object
    """The value at its source."""
    source: Source
    compute: Callable[[object], object] | None = None
    """What arithmetic has made of it, if it is a symbol or is not guarded yet."""
    others: tuple[Sourced, ...] = ()
    """What was computed into it, and is guarded along with it."""
    operations: int = 0
    """How many made it of values that are not guarded yet."""

    @property
    def value(self) -> object:
        """The value itself."""
        return self.raw if self.compute is None else self.compute(self.raw)


@dataclass(frozen=True, slots=True)
class External:
    """Something outside the project, by dotted name."""

    dotted: str


@dataclass(frozen=True, slots=True)
class FileValue:
    """A file of the project, as a module."""

    path: str


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor: its sizes, None for one that is unknown, and the axes that are marked as dynamic."""

    shape: tuple[int | None, ...] | None = None
    marked: set[int] = field(default_factory=set)
    static: bool = False
    """Marked as static, or a parameter or buffer, whose sizes Dynamo takes for constants."""
    grad: bool | None = None
    """It requires a gradient; None if that is not known."""
    dtype: str | None = None
    """Such as `torch.float32`; None if that is not known."""
    demanded: dict[int, Site] = field(default_factory=dict)
    """The axes that must be dynamic, each with the line that says so."""

    @property
    def known(self) -> tuple[object, ...]:
        """All that Dynamo may guard on."""
        return self.shape, self.dtype, self.grad, self.static, frozenset(self.marked)


@dataclass(frozen=True, slots=True)
class CompileCall:
    """One `torch.compile(…)` or `module.compile(…)`, and the keywords whose values are known."""

    site: Site
    keywords: tuple[tuple[str, object], ...] = ()

    def keyword(self, name: str) -> object:
        """The value of a keyword; None if it is left out or unknown."""
        return dict(self.keywords).get(name)


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """A function that runs before or after the `forward` of a module; also the handle that removes it."""

    module: Object
    function: object
    before: bool
    keywords: bool
    site: Site
    doubt: bool


@dataclass(slots=True, eq=False)
class Object:
    """An instance of a class of the project, or of a library, with all that is known of its attributes."""

    kind: ClassRef | str
    attributes: dict[str, object] = field(default_factory=dict)
    items: list[object] = field(default_factory=list)
    """The modules in a container of torch."""
    compiled: CompileCall | None = None
    """It is compiled in place."""
    lost: Site | None = None
    """The copy for which it is no longer compiled, though what it is copied from is."""
    complete: bool = True
    """All that it holds is known."""
    chosen: bool = False
    """Another object stands in its place if a test that is not known comes out otherwise."""
    hooks: list[Hook] = field(default_factory=list)
    buffers: set[str] = field(default_factory=set)
    """The names of its parameters and buffers."""
    backward: list[Hook] = field(default_factory=list)
    """The hooks on its backward pass."""
    scheduled: bool = False
    """It is an optimizer whose `step` a schedule has wrapped (torch/optim/lr_scheduler.py)."""
    shadowed: set[str] = field(default_factory=set)
    """Its modules that an attribute hides which was set past `Module.__setattr__`."""

    def parts(self) -> Iterator[Object]:
        """The objects that it holds directly."""
        for value in (*self.attributes.values(), *self.items):
            if isinstance(value, Object):
                yield value
            elif isinstance(value, list):
                yield from (one for one in value if isinstance(one, Object))

    def tree(self) -> list[Object]:
        """The object and all that it holds."""
        found: dict[int, Object] = {}
        pending = [self]
        while pending:
            one = pending.pop()
            if id(one) not in found:
                found[id(one)] = one
                pending += one.parts()
        return [*found.values()]


Edge = tuple[FunctionRef, int, FunctionRef]
"""A call: the function and line that make it, and the function that it runs."""


@dataclass(slots=True, eq=False)
class Frame:
    """The names of a function while it runs, or of a file."""

    where: FunctionRef
    names: dict[str, object] = field(default_factory=dict)
    outer: Frame | None = None
    owner: ClassRef | None = None
    """The class around a method."""
    result: object = None
    may_return: bool = False
    """Some `return` stands behind a test that is not known."""
    traced: bool = False
    """It belongs to compiled code."""
    called: Site | None = None
    """The call that runs the function, or the one that a wrapper around it passes on."""
    comprehension: bool = False
    """It is that of a comprehension: what `:=` assigns in there belongs to the function around it."""
    edge: Edge | None = None
    """The call by which compiled code runs it."""
    held: int = 0
    """How many loops, handlers and the like of it are around the current statement."""
    carried: set[str] = field(default_factory=set)
    """The names that a resumed frame was handed, and has not read yet."""


@dataclass(slots=True, eq=False)
class Closure:
    """A function of the project, or a lambda, with the names around it; bound if `receiver` is set."""

    where: FunctionRef
    outer: Frame | None = None
    receiver: Object | ClassObject | None = None
    body: ast.Lambda | None = None
    disabled: bool = False
    defaults: dict[str, object] = field(default_factory=dict)
    """The values of defaults, from where the function is defined."""
    attributes: dict[str, object] = field(default_factory=dict)
    operator: bool = False
    """It is the kernel of an operator, into which Dynamo does not look."""

    def bound(self, receiver: Object | ClassObject | None) -> Closure:
        """The function as a method of an object."""
        return replace(self, receiver=receiver)


@dataclass(slots=True, eq=False)
class ClassObject:
    """A class of the project."""

    ref: ClassRef


@dataclass(slots=True, eq=False)
class Wrapper:
    """The result of `torch.compile`."""

    target: object
    call: CompileCall
    attributes: dict[str, object] = field(default_factory=dict)
    """What is set on it, if it is a function: the one behind it does not have that."""


@dataclass(slots=True, eq=False)
class Method:
    """A method of a value that has no code in the project."""

    receiver: object
    name: str


@dataclass(slots=True, eq=False)
class Partial:
    """`functools.partial(function, …)`."""

    function: object
    arguments: list[object]
    keywords: dict[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class PartialMethod:
    """`functools.partialmethod(function, …)` on a class."""

    partial: Partial


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """The default of a field that is made anew for each object."""

    factory: object


@dataclass(slots=True, eq=False)
class Either:
    """One of several functions, by a test that is unknown."""

    functions: tuple[object, ...]


@dataclass(slots=True, eq=False)
class Manager:
    """A context manager that changes settings: by name, the value while it is entered."""

    settings: dict[str, object]
    site: Site
    dotted: str = ""
    """The name of what has made it, if rows of the table of breaks may be about that."""
    before: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Met:
    """Something that happens to a call of compiled code."""

    what: str
    """`builtin`, `forward`, `unwrapped`, `copy`, `disabled`, `off`, `suppressed` or `swallowed` for a call
    that runs eagerly; `sizes`, or the name of a mode, for one that compiles again; `compiled` for one that
    does neither; `unguarded …` for one that should, and has no guard for it; `reset` for one behind a reset;
    `hiding` and `suppressing` for what would hide a failure."""
    site: Site
    """The line to change."""
    called: Site
    unit: str
    """Identity of what is compiled."""
    doubt: bool = False
    """Some test on the way to it is unknown."""
    compile: CompileCall | None = None
    static: bool = False
    """Its sizes are constants."""
    tried: bool = False
    """It is a test that does so."""
    guarded: bool = False
    """It is a switch that was turned under a test that is unknown."""
    states: tuple[tuple[object, Site], ...] = ()
    """Of a mode: the values that versions are for, with the calls that compiled them; the new one first."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call of a function of the project, the first of them all or the first that is sure to happen."""

    calls: int
    """How many calls of compiled code there had been."""
    doubt: bool
    site: Site


@dataclass(frozen=True, slots=True)
class FixedSize:
    """A size that must be dynamic, and meets a layer that fixes it."""

    axis: int
    layer: str
    mark: Site
    used: Site
    called: Site
    compile: CompileCall
    doubt: bool


@dataclass(slots=True, eq=False)
class Unwrapped:
    """The function or module below a wrapper: `compiled._orig_mod`."""

    target: object
    call: CompileCall
    changed: bool = False
    """It was given another `forward`."""


@dataclass(slots=True, eq=False)
class Decorated:
    """A function that runs inside a context manager."""

    manager: Manager
    function: object


@dataclass(slots=True, eq=False)
class Catcher:
    """`contextlib.suppress(…)`: a context manager that goes on behind some exceptions."""

    names: frozenset[str]
    site: Site


@dataclass(slots=True, eq=False)
class Parent:
    """`super()` in a method."""

    owner: ClassRef
    receiver: Object


class Failed(Exception):
    """A compiled call that raises, or a `raise` of the code itself."""

    def __init__(self, names: frozenset[str], called: Met | None = None) -> None:
        super().__init__()
        self.names = names
        """The exception's class and those that it inherits from."""
        self.called = called
        """The compiled call that failed."""


class Exhausted(Exception):
    """A run takes more steps or deeper calls than it may."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A place behind which a run refutes nothing: something there was not done as Python does it."""

    site: Site
    why: str


PLAIN = (int, float, str, bool, type(None))
LONGEST = 512
"""Elements of a container that are looked at, and parts of a value that are compared."""


def is_small(value: object) -> bool:
    """Whether a value has few parts, one that is held in several places counted at each of them."""
    if not isinstance(value, list | tuple):
        return True
    pending, count = [value], 0
    while pending:
        part = pending.pop()
        count += 1
        if isinstance(part, list | tuple):
            if count + len(pending) + len(part) > LONGEST:
                return False
            pending += part
    return True


def guarded_part(value: object) -> object:
    """The part of a value that a guard compares: a constant itself, the type of anything else."""
    return _guarded_part(value) if is_small(value) else UNKNOWN


def _guarded_part(value: object) -> object:
    match value:
        case Unknown():
            return value
        case bool() | int() | float() | str() | None | External() | Member():
            return value
        case tuple():
            return tuple(map(_guarded_part, value))
        case Object(kind):
            return ("type", kind)
        case Closure(where, _, _, body):
            return ("code", where, id(body))
        case ClassObject(ref):
            return ("class", ref)
        case Sourced():
            return _guarded_part(value.value)
    return ("type", type(value).__name__)


def is_known(value: object) -> bool:
    """Whether a value is a number, a text, None, or a small container of such."""
    return is_small(value) and _is_made_of(value, (list, tuple), PLAIN)


def unknown_key(items: Mapping[object, object]) -> Unknown:
    """A key that stands for one that is not known; a dict has more than it shows if UNKNOWN is one."""
    return Unknown() if UNKNOWN in items else UNKNOWN


def is_key(value: object) -> bool:
    """Whether a value can be looked up: a number, a text, None, a tensor, a class, a small tuple of such."""
    return is_small(value) and _is_made_of(value, (tuple,), (*PLAIN, Member, Tensor, ClassObject, External))


def _is_made_of(value: object, containers: tuple[type, ...], parts: tuple[type, ...]) -> bool:
    if isinstance(value, list | tuple) and isinstance(value, containers):
        return all(_is_made_of(part, containers, parts) for part in value)
    return isinstance(value, parts)


def is_stand_in(value: object) -> bool:
    """Whether a number stands for one that is not known."""
    return isinstance(value, Measured | Size)
