"""The outcome of a run: the only thing that renderers and exit statuses look at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.findings import SEVERITIES, FileError, Finding


@dataclass(frozen=True, slots=True)
class Site:
    """A compile site that is no entry, or another place that was not followed to the end, and why."""

    path: str
    line: int
    expression: str
    why: str
    candidates: tuple[str, ...] = ()
    """Classes and functions, as `module:name`, that an unresolved one may mean."""
    kind: str = "entry"
    """Of an unresolved one, as in `regions.options`."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """How much is compiled, and which compile sites are no entries."""

    entries: int
    functions: int
    """However many ways lead to them."""
    unresolved: tuple[Site, ...] = ()
    """Those whose target could not be named, and places in compiled code that were not followed."""
    skipped: tuple[Site, ...] = ()
    """Those that compile nothing of the linted code."""
    leading: int = 0
    """Entries in the files reported on that compile functions of others."""
    elsewhere: tuple[str, ...] = ()
    """The files of those functions."""
    names: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)
    """Path and key of each function: some may be compiled by what several configurations govern."""
    reads: Mapping[tuple[str, str], int] = field(default_factory=dict, compare=False)
    """By path and key, how many values each compiled function of the project reads that Dynamo guards on."""


@dataclass(frozen=True, slots=True)
class Since:
    """The earlier state that a report leaves out the findings of."""

    revision: str
    """As it was named."""
    commit: str
    """Where the working tree and the revision part."""
    older: int
    """Findings that are not reported, because that commit has them as well."""


@dataclass(frozen=True, slots=True)
class Change:
    """The patch on whose lines a report is."""

    name: str
    """The file, as it was named."""
    elsewhere: int
    """Findings that are not reported, because they have no line that it adds."""


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
    since: Since | None = None
    change: Change | None = None
    unfinished: int = 0
    """Places that were not analysed to the end and that no finding here tells of."""
    compiled_paths: frozenset[str] = frozenset()
    """Files with compiled code, among all that were read."""
    outside: frozenset[str] = frozenset()
    """Files with findings whose compile entry, and not whose line, is in a file reported on."""
    lacks_entries: bool = False
    """Nothing in the project is compiled, and the settings want that to fail."""
    judged: frozenset[str] = frozenset()
    """The fingerprints of all findings of the rules, whether or not comments and options let them through."""
    fail_level: str = "warning"
    """The least severity that makes the exit status 1."""
    fail_levels: Mapping[str, str] = field(default_factory=dict)
    """Those of the files that have another one."""

    def is_failure(self, finding: Finding) -> bool:
        """Whether a finding makes the exit status 1."""
        least = self.fail_levels.get(finding.span.path, self.fail_level)
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(least)

    @property
    def fails(self) -> bool:
        """Whether the exit status is 1."""
        return self.lacks_entries or any(map(self.is_failure, self.findings))
