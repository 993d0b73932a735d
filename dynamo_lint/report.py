"""The outcome of a run: the only thing that renderers and exit statuses look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.findings import SEVERITIES, FileError, Finding


@dataclass(frozen=True, slots=True)
class Compiled:
    """How much is compiled."""

    entries: int
    functions: int
    """However many ways lead to them."""
    unresolved: int
    """Compile sites whose target could not be named."""


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

    def fails(self, level: str) -> bool:
        """A finding is at least as severe as `level`."""
        least = SEVERITIES.index(level)
        return any(SEVERITIES.index(finding.severity) >= least for finding in self.findings)
