"""The pipeline: files in, a report out. Data flows one way and nothing here prints."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from dynamo_lint import files
from dynamo_lint.config import Settings
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import FileError, Finding, Fix
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.levels import Level, levels_of
from dynamo_lint.lintrules import LINT_RULES
from dynamo_lint.report import Report, Since
from dynamo_lint.run.cells import error_told_by_cells, told_by_cells
from dynamo_lint.run.declared import is_compiled
from dynamo_lint.run.fingerprints import position, with_fingerprints
from dynamo_lint.run.judge import judge
from dynamo_lint.run.named import Judged
from dynamo_lint.run.reading import ALONE, Content, Effort, read_content
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.baseline import Baseline
    from dynamo_lint.older import Older
    from dynamo_lint.suppressions import Suppression


@dataclass(frozen=True, slots=True)
class Heard:
    """The findings of a run, as far as comments and options let them through."""

    judged: Judged
    raw: tuple[Finding, ...]
    """Those that comments and options may silence."""
    silenced: tuple[Finding, ...]
    """Those that a comment silences."""
    audible: tuple[Finding, ...]
    """Those that no comment silences."""
    reported: tuple[Finding, ...]
    """Those that the options ask for, in order."""


def check(
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    accepted: Baseline | None = None,
    effort: Effort = ALONE,
    older: Older | None = None,
) -> Report:
    """Lint the files that were found; findings that are `accepted` or `older` are only counted."""
    content = read_content(settings.region_comment, found, sources, effort.store)
    heard = hear(settings, found, content, catalogue, sources, effort)
    judged = heard.judged
    compiles = is_compiled(settings, found, sources, judged.compiles, judged.idle, effort)
    level = levels_of(settings.policy, catalogue, found.root)
    known = list(heard.reported)
    new = known
    if accepted is not None:
        from dynamo_lint import baseline

        # Also what is below the wanted confidence keeps an entry in use.
        _, missed = baseline.subtract(accepted, heard.audible, found.root)
        new, _ = baseline.subtract(accepted, known, found.root)
        if older is None:
            entries = baseline.unused(accepted, missed, found.root, judged.hot_paths & found.reported, level)
            new += _wanted(with_fingerprints(entries), level)
    since, count = None, len(set(known) - set(new))
    if older is not None:
        from dynamo_lint.older import subtract

        everywhere = {one.fingerprint: one for one in (*judged.everywhere, *heard.audible)}
        fresh = set(subtract(older, known, everywhere.values()))
        since = Since(older.revision, older.commit, sum(one not in fresh for one in new))
        new = [one for one in new if one in fresh]
    outside = frozenset(one.span.path for one in known if one.code not in LINT_RULES)
    outside -= found.reported | found.heard
    unfinished = Counter(one.code for one in heard.raw)["DYN906"] - Counter(one.code for one in new)["DYN906"]
    started = found.heard.intersection(one.span.path for one in new)
    ordered, errors = _by_cells(sorted(new, key=position), judged.errors, found, sources)
    return Report(
        root=found.root,
        torch_version=settings.torch_version,
        files=len(found.reported.union((error.path for error in found.errors), started)),
        outside=outside,
        compiled=judged.compiled,
        compiled_paths=judged.hot_paths,
        findings=tuple(
            _advice_only(one, settings, found) if one.span.path in outside else one for one in ordered
        ),
        errors=errors,
        suppressed=len(_wanted(heard.silenced, level)),
        accepted=count,
        since=since,
        unfinished=unfinished,
        lacks_entries=settings.fail_on_nothing_compiled and not compiles,
        judged=frozenset(one.fingerprint for one in heard.raw),
        fail_level=settings.fail_level,
        fail_levels={one.span.path: level(one.span.path).fail_level for one in new},
    )


def _by_cells(
    findings: list[Finding], errors: tuple[FileError, ...], found: Discovered, sources: Sources
) -> tuple[list[Finding], tuple[FileError, ...]]:
    """Findings and errors, those in notebooks by their cells."""
    if not any(map(is_notebook, found.files)):
        return findings, errors
    told = [told_by_cells(one, sources) for one in findings]
    return told, tuple(error_told_by_cells(error, sources) for error in errors)


def hear(
    settings: Settings,
    found: Discovered,
    content: Content,
    catalogue: Mapping[str, str],
    sources: Sources,
    effort: Effort = ALONE,
) -> Heard:
    """Judge the files that were found, and apply comments and options."""
    judged = judge(settings, found, content, sources, effort)
    meant = {error.path for error in judged.errors if error.needs and _is_for_newer(found, error.path)}
    raw = [one for one in judged.findings if one.code != "DYN901" or one.span.path not in meant]
    level = levels_of(settings.policy, catalogue, found.root)
    silenced, idle = _suppressions(
        content, judged, raw, found.reported | found.heard, level, catalogue, sources
    )
    silent = {finding.fingerprint for finding in silenced}
    audible = [finding for finding in (*raw, *with_fingerprints(idle)) if finding.fingerprint not in silent]
    reported = sorted(_wanted(audible, level), key=position)
    return Heard(judged, tuple(raw), tuple(silenced), tuple(audible), tuple(reported))


def _is_for_newer(found: Discovered, path: str) -> bool:
    """Whether the project of a file declares that it is for newer Pythons than the one that runs."""
    from dynamo_lint.index.packaging import least_python

    home = files.project_above((found.root / path).parent, ("pyproject.toml",))
    if home is None:
        return False
    try:
        text = files.read(home / "pyproject.toml", links=False).decode()
    except (OSError, UnicodeDecodeError):
        return False
    least = least_python(text)
    return least is not None and sys.version_info[:2] < least


def _suppressions(
    content: Content,
    judged: Judged,
    raw: list[Finding],
    reported: frozenset[str],
    level: Callable[[str], Level],
    catalogue: Mapping[str, str],
    sources: Sources,
) -> tuple[list[Finding], list[Finding]]:
    """The findings that comments silence, and findings for those comments of the reported files that do
    nothing."""
    comments: list[Suppression] = []
    idle: list[Finding] = []
    unparsed = {error.path for error in judged.errors}
    concerned = reported.union(finding.span.path for finding in judged.findings)
    commented = sorted((content.commented & concerned) - unparsed)
    if not commented:
        return [], []
    from dynamo_lint import suppressions

    lines = suppressions.lines_of(judged.findings)
    for path in commented:
        here, unknown = suppressions.read(path, sources.text(path), catalogue, content.places[path].is_code)
        comments += here
        if path not in reported:
            continue  # all that other entries compile there was not judged
        idle += unknown
        # Where nothing is compiled nothing was judged, so no comment there can be called unused.
        if path in judged.hot_paths:
            idle += suppressions.unused(here, lines, level(path).codes)
    return suppressions.covered(raw, comments), idle


def _advice_only(finding: Finding, settings: Settings, found: Discovered) -> Finding:
    """A finding in a file that nobody has named, or that another configuration governs: `--fix` leaves it."""
    if finding.fix is None or not finding.fix.edits:
        return finding
    place = found.root / finding.span.path
    if other := next((one for one in settings.nested if place.is_relative_to(one.home)), None):
        why = f"the file is that of another configuration, {other.source}"
        return replace(finding, fix=finding.fix.left(why))
    why = f"name {finding.span.path} to have it fixed"
    return replace(finding, fix=Fix("display", f"{finding.fix.message}; {why}", reason=why))


def _wanted(findings: Iterable[Finding], level: Callable[[str], Level]) -> list[Finding]:
    """The findings that are reported, as severe as the configuration has them."""
    return [one for finding in findings if (one := level(finding.span.path).judged(finding)) is not None]
