"""The pipeline: files in, a report out. Data flows one way and nothing here prints."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from dynamo_lint import baseline, suppressions
from dynamo_lint.config import CONFIDENCES, Settings
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import FileError, Finding, Span
from dynamo_lint.index.facts import FileFacts
from dynamo_lint.index.modules import module_name
from dynamo_lint.index.summarize import summarize
from dynamo_lint.lintrules import declaration, lint_finding
from dynamo_lint.regions.model import Regions
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.report import Report
from dynamo_lint.selectors import enabled
from dynamo_lint.sources import Sources

Progress = Callable[[int, int], None]
"""Is told now and then how many files are read, and how many there are."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What reading all files gave."""

    facts: Mapping[str, FileFacts]
    commented: frozenset[str]
    """Paths whose text may hold suppressions."""


def check(
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    accepted: baseline.Baseline | None = None,
    progress: Progress | None = None,
) -> Report:
    """Lint the files that were found; findings that are `accepted` are only counted."""
    index = read_files(settings, found, sources, progress)
    project, regions = resolve(index.facts, settings.region_options)
    errors = [*found.errors, *_file_errors(index.facts, found.reported)]

    raw = [*_hazards(settings, project, regions, sources)]
    raw += [_unreadable(error) for error in errors]
    raw += _unresolved(regions, index.facts)
    raw = [finding for finding in raw if finding.span.path in found.reported or finding.code == "DYN901"]
    raw = with_fingerprints(raw)

    codes = enabled(settings.select, settings.ignore, settings.pedantic, catalogue)
    comments, idle = _suppressions(index, found.reported, regions, raw, codes, catalogue, sources)
    silenced = [finding for finding in raw if any(comment.covers(finding) for comment in comments)]
    silent = {finding.fingerprint for finding in silenced}
    audible = [finding for finding in (*raw, *with_fingerprints(idle)) if finding.fingerprint not in silent]
    heard = sorted((one for one in audible if _wanted(one, settings, codes)), key=_position)
    new = heard
    if accepted is not None:
        # Also what is below the wanted confidence keeps an entry in use.
        _, missed = baseline.subtract(accepted, audible, found.root)
        new, _ = baseline.subtract(accepted, heard, found.root)
        judged = {hot.function.path for hot in regions.hot} & found.reported
        entries = baseline.unused(accepted, missed, found.root, judged, codes)
        new += [one for one in with_fingerprints(entries) if _wanted(one, settings, codes)]
    return Report(
        root=found.root,
        torch_version=settings.torch_version,
        files=len(found.reported),
        regions=regions,
        findings=tuple(sorted(new, key=_position)),
        errors=tuple(errors),
        suppressed=sum(_wanted(one, settings, codes) for one in silenced),
        accepted=len(set(heard) - set(new)),
    )


def read_files(
    settings: Settings, found: Discovered, sources: Sources, progress: Progress | None = None
) -> Indexed:
    """Summarise every file; each is independent of the others."""
    folders = {str(folder) for path in found.files for folder in PurePosixPath(path).parents}
    packages = {folder for folder in folders - {"."} if (found.root / folder / "__init__.py").is_file()}
    around = _package_around(found.root)
    facts: dict[str, FileFacts] = {}
    commented: set[str] = set()
    for done, path in enumerate(found.files, 1):
        module, is_package = _module(path, packages, around)
        facts[path], may_suppress = read_file(sources, path, module, is_package, settings.region_comment)
        if may_suppress:
            commented.add(path)
        if progress is not None:
            progress(done, len(found.files))
    return Indexed(facts, frozenset(commented))


def read_file(
    sources: Sources, path: str, module: str, is_package: bool, region_comment: str | None
) -> tuple[FileFacts, bool]:
    """Summarise one file, and say whether it may hold suppressions."""
    try:
        source = sources.raw(path)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        return FileFacts(path, module, is_package, error=(1, why)), False
    facts = summarize(path, module, is_package, source, region_comment)
    return facts, facts.error is None and suppressions.may_suppress(source)


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """Number equal findings in line order, so that a fingerprint survives edits elsewhere in the file."""
    seen: Counter[tuple[str, ...]] = Counter()
    done = []
    for finding in sorted(findings, key=_position):
        identity = (finding.code, finding.span.path, finding.symbol, finding.subject)
        text = "\0".join((*identity, str(seen[identity])))
        seen[identity] += 1
        digest = hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()
        done.append(replace(finding, fingerprint=digest))
    return done


def _package_around(root: Path) -> str:
    """The dotted name of the package that `root` itself is; empty if it is none."""
    names: list[str] = []
    while (root / "__init__.py").is_file() and root.name:
        names.insert(0, root.name)
        root = root.parent
    return ".".join(names)


def _module(path: str, packages: set[str], around: str) -> tuple[str, bool]:
    name, is_package = module_name(path, packages)
    folders = [str(folder) for folder in PurePosixPath(path).parents][:-1]
    if around and packages.issuperset(folders):
        name = around if path == "__init__.py" else f"{around}.{name}"
    return name, is_package


def _hazards(settings: Settings, project: Project, regions: Regions, sources: Sources) -> list[Finding]:
    if not regions.hot:
        return []
    # Imported late: this pulls in libcst, which a run over code that compiles nothing never needs.
    from dynamo_lint.fixes.attach import attach
    from dynamo_lint.rules import judge
    from dynamo_lint.rules.base import Context
    from dynamo_lint.state.tables import build

    context = Context(
        torch_version=settings.torch_version,
        pedantic=settings.pedantic,
        recompile_limit=settings.recompile_limit,
    )
    tables = build(project, regions, sources.text)
    return attach(judge(tables, context), tables, sources)


def _suppressions(
    index: Indexed,
    reported: frozenset[str],
    regions: Regions,
    raw: list[Finding],
    codes: frozenset[str],
    catalogue: Mapping[str, str],
    sources: Sources,
) -> tuple[list[suppressions.Suppression], list[Finding]]:
    """The suppressions of the reported files, and findings for those that do nothing."""
    # Where nothing is compiled nothing was judged, so no comment there can be called unused.
    judged = {hot.function.path for hot in regions.hot}
    comments: list[suppressions.Suppression] = []
    idle: list[Finding] = []
    for path in sorted(index.commented & reported):
        here, unknown = suppressions.read(path, sources.text(path), catalogue)
        comments += here
        idle += unknown
        if path in judged:
            idle += suppressions.unused(here, raw, codes)
    return comments, idle


def _file_errors(facts: Mapping[str, FileFacts], reported: frozenset[str]) -> list[FileError]:
    return [
        FileError(path, *fact.error)
        for path, fact in sorted(facts.items())
        if path in reported and fact.error is not None
    ]


def _unreadable(error: FileError) -> Finding:
    return lint_finding(
        "DYN901",
        Span(error.path, error.line, 1, error.line, 1),
        error.path,
        f"this file was not linted: {error.message}",
        "nothing in it was linted, and calls into it were not followed",
        "repair it, or leave it out with `exclude`",
        severity="error",
    )


def _unresolved(regions: Regions, facts: Mapping[str, FileFacts]) -> list[Finding]:
    return [
        lint_finding(
            "DYN902",
            Span(site.path, site.line, 1, site.line, 1),
            site.expression,
            f"`{site.expression}` compiles something that could not be named: {site.why}",
            "whatever it compiles was not linted",
            f"declare what it compiles: `{declaration(site.path, facts)}`",
        )
        for site in regions.unresolved
    ]


def _wanted(finding: Finding, settings: Settings, codes: frozenset[str]) -> bool:
    sure = CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(settings.min_confidence)
    return sure and finding.code in codes


def _position(finding: Finding) -> tuple[str, int, int, str]:
    return finding.span.path, finding.span.line, finding.span.column, finding.code
