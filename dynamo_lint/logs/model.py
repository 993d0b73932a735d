"""The account of a job, as plain data: what its logs tell, and the lines of the sources that caused it."""

from __future__ import annotations

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.findings import Finding
from dynamo_lint.logs.costs import Costs
from dynamo_lint.logs.failures import Failure
from dynamo_lint.logs.texts import Frame, disabled_function

KINDS = (
    "value",
    "size",
    "requires_grad",
    "type",
    "length",
    "presence",
    "identity",
    "expression",
)
"""What a failed check was about."""


@dataclass(frozen=True, slots=True)
class Recompiles:
    """How often a frame was compiled again because the same check failed first."""

    frame: Frame
    source: str
    """The expression that was checked: `self.n`."""
    kind: str
    """One of `KINDS`."""
    guard: str
    """The first such check: `self.n == 0`."""
    count: int
    """Recompiles that took place; the attempt that ran into a limit is none."""
    values: tuple[str, ...] = ()
    """The first few values that no longer held."""


@dataclass(frozen=True, slots=True)
class Break:
    """A line at which graphs broke."""

    path: str
    line: int
    function: str
    """Its bare name; empty where the log does not tell."""
    id: str
    """`GB0059` in Dynamo's registry; empty where it has none."""
    reason: str
    count: int
    skips_frame: bool
    """The whole function runs eagerly from then on."""
    stack: tuple[Frame, ...] = ()
    """The lines of the program's own frames, outermost first."""
    text: str = ""
    """The line as it stood when the job ran; empty where the log does not tell."""
    package: str = ""
    """The library in which Dynamo could not go on; empty for the program's own code."""
    once: int = 1
    """Without those of recompiles, on the rank that has most: the number that a team knows in advance."""

    @property
    def disabled(self) -> str:
        """The function that the code keeps out of the graph here; empty where the log names none."""
        return disabled_function(self.id, self.reason)


@dataclass(frozen=True, slots=True)
class Limit:
    """A frame that ran into a limit and is compiled no more."""

    frame: Frame
    limit: str
    """`recompile_limit` or `accumulated_recompile_limit`."""
    value: int | None
    """The limit's value; None where the log does not tell."""
    source: str
    """The expression that failed last."""
    reason: str = ""
    """The check that failed last; empty where the log does not tell."""
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Rank:
    """The work of one process of the job."""

    recompiles: int = 0
    breaks: int = 0
    limits: int = 0
    compiles: int | None = None
    """None where the log cannot tell."""
    frames: tuple[tuple[Frame, str, int], ...] = ()
    """Frame, source and number of its recompiles, so that ranks can be compared."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at a time that the log knows."""

    seconds: float
    """Since the first record of the job."""
    frame: Frame
    kind: str
    """`compile`, `recompile`, `limit` or `break`."""
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """A line that a person must change."""

    path: str
    line: int
    code: str
    """Of the rule that explains it; empty where none does."""
    subject: str
    """The state it is about, `self.n`, or the line that breaks a graph."""
    frames: tuple[Frame, ...]
    """The frames that it made Dynamo compile again, or that it broke."""
    recompiles: int
    breaks: int
    limits: int
    evidence: str
    """How it was found: `finding` (of `check`), `assignment` (in the sources), `reading` (only that line)."""
    masked: bool = False
    """Dynamo's first reason named another check."""
    finding: Finding | None = None
    values: tuple[str, ...] = ()
    """The first few values that were compiled for."""
    limit: Limit | None = None
    """The first limit that one of its frames ran into."""
    skips_frame: bool = False
    """It makes a whole function run eagerly."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a job may cost of one thing, and how much it did."""

    key: str
    """The key of the contract, and behind it the place or the time that it is about."""
    allowed: float
    seen: float | None
    """None where the log cannot tell."""
    places: tuple[tuple[str, int], ...] = ()
    """Where graphs broke that count here."""
    elsewhere: tuple[tuple[str, int], ...] = ()
    """Where islands broke graphs that no entry counts, while this one counted nothing."""

    at_least: bool = False
    """It is a demand: less is a fault."""

    @property
    def exceeded(self) -> bool:
        """Whether it cost more, or gave less; what the log cannot tell exceeds nothing and proves nothing."""
        if self.seen is None:
            return False
        return self.seen < self.allowed if self.at_least else self.seen > self.allowed


@dataclass(frozen=True, slots=True)
class Share:
    """The graph breaks that have something in common."""

    name: str
    lines: int
    """Different lines."""
    count: int


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of a job, before and now."""

    what: str
    before: float | None
    """None where that recording cannot tell."""
    after: float | None


@dataclass(frozen=True, slots=True)
class Job:
    """All that the log of a job tells."""

    proof: str = "none"
    """`trace`, which tells of every compile; `text`, of what was switched on; `none`, which tells nothing."""
    torch: str | None = None
    compiles: int | None = None
    recompiles: tuple[Recompiles, ...] = ()
    """The most frequent first."""
    breaks: tuple[Break, ...] = ()
    limits: tuple[Limit, ...] = ()
    ranks: dict[int, Rank] = field(default_factory=dict)
    moments: tuple[Moment, ...] = ()
    """In order of time; thinned out where there are very many."""
    costs: Costs | None = None
    """None where no trace tells of any."""
    failures: tuple[Failure, ...] = ()
    """What else the logs say, one for each class."""
    notes: tuple[str, ...] = ()
    """Words that qualify the account: `masked`, `sizes`, `truncated`, `ranks-diverge` and others."""


@dataclass(frozen=True, slots=True)
class LogReport:
    """A job, and what of it the sources explain."""

    job: Job
    causes: tuple[Cause, ...] = ()
    """The most expensive first."""
    unexplained: tuple[Recompiles, ...] = ()
    """Recompiles for which no line was found; with those of the causes they are all recompiles of the job."""
    unseen: tuple[Finding, ...] = ()
    """Findings about compiled code that the job did not bear out."""
    budgets: tuple[Budget, ...] = ()
    linted: bool = True
    """False where no sources were read, so that nothing is explained."""
    unexplained_breaks: tuple[Break, ...] = ()
    """Breaks for which no line was found, or that the code asks for; with those of causes they are all."""
    trend: tuple[Change, ...] = ()
    """The figures of an older recording beside those of this one."""
    unexplained_limits: tuple[Limit, ...] = ()
    """Limits that no cause stands for."""
