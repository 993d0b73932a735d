"""Values of a rehearsal, and the calls of compiled code that it meets, in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

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


class Unknown:
    """A value of which nothing is known."""

    __slots__ = ()


UNKNOWN = Unknown()


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
    """Marked as static."""


@dataclass(frozen=True, slots=True)
class CompileCall:
    """One `torch.compile(…)` or `module.compile(…)`, and the keywords whose values are known."""

    site: Site
    keywords: tuple[tuple[str, object], ...] = ()

    def keyword(self, name: str) -> object:
        """The value of a keyword; None if it is left out or unknown."""
        return dict(self.keywords).get(name)


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

    def parts(self) -> Iterator[Object]:
        """The objects that it holds directly."""
        for value in (*self.attributes.values(), *self.items):
            if isinstance(value, Object):
                yield value
            elif isinstance(value, list):
                yield from (one for one in value if isinstance(one, Object))

    def tree(self) -> list[Object]:
        """The object and all that it holds."""
        found: list[Object] = []
        pending = [self]
        while pending:
            one = pending.pop()
            if one not in found:
                found.append(one)
                pending += one.parts()
        return found


@dataclass(slots=True, eq=False)
class Frame:
    """The names of a function while it runs, or of a file."""

    where: FunctionRef
    names: dict[str, object] = field(default_factory=dict)
    outer: Frame | None = None
    owner: ClassRef | None = None
    """The class around a method."""
    result: object = None


@dataclass(slots=True, eq=False)
class Closure:
    """A function of the project, or a lambda, with the names around it; bound if `receiver` is set."""

    where: FunctionRef
    outer: Frame | None = None
    receiver: Object | None = None
    body: ast.Lambda | None = None
    disabled: bool = False


@dataclass(slots=True, eq=False)
class ClassObject:
    """A class of the project."""

    ref: ClassRef


@dataclass(slots=True, eq=False)
class Wrapper:
    """The result of `torch.compile`."""

    target: object
    call: CompileCall


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


@dataclass(slots=True, eq=False)
class Manager:
    """A context manager that changes settings: by name, the value while it is entered."""

    settings: dict[str, object]
    site: Site
    before: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Met:
    """Something that happens to a call of compiled code."""

    what: str
    """`builtin`, `forward`, `unwrapped`, `copy`, `disabled`, `off`, `suppressed` or `swallowed` for a call
    that runs eagerly; `sizes`, or the name of a mode, for one that compiles again; `compiled` for one that
    does neither; `reset` for one behind a reset; `hiding` and `suppressing` for what would hide a failure."""
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
    """A rehearsal takes longer than it is worth."""
