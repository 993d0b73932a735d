"""One report of several: what was judged under different configurations is told together.

A file is governed by one configuration. What others say of it, because their entries compile code there, is
told as well, but for what the configuration of the file has an opinion on itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import SEVERITIES, Finding
from dynamo_lint.report import Change, Compiled, Report, Since, Site
from dynamo_lint.run.fingerprints import position
from dynamo_lint.run.rewrite import Rewritten


def joined_report(reports: Sequence[Report], founds: Sequence[Discovered]) -> Report:
    """The report on all groups, whose roots are the same; `founds` are the files of each."""
    if len(reports) == 1:
        return reports[0]
    first, named = reports[0], frozenset[str]().union(*(found.reported for found in founds))
    return replace(
        first,
        torch_version=min(report.torch_version for report in reports),
        files=sum(report.files for report in reports),
        compiled=_joined_compiled([report.compiled for report in reports], named),
        findings=_joined_findings(reports, founds),
        errors=tuple(error for report in reports for error in report.errors),
        suppressed=sum(report.suppressed for report in reports),
        accepted=sum(report.accepted for report in reports),
        since=_joined_since([report.since for report in reports if report.since is not None]),
        change=_joined_change([report.change for report in reports if report.change is not None]),
        unfinished=sum(report.unfinished for report in reports),
        compiled_paths=first.compiled_paths.union(*(report.compiled_paths for report in reports)),
        outside=first.outside.union(*(report.outside for report in reports)) - named,
        lacks_entries=any(report.lacks_entries for report in reports),
        fail_level=min((report.fail_level for report in reports), key=SEVERITIES.index),
        fail_levels={path: level for report in reports for path, level in report.fail_levels.items()},
    )


def joined_rewrites(rewrites: Sequence[Rewritten], report: Report) -> Rewritten:
    """The files as several rewrites leave them that were made one after the other."""
    files: dict[str, bytes] = {}
    originals: dict[str, bytes] = {}
    for done in rewrites:
        files |= done.files
        originals = {**done.originals, **originals}
    return Rewritten(
        files=files,
        originals=originals,
        applied=tuple(finding for done in rewrites for finding in done.applied),
        refused=tuple(refusal for done in rewrites for refusal in done.refused),
        report=report,
        suggested=tuple(finding for done in rewrites for finding in done.suggested),
    )


def _joined_findings(reports: Sequence[Report], founds: Sequence[Discovered]) -> tuple[Finding, ...]:
    governing = {path: number for number, found in enumerate(founds) for path in found.reported}
    told: dict[str, Finding] = {}
    for number, report in enumerate(reports):
        for finding in report.findings:
            governor = governing.get(finding.span.path, number)
            if governor == number or finding.fingerprint not in reports[governor].judged:
                told.setdefault(finding.fingerprint, finding)
    return tuple(sorted(told.values(), key=position))


def _joined_compiled(parts: Sequence[Compiled], named: frozenset[str]) -> Compiled:
    names = frozenset[tuple[str, str]]().union(*(part.names for part in parts))
    return Compiled(
        entries=sum(part.entries for part in parts),
        functions=len(names),
        unresolved=_distinct(site for part in parts for site in part.unresolved),
        skipped=_distinct(site for part in parts for site in part.skipped),
        leading=sum(part.leading for part in parts),
        elsewhere=tuple(sorted({path for part in parts for path in part.elsewhere} - named)),
        names=names,
    )


def _distinct(sites: Iterable[Site]) -> tuple[Site, ...]:
    return tuple(sorted(dict.fromkeys(sites), key=lambda site: (site.path, site.line)))


def _joined_since(parts: Sequence[Since]) -> Since | None:
    return replace(parts[0], older=sum(part.older for part in parts)) if parts else None


def _joined_change(parts: Sequence[Change]) -> Change | None:
    return replace(parts[0], elsewhere=sum(part.elsewhere for part in parts)) if parts else None
