"""The claim a rule makes, as plain data: the only thing renderers, suppressions and exit codes look at."""

from __future__ import annotations

from dynamo_lint.calls.model import Step
from dynamo_lint.dataclass import dataclass

SEVERITIES = ("note", "warning", "error")
"""From harmless to fatal; a fail level compares positions in this tuple."""

EFFECTS = ("storm", "per-value", "per-instance", "once", "break", "eager", "stale")
"""The cost of a hazard, in one word; docs/guides/findings.md defines the words."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one file: 1-based lines and columns, columns in code points, end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that matters for a finding, and why."""

    path: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span by text."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """How to fix it: edits that a command makes, edits that a person chooses, or advice."""

    applicability: str
    """`safe`, `unsafe` or `display`; no command makes the edits of the last."""
    message: str
    edits: tuple[Edit, ...] = ()
    reason: str = ""
    """Why it is no more than that: why no command makes the edits, or why there are none."""

    @property
    def kind(self) -> str:
        """`fixable`, `suggested` or `advice`."""
        if not self.edits:
            return "advice"
        return "suggested" if self.applicability == "display" else "fixable"

    def left(self, why: str) -> Fix:
        """The same as advice alone, with the reason why no command makes it."""
        return Fix("display", f"{self.message}; `--fix` leaves it: {why}", reason=why)


@dataclass(frozen=True, slots=True)
class Finding:
    """One hazard, at the line to change."""

    code: str
    name: str
    span: Span
    message: str
    """The event and its place: one sentence that names the state and the region."""
    cost: str
    """The cost at run time: one sentence."""
    severity: str
    effect: str
    confidence: str
    """`certain`, `likely` or `possible`: how sure it is that the line is compiled."""
    symbol: str
    """Identity of the function the line stands in."""
    subject: str
    """The state that the finding is about: `MoE._overflow_total`, `os.environ['MODE']`."""
    also: tuple[str, ...] = ()
    """Other state that goes with it for the same reason, so that one change of the code ends both."""
    entries: int | None = None
    """How many cache entries it will cost, where that is known."""
    region: tuple[str, int] | None = None
    """Path and line of the compile entry."""
    unit: str = ""
    """Identity of the function that this entry compiles; empty where a finding is about several or none."""
    chain: tuple[Step, ...] = ()
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    fingerprint: str = ""
    """Filled in once all findings are known, since equal ones are numbered."""
    keys: tuple[str, ...] = ()
    """Identities of the state that it is about (`Key.id`), by which findings and runs are joined."""

    @property
    def is_fixable(self) -> bool:
        """Whether a command fixes it."""
        return self.fix is not None and self.fix.kind == "fixable"


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be linted.

    It is reported as a `DYN901` finding too, unless the project says that it needs a newer Python.
    """

    path: str
    line: int
    message: str
    needs: tuple[int, int] | None = None
    """The version of Python that its syntax needs, if that is newer than the one that runs."""
    severity: str = "error"
    advice: str = ""
    """The way out, where it is another than to mend the file."""
    column: int = 1
