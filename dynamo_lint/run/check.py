"""The pipeline: files in, a report out. Data flows one way and nothing here prints."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dynamo_lint import files
from dynamo_lint.config import CONFIDENCES, Settings
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import Finding
from dynamo_lint.report import Report
from dynamo_lint.run.judge import Judged, judge, position, with_fingerprints
from dynamo_lint.run.reading import ALONE, Content, Effort, read_content
from dynamo_lint.selectors import enabled
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.baseline import Baseline
    from dynamo_lint.suppressions import Suppression


def check(
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    accepted: Baseline | None = None,
    effort: Effort = ALONE,
) -> Report:
    """Lint the files that were found; findings that are `accepted` are only counted."""
    content = read_content(settings.region_comment, found, sources, effort.store)
    judged = judge(settings, found, content, sources, effort)
    meant = {error.path for error in judged.errors if error.needs and _is_for_newer(found, error.path)}
    raw = [one for one in judged.findings if one.code != "DYN901" or one.span.path not in meant]
    codes = enabled(settings.select, settings.ignore, settings.pedantic, catalogue)
    silenced, idle = _suppressions(content, judged, raw, found.reported, codes, catalogue, sources)
    silent = {finding.fingerprint for finding in silenced}
    audible = [finding for finding in (*raw, *with_fingerprints(idle)) if finding.fingerprint not in silent]
    heard = sorted((one for one in audible if _wanted(one, settings, codes)), key=position)
    new = heard
    if accepted is not None:
        from dynamo_lint import baseline

        # Also what is below the wanted confidence keeps an entry in use.
        _, missed = baseline.subtract(accepted, audible, found.root)
        new, _ = baseline.subtract(accepted, heard, found.root)
        entries = baseline.unused(accepted, missed, found.root, judged.hot_paths & found.reported, codes)
        new += [one for one in with_fingerprints(entries) if _wanted(one, settings, codes)]
    unfinished = Counter(one.code for one in raw)["DYN906"] - Counter(one.code for one in new)["DYN906"]
    return Report(
        root=found.root,
        torch_version=settings.torch_version,
        files=len(found.reported),
        compiled=judged.compiled,
        findings=tuple(sorted(new, key=position)),
        errors=judged.errors,
        suppressed=sum(_wanted(one, settings, codes) for one in silenced),
        accepted=len(set(heard) - set(new)),
        unfinished=unfinished,
    )


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
    codes: frozenset[str],
    catalogue: Mapping[str, str],
    sources: Sources,
) -> tuple[list[Finding], list[Finding]]:
    """The findings that comments of the reported files silence, and findings for those that do nothing."""
    comments: list[Suppression] = []
    idle: list[Finding] = []
    unparsed = {error.path for error in judged.errors}
    commented = sorted((content.commented & reported) - unparsed)
    if not commented:
        return [], []
    from dynamo_lint import suppressions

    lines = suppressions.lines_of(judged.findings)
    for path in commented:
        here, unknown = suppressions.read(path, sources.text(path), catalogue)
        comments += here
        idle += unknown
        # Where nothing is compiled nothing was judged, so no comment there can be called unused.
        if path in judged.hot_paths:
            idle += suppressions.unused(here, lines, codes)
    return suppressions.covered(raw, comments), idle


def _wanted(finding: Finding, settings: Settings, codes: frozenset[str]) -> bool:
    sure = CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(settings.min_confidence)
    return sure and finding.code in codes
