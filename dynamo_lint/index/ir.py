"""The intermediate representation of one file: expressions, statements that matter, functions, classes."""

from __future__ import annotations

from bisect import bisect_right

from dynamo_lint.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Name:
    """A name looked up in its scope: `x`."""

    id: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """`value.name`."""

    value: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """`function(*arguments, **keywords)`; a keyword name of None is a `**` argument."""

    function: Expr
    arguments: tuple[Expr, ...] = ()
    keywords: tuple[tuple[str | None, Expr], ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Subscript:
    """`value[index]`."""

    value: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal string, number, bool or None."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Display:
    """A display or comprehension; a dict keeps its values and literal keys."""

    kind: str
    """`list`, `tuple`, `set`, `dict`, or `each` for a comprehension: any number of such items."""
    items: tuple[Expr, ...]
    keys: tuple[str | None, ...] = ()
    over: tuple[Expr, ...] = ()
    """The iterables of a comprehension, outermost first: they say how many items there are."""


@dataclass(frozen=True, slots=True)
class Element:
    """The values that iterating over `iterable` yields: a loop or comprehension variable."""

    iterable: Expr


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several: `a if c else b`, `a or b`, a name assigned more than once."""

    options: tuple[Expr, ...]
    asks: str | None = None
    """The parameter of a constructor that takes the first option where it is on, and else the second."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, lambda or class defined in this file, by its key."""

    key: str


@dataclass(frozen=True, slots=True)
class Import:
    """`import module` (name is None) or `from module import name`; level counts leading dots."""

    module: str
    name: str | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class Typed:
    """Some instance of the annotated type: what `x: annotation` tells about x."""

    annotation: Expr


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`value` where a test has shown that it is an instance of `types`, or that it is not."""

    value: Expr
    types: Expr
    holds: bool = True


@dataclass(frozen=True, slots=True)
class UnknownExpression:
    """An expression that can be neither a module, a class nor a function we could name."""


Expr = (
    Name
    | Attribute
    | Call
    | Subscript
    | Constant
    | Display
    | Element
    | Choice
    | Definition
    | Import
    | Typed
    | Narrowed
    | UnknownExpression
)
UNKNOWN = UnknownExpression()
MODULE_KEY = "<module>"
"""The key of the pseudo-function that holds a file's top-level statements."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function."""

    name: str
    kind: str
    """`positional`, `vararg`, `keyword` or `kwarg`."""
    annotation: Expr | None = None
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """`name = value` in the scope that holds it; order is kept, flow is not."""

    name: str
    value: Expr
    line: int
    augmented: bool = False
    """It is `name += value`."""
    within: tuple[int, int] | None = None
    """The lines of the comprehension that binds it and that alone sees it."""


@dataclass(frozen=True, slots=True)
class Store:
    """`owner.name = value`; `owner[...] = value` and `owner.append(value)` have the name `[]`."""

    owner: Expr
    name: str
    value: Expr
    line: int
    augmented: bool = False
    """It is `owner.name += value`."""
    index: Expr | None = None
    """The index of `owner[index] = value`."""


ITEM = "[]"
"""The name of a `Store` into a container."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call as it stands in a function's own body."""

    call: Call
    eager: bool = False
    """The call stands where `torch.compiler.is_compiling()` is false."""
    condition: str | None = None
    """Source of the innermost enclosing `if` test, kept for calls that may compile something."""
    repeated: bool = False
    """The call stands in a loop or a comprehension."""
    loops: tuple[Expr, ...] = ()
    """The iterables of those loops, outermost first; kept for calls that may compile something."""
    narrowed: tuple[Narrowed, ...] = ()
    """The types that tests around the call established, kept for calls that may replace a module."""
    context: Expr | None = None
    """The `with` item around the call whose name mentions compiling, if there is one."""
    given: tuple[str, ...] = ()
    """Names that tests around the call have shown not to be None."""
    optional: bool = False
    """Made only if some parameter is None, as tests show, or is not, by tests that were left by before, or if
    it has some type, or if a local or an attribute is on that may as well be off or missing."""
    unused: bool = False
    """Nobody gets the result; told of calls that may compile something."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function, method or lambda, or the top level of a file."""

    key: str
    """Unique in the file: the qualname, with `@setter` or `#2` where a qualname repeats."""
    qualname: str
    line: int
    """Line of `def`; `first_line` is that of the first decorator."""
    first_line: int
    end_line: int
    owner: str | None = None
    """Key of the class whose body holds the function."""
    outer: str | None = None
    """Key of the enclosing function, `<module>` for none."""
    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[Expr, ...] = ()
    returns: tuple[Expr, ...] = ()
    returned_at: tuple[int, ...] = ()
    """The line of each of them."""
    annotation: Expr | None = None
    """The declared return type of the function."""
    bindings: tuple[Binding, ...] = ()
    stores: tuple[Store, ...] = ()
    calls: tuple[CallSite, ...] = ()
    loads: tuple[Attribute, ...] = ()
    """Distinct attribute loads outside eager code: any of them may be a property."""
    globals: frozenset[str] = frozenset()
    """Names declared `global` (or `nonlocal`): their bindings belong to an outer scope."""
    comprehensions: tuple[tuple[str, int], ...] = ()
    """Qualname and line of each comprehension that is not eager: before Python 3.12 each has its own code."""
    eager_lines: tuple[tuple[int, int], ...] = ()
    """Inclusive line ranges that run only when not compiling."""
    loops: tuple[tuple[int, int], ...] = ()
    """Inclusive line ranges of loop bodies, outer before inner."""
    branches: tuple[tuple[int, int], ...] = ()
    """Inclusive line ranges that run on a condition: branches of `if`, `except` blocks."""
    exceeding: tuple[tuple[int, int], ...] = ()
    """Inclusive line ranges that run only if one value exceeds another: `if height > self.largest:`."""
    arms: tuple[tuple[int, ...], ...] = ()
    """For each `if` with an `else` that assigns something, outside of loops: the first line of each branch,
    and the last of all. What one branch assigns is never seen by another, nor, if it returns, by the rest."""
    picked: tuple[tuple[int, int, str, tuple[str | bool | None, ...]], ...] = ()
    """Inclusive line ranges that run only where a parameter is one of some texts or members of enumerations
    (`Mode.FAST`), or is on (True), or is off (False), or is given, which is to say not None (None), with its
    name and these."""
    excluded: tuple[tuple[int, int, str, tuple[str, ...]], ...] = ()
    """Inclusive line ranges that never run where a parameter is one of some texts or members, with its name
    and these: what follows `if mode == "fast": return …`."""
    lookups: bool = False
    """Mentions getattr, setattr, hasattr, delattr, `__dict__` or vars."""
    environment: bool = False
    """Mentions os.environ or os.getenv, under whatever name it was imported."""
    judgement: str | None = None
    """Its source, if all it does is to judge a name or a module: kept to be asked which modules it means."""
    set_either_way: tuple[str, ...] = ()
    """Of `__init__`: the attributes that it sets in every branch of some `if`."""
    texts: tuple[tuple[int, int, str, tuple[str, ...]], ...] = ()
    """Inclusive line ranges of a method that run only where an attribute of `self` is one of some texts, with
    its name and these, as patterns: `*fast*` for `"fast" in self.mode`."""
    flags: tuple[tuple[int, int, str, bool], ...] = ()
    """Inclusive line ranges that run only if an attribute of the first parameter is on, or is off."""
    patched: tuple[tuple[int, int, Expr], ...] = ()
    """Inclusive line ranges of `with config.patch(…)` and its like, each with what it enters."""
    filled: tuple[tuple[int, int, str], ...] = ()
    """Inclusive line ranges that run only if an attribute of the first parameter is not None."""
    cut: bool = False
    """Some expression has more links than are followed."""
    process_tests: tuple[tuple[int, int, str, str, bool], ...] = ()
    """Inclusive line ranges that run only if a test holds (True) or does not: `rank` if it asks which process
    this is, `version` if it asks what torch has, and the source of the test."""
    submodules: tuple[tuple[str, int], ...] = ()
    """The modules that `import a.b.c` loads besides the one that it binds, with the line."""

    def is_conditional(self, line: int) -> bool:
        """Whether a line stands in a branch."""
        return any(first <= line <= last for first, last in self.branches)

    def apart(self, line: int, other: int) -> bool:
        """Whether two lines stand in different branches of one `if`: a call runs one of them at most."""
        return any(
            arms[0] <= line <= arms[-1]
            and arms[0] <= other <= arms[-1]
            and bisect_right(arms[:-1], line) != bisect_right(arms[:-1], other)
            for arms in self.arms
        )

    def runs_eagerly(self, line: int) -> bool:
        """Whether a line runs only when not compiling."""
        return any(first <= line <= last for first, last in self.eager_lines)


@dataclass(frozen=True, slots=True)
class Class:
    """One class statement."""

    key: str
    qualname: str
    line: int
    first_line: int
    end_line: int
    outer: str | None = None
    """Key of the enclosing function, `<module>` for none."""
    bases: tuple[Expr, ...] = ()
    decorators: tuple[Expr, ...] = ()
    bindings: tuple[Binding, ...] = ()
    """Class attributes and methods, in order; methods are `Definition`s."""
    annotations: tuple[tuple[str, Expr], ...] = ()
    """`name: Type` in the class body."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A comment that declares a region or cuts one."""

    line: int
    kind: str
    """`region` or `eager`; `region-begin` or `region-end` for one without its other half."""
    key: str | None
    """Key of the class or function it marks; None if it stands beside neither."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A construction that a configuration describes, as the call that it stands for."""

    name: str
    """The key that it stands under; that of a whole file is what the file or its folder is called."""
    call: Call
    line: int
    outer: bool
    """It is not an argument of another."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A variable that a launcher gives the programs that it starts."""

    name: str
    value: str | None
    """None where only a run tells; `${}` in it stands for a part that only a run tells."""
    line: int
    conditional: bool = False
    """It is given under a condition alone."""
    default: bool = False
    """What the environment of the launcher says comes before it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A program or another launcher that a launcher starts, with the variables that hold there."""

    program: str
    """A path, with NUL for what only a run tells, or the name of a module."""
    line: int
    is_module: bool = False
    ranks: bool = False
    """Several processes of one job."""
    given: tuple[Exported, ...] = ()
    sources: tuple[str, ...] = ()
    """Other files whose variables hold, too."""
    inherits: bool = True
    """The environment of the launcher holds, too."""
    opened: str = ""
    """The word by which it may get variables that nobody sees; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """A script, an image or a description that starts programs."""

    exports: tuple[Exported, ...] = ()
    """Each place that gives a variable."""
    launches: tuple[Launch, ...] = ()
    given: tuple[Exported, ...] = ()
    """What holds at its end, for who sources it."""
    sources: tuple[str, ...] = ()
    opened: str = ""
    container: bool = False
    """It describes a container: several such give one process its variables."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Everything the later stages know of one file."""

    path: str
    """POSIX path relative to the linted root."""
    module: str
    """Dotted module name; the bare stem for a script outside any package, the path for a notebook."""
    is_package: bool = False
    """The file is an `__init__.py`."""
    is_script: bool = False
    """It does something when it is run by itself (`if __name__ == "__main__"`), as a notebook does."""
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    stars: tuple[Import, ...] = ()
    """`from module import *`, module-level or not."""
    markers: tuple[Marker, ...] = ()
    error: tuple[int, str] | None = None
    """Line and message if the file could not be read or parsed; then nothing else is known."""
    foreign: bool = False
    """It could not be read for being in another language than Python."""
    error_column: int = 1
    needs: tuple[int, int] | None = None
    """The version of Python that its syntax needs, if it could not be parsed for being too new."""
    terms: tuple[str, ...] = ()
    """The terms of a contract that comments before its first statement state, as TOML."""
    unwraps: bool = False
    """Its text names `_orig_mod`, by which the module below a compiled one goes."""
    compiles: bool = False
    """Its text has the word `compile`, if only of a regular expression: no other can name torch.compile."""
    is_code: bool = True
    """It is Python: else it is a configuration, which has no definitions."""
    settings: tuple[Setting, ...] = ()
    """The constructions that a configuration describes."""
    named: tuple[tuple[str, str], ...] = ()
    """The definitions that a configuration names, `pkg.mod:Net`, each after the key that it stands under."""
    words: tuple[tuple[str, str], ...] = ()
    """Other single words of a configuration, each after its key: `name: resnet`; after none, keys
    that have a table: `resnet:`."""
    configures: bool = True
    """If it is no code: it may say what code builds."""
    launcher: Launcher | None = None
    """What it starts, if it is a script or a description that starts programs."""
