"""The part of a verdict on a project that concerns the files that were named.

A project is judged as a whole, so that its verdict does not depend on who asks: every set of names is
answered from the same one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import FileError, Finding, Span
from dynamo_lint.lintrules import lint_finding
from dynamo_lint.program.refs import function_ref
from dynamo_lint.regions.options import CHOICE, ENTRY, Idle
from dynamo_lint.report import Compiled, Site
from dynamo_lint.run.fingerprints import position, with_fingerprints


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on all files that were read, whichever were named."""

    findings: tuple[Finding, ...]
    """Those of every rule, with fingerprints; files that could not be read are no findings yet."""
    errors: tuple[FileError, ...]
    """Of the files that were to be read."""
    hot_paths: frozenset[str]
    """Files with compiled code."""
    unresolved: tuple[Site, ...]
    skipped: tuple[Site, ...]
    idle: tuple[Idle, ...]
    """Declarations that match nothing."""


@dataclass(frozen=True, slots=True)
class Group:
    """Functions that the same entries compile."""

    entries: tuple[int, ...]
    """Numbers of entries; the first is the one that the chains to the functions start at."""
    functions: tuple[tuple[str, str], ...]
    """Path and key of each."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Which functions each compile entry makes hot: what ties a verdict to the files that are named."""

    entries: tuple[str, ...]
    """The file of each entry."""
    groups: tuple[Group, ...]
    reads: tuple[tuple[str, str, int], ...] = ()
    """Path and key of each compiled function that reads guarded values, and how many."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on the files that were named."""

    findings: tuple[Finding, ...]
    """Those of every rule, with fingerprints."""
    errors: tuple[FileError, ...]
    hot_paths: frozenset[str]
    """Files with compiled code."""
    compiled: Compiled
    compiles: bool
    """Anything is compiled, in any file that was read."""
    idle: tuple[Idle, ...] = ()
    """Declarations that match nothing."""
    everywhere: tuple[Finding, ...] = ()
    """The findings of every rule in all files that were read."""


def on_named(verdict: Verdict, reach: Reach, found: Discovered) -> Judged:
    """The part of a verdict that concerns the files that are reported on."""
    reported = found.reported | found.heard
    errors = (*found.errors, *(error for error in verdict.errors if error.path in reported))
    unread = with_fingerprints(map(_unreadable, errors))
    return Judged(
        findings=tuple(sorted((*_concerning(reported, verdict, reach), *unread), key=position)),
        errors=errors,
        hot_paths=verdict.hot_paths,
        compiled=_compiled(found.reported, verdict, reach),
        compiles=bool(verdict.hot_paths),
        idle=verdict.idle,
        everywhere=verdict.findings,
    )


def _here(reported: frozenset[str], reach: Reach) -> set[int]:
    """The numbers of the entries in reported files."""
    return {number for number, path in enumerate(reach.entries) if path in reported}


def _concerning(reported: frozenset[str], verdict: Verdict, reach: Reach) -> Iterator[Finding]:
    """The findings whose line is in a reported file, or whose compile entry is."""
    here = _here(reported, reach)
    reached = {
        function_ref(*function).id
        for group in reach.groups
        if not here.isdisjoint(group.entries)
        for function in group.functions
    }
    for finding in verdict.findings:
        entered = finding.region is not None and finding.region[0] in reported
        within = not reached.isdisjoint((finding.symbol, finding.subject))
        if entered or within or finding.span.path in reported:
            yield finding


def _compiled(reported: frozenset[str], verdict: Verdict, reach: Reach) -> Compiled:
    """How much the entries of the reported files compile, and how much of these files others do.

    A function keeps its entries in these files, or else the one that its chain starts at.
    """
    here = _here(reported, reach)
    entries, leading = set(here), set[int]()
    functions, elsewhere = set[tuple[str, str]](), set[str]()
    for group in reach.groups:
        mine = here.intersection(group.entries)
        shown = [(path, key) for path, key in group.functions if mine or path in reported]
        if shown:
            functions.update(shown)
            entries.update(mine or group.entries[:1])
        if outside := {path for path, _ in shown} - reported:
            leading |= mine
            elsewhere |= outside
    concerned = {path for path, _ in functions}
    return Compiled(
        entries=len(entries),
        functions=len(functions),
        unresolved=tuple(
            site
            for site in verdict.unresolved
            if site.path in reported or (site.kind not in {ENTRY, CHOICE} and site.path in concerned)
        ),
        skipped=tuple(site for site in verdict.skipped if site.path in reported),
        leading=len(leading),
        elsewhere=tuple(sorted(elsewhere)),
        names=frozenset(functions),
        reads={(path, key): count for path, key, count in reach.reads},
    )


def _unreadable(error: FileError) -> Finding:
    if error.advice:
        fix = error.advice
    elif error.needs is not None:
        wanted = f"{error.needs[0]}.{error.needs[1]}"
        fix = f"run dynamo-lint under Python {wanted} or newer, or exclude the file with `exclude`"
    else:
        running = ".".join(map(str, sys.version_info[:2]))
        fix = (
            "fix the error, run dynamo-lint under the Python version the file is written for "
            f"(this is {running}), or exclude the file with `exclude`"
        )
    return lint_finding(
        "DYN901",
        Span(error.path, error.line, error.column, error.line, error.column),
        error.path,
        f"this file was not linted: {error.message}",
        "nothing in it was linted, and calls into it were not followed",
        fix,
        severity=error.severity,
    )
