"""Dynamo's work during a few calls, and the request and the reply that carry it, as plain data for JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import is_dataclass
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from dynamo_lint.dataclass import dataclass
from dynamo_lint.logs.texts import Frame


@dataclass(frozen=True, slots=True)
class Cause:
    """One piece of Python state whose guard failed."""

    kind: str
    """The failed check: Dynamo's leaf guard (`EQUALS_MATCH`, `TENSOR_MATCH`), or `MISSING`, `DICT_LENGTH`,
    `BACKEND`, `INVALIDATED`, `UNKNOWN`."""
    source: str
    """The value that was checked, as an expression over the frame's locals `L` and globals `G`."""
    guard: str
    """The check as people read it: `self._overflow_total == 1`."""
    owner: str
    """Dotted name of the class, module or function that holds the state."""
    bases: tuple[str, ...]
    """Dotted names of the owner's classes in method resolution order, itself first; empty for the others."""
    attribute: str
    """Name of the attribute, global or argument."""
    inside: str
    """Where in the attribute, if it is a container: `['a'][0]`."""
    expected: str
    actual: str
    aspect: str = ""
    """For tensors, what differs: `size`, `stride`, `dtype`, `requires_grad`, `class`, `dispatch`, `rank`."""
    path: str = ""
    """The innermost line of user code that made Dynamo guard, outside torch and the standard library."""
    line: int = 0
    stack: tuple[Frame, ...] = ()
    """From the compiled function to the line that made Dynamo guard."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """One time that Dynamo compiled a function, from its start or from a graph break."""

    function: str
    path: str
    first_line: int
    call: int
    """Counted from 0."""
    label: str
    compile_id: str


@dataclass(frozen=True, slots=True)
class Recompile(Compilation):
    """One compile more than the first of a function, and the smallest sets of state that explain it."""

    rejected: bool
    """The recompile limit forbade it, so the function ran uncompiled."""
    reasons: tuple[str, ...]
    """Dynamo's own words, for each cached version that did not fit; it names the first failed guard only."""
    causes: tuple[tuple[Cause, ...], ...]
    """Alternatives, best first: had all of one held still, a cached version would have fitted."""


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A line that Dynamo could not trace."""

    path: str
    line: int
    function: str
    id: str
    """`GB0059` in Dynamo's registry; empty where it has none."""
    reason: str
    skips_frame: bool
    """The whole function runs uncompiled, not just this line."""
    call: int
    label: str
    count: int
    stack: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Compile(Compilation):
    """One graph handed to the backend."""

    operations: tuple[str, ...] = ()
    """Targets of the graph's calls in order."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A function that Dynamo compiled from its start: the outermost one of the program in a graph."""

    function: str
    path: str
    first_line: int
    lines: dict[str, tuple[int, ...]]
    """Per file, the lines that were traced as part of it."""
    inside: tuple[tuple[str, str], ...]
    """Path and qualified name of the functions that it is a decorator's wrapper of."""
    runs: tuple[tuple[int, int], ...]
    """For each time that its compiled code ran, the call, and the generation of that code.

    A compile that finds no cached version, as after a reset, starts a new generation.
    """


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that ended the calls."""

    call: int
    type: str
    message: str
    stack: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The cost of some calls: compiles, recompiles and graph breaks."""

    torch_version: str
    backend: str
    calls: int
    compiles: tuple[Compile, ...]
    recompiles: tuple[Recompile, ...]
    breaks: tuple[GraphBreak, ...]
    graph_calls: tuple[int, ...]
    """Calls during which a compiled graph ran."""
    limit_hit: tuple[str, ...]
    """Functions that ran into the recompile limit, and from there on uncompiled."""
    traced: dict[str, tuple[int, ...]]
    """Per file, the lines that Dynamo traced."""
    units: tuple[Unit, ...] = ()
    failure: Failure | None = None
    matches_eager: bool | None = None
    """None where no eager twin was run."""
    mismatch: str = ""
    """The first difference from the eager twin."""
    problems: tuple[str, ...] = ()
    """Problems of the witness itself; never a reason to distrust the rest."""

    def most_versions(self) -> int:
        """Compiled versions of the function that has most of them."""
        counts = Counter((one.path, one.first_line, one.function) for one in self.recompiles)
        return max(counts.values(), default=0) + 1


NOTHING = Receipt("", "", 0, (), (), (), (), (), {})
"""The receipt of a probe that left none."""


Digest = tuple[float, ...]
"""The numbers of one call's output, summed up: enough to see whether two runs computed the same."""


@dataclass(frozen=True, slots=True)
class Setting:
    """State to set from outside between calls, to each of some values in turn."""

    subject: str
    values: tuple[Any, ...] = ()
    """Empty: three values that differ from what is there, by its kind."""


@dataclass(frozen=True, slots=True)
class Request:
    """One probe to run."""

    path: str = ""
    probe: str = ""
    root: str = ""
    """The folder of the project; its modules are loaded anew and its lines are followed."""
    calls: int = 12
    backend: str = "aot_eager"
    recompile_limit: int | None = None
    """The limit of the second pass; None takes the one that the program leaves in force."""
    watch: tuple[str, ...] = ()
    """Subjects of findings."""
    settings: tuple[Setting, ...] = ()
    preload: tuple[str, ...] = ()
    """Modules from outside the project that are imported once for all runs."""
    shadows: bool = False
    """The project is a copy, whose modules win over installed ones."""
    ways: tuple[str, ...] = ()
    """Functions of the file, of which the first that runs without the compiler is the probe."""
    once: tuple[str, ...] = ()
    """Those of them that are called once, and without settings."""
    unit: str = ""
    """Identity of the function that has to be compiled, or else another way is taken."""
    scripts: tuple[str, ...] = ()
    """Files of which only the definitions are loaded."""
    confined: bool = False
    """The probe was made by no person: it may write to its own folder only, and reach no network."""


USUAL = Request()
"""The usual way to run a probe, whichever it is."""


@dataclass(frozen=True, slots=True)
class Met:
    """The different values of a subject that the compiled code of a unit met, each as a short text."""

    subject: str
    unit: int
    """Index into the receipt's units."""
    over_time: tuple[str, ...]
    """Those of one object under one generation of compiled code, where they changed most."""
    across: tuple[str, ...]
    """Those that different objects had when one generation of compiled code met them first."""
    seen: tuple[str, ...]
    """All of them."""
    recomputed: bool = False
    """In one object, under one generation, the numbers in a tensor or container changed."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a probe was made of what the program shows."""

    name: str
    """The function in the file of the probe."""
    origin: str
    """Where construction and inputs come from."""
    varied: tuple[str, ...] = ()
    """What the probe changes between calls, of itself."""
    guessed: tuple[str, ...] = ()
    """What is not as the program has it."""
    once: bool = False
    """It is a program as a whole, which is called once."""


MODES = "train and eval"
SIZES = "a smaller last batch"
"""What a made probe changes between calls."""
ACCELERATORS = ("cuda", "xpu", "npu", "mps")
"""Kinds of devices that a made probe does without."""
PLAIN = "_plain"
"""Ends the name of a way that is another one without a smaller last batch."""
TENSORS = "that"
"""The first word of a guess that an argument is a tensor."""


STAGES = {
    "start": "before its program was loaded",
    "eager": "while it ran without the compiler",
    "compiled": "while it ran compiled",
    "limited": "while it ran with the usual recompile limit",
}
"""The stages of a run that something may be said of."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a request."""

    stage: str
    """How far it got: `start`, `import`, `eager`, `compiled`, `limited`, `done`."""
    error: str = ""
    """Why it stopped, in one line."""
    detail: str = ""
    """The place of the error, or the last lines that the probe printed."""
    receipt: Receipt | None = None
    """The run with a raised limit."""
    recompile_limit: int = 8
    """The limit that the program leaves in force."""
    hit_limit: bool = False
    """With that limit, some function ran uncompiled in the end."""
    eager_calls: tuple[int, ...] = ()
    """Calls that then ran without any compiled graph."""
    ran: dict[str, tuple[int, ...]] | None = None
    """Per file of the project, the lines that ran without the compiler."""
    met: tuple[Met, ...] = ()
    diverged: tuple[str, ...] = ()
    """Subjects whose value differed from the eager twin's at the end of some call."""
    outputs: tuple[Digest, ...] = ()
    """The results of each call without the compiler."""
    problems: tuple[str, ...] = ()
    way: str = ""
    """The function that is the probe, where there was a choice."""


def from_json(kind: Any, data: Any) -> Any:
    """The value of a class of this account, or of what its fields hold, that `asdict` made JSON of."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: from_json(hints[name], value) for name, value in dict(data).items()})
    origin, inner = get_origin(kind), get_args(kind)
    if data is None or origin is None:
        return data
    if origin is tuple:
        return tuple(map(from_json, repeat(inner[0]) if inner[-1] is Ellipsis else inner, data))
    if origin is dict:
        return {name: from_json(inner[1], value) for name, value in dict(data).items()}
    return from_json(inner[0], data)  # or None


_hints = cache(get_type_hints)


def relative(path: str, root: Path) -> str:
    """A path below the project as findings spell it; others stay absolute."""
    inside = Path(path)
    return inside.relative_to(root).as_posix() if inside.is_relative_to(root) else path
