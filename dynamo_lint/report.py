"""The outcome of a run: the only thing that renderers and exit statuses look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.findings import SEVERITIES, FileError, Finding


@dataclass(frozen=True, slots=True)
class Site:
    """A compile site that is no entry, and why."""

    path: str
    line: int
    expression: str
    why: str
    candidates: tuple[str, ...] = ()
    """Classes and functions, as `module:name`, that an unresolved one may mean."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """How much is compiled, and which compile sites are no entries."""

    entries: int
    functions: int
    """However many ways lead to them."""
    unresolved: tuple[Site, ...] = ()
    """Those whose target could not be named."""
    skipped: tuple[Site, ...] = ()
    """Those that compile nothing of the linted code."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a renderer, the summary and the exit status need."""

    root: Path
    torch_version: tuple[int, int]
    files: int
    """Number of files reported on."""
    compiled: Compiled
    findings: tuple[Finding, ...] = ()
    """Sorted by path, line, column and code."""
    errors: tuple[FileError, ...] = ()
    suppressed: int = 0
    """Findings silenced by a comment."""
    accepted: int = 0
    """Findings that the baseline knows."""
    unfinished: int = 0
    """Places that were not analysed to the end and that no finding here tells of."""

    def fails(self, level: str) -> bool:
        """A finding is at least as severe as `level`."""
        least = SEVERITIES.index(level)
        return any(SEVERITIES.index(finding.severity) >= least for finding in self.findings)
