"""Judging: the findings of all rules before comments and options apply, kept until a file changes."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.config import Settings
from dynamo_lint.discovery import Discovered
from dynamo_lint.distribution import Home, homes
from dynamo_lint.findings import FileError, Finding, Span
from dynamo_lint.lintrules import advice, lint_finding
from dynamo_lint.recursion import with_deep_stack
from dynamo_lint.regions.options import Idle
from dynamo_lint.report import Compiled, Site
from dynamo_lint.run.reading import ALONE, Content, Effort, read_facts
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.index.ir import FileFacts
    from dynamo_lint.program.dependencies import Recorder
    from dynamo_lint.program.project import Project
    from dynamo_lint.program.refs import ClassRef, FunctionRef
    from dynamo_lint.program.tables import FilledTables
    from dynamo_lint.regions.model import Regions, Unresolved


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on all files."""

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


def judge(
    settings: Settings, found: Discovered, content: Content, sources: Sources, effort: Effort = ALONE
) -> Judged:
    """The verdict on these files, from the cache if nothing has changed."""
    shipped = () if settings.application else homes(str(found.root), found.files)
    if effort.store is None:
        return _judge(settings, found, content, sources, sources, effort, shipped)
    circumstances = (
        sorted(found.reported),
        found.errors,
        settings.region_options,
        settings.torch_version,
        settings.wants_everything,
        settings.recompile_limit,
        settings.contract,
        shipped,
    )
    address = key("judged", content.address, *circumstances)
    latest = key("latest", list(content.places), sorted(content.unreadable.items()), *circumstances)
    kept = _decoded(effort.store.load([address]).get(address))
    if kept is not None:
        return kept
    # Late, like all that a cached run never needs.
    from dynamo_lint.program.dependencies import Recorder
    from dynamo_lint.run import verdicts

    kept = _decoded(verdicts.reusable(effort.store, latest, address, content, sources, Codec(Judged)))
    if kept is not None:
        return kept
    watched, notes = sources.watched(), Recorder()
    judged = _judge(settings, found, content, sources, watched, effort, shipped, notes)
    verdict = Codec(Judged).encode(judged)
    verdicts.keep(effort.store, latest, address, verdict, content, watched, notes)
    return judged


def _decoded(verdict: bytes | None) -> Judged | None:
    """A verdict that was kept; one that cannot be read is as good as none."""
    try:
        return None if verdict is None else Codec(Judged).decode(verdict)
    except BadData:
        return None


def _judge(
    settings: Settings,
    found: Discovered,
    content: Content,
    sources: Sources,
    watched: Sources,
    effort: Effort,
    shipped: tuple[Home, ...],
    notes: Recorder | None = None,
) -> Judged:
    """Judge everything; what is asked of facts is put into `notes`, and `watched` is asked for text then."""
    # Late, like all that a cached run never needs.
    from dynamo_lint.program.tables import READINGS, GrowingTables

    gathering = GrowingTables(READINGS)
    facts = read_facts(content, sources, effort, gathering.add)
    return with_deep_stack(
        lambda: _judge_facts(settings, found, facts, gathering.tables, watched, shipped, notes)
    )


def _judge_facts(
    settings: Settings,
    found: Discovered,
    facts: Mapping[str, FileFacts],
    gathered: FilledTables,
    sources: Sources,
    shipped: tuple[Home, ...],
    notes: Recorder | None,
) -> Judged:
    from dynamo_lint.regions.resolve import resolve

    project, regions = resolve(facts, settings.region_options, notes, gathered)
    errors = [*found.errors, *_file_errors(facts, found.reported)]
    raw, programs = _hazards(settings, project, regions, sources, shipped)
    regions = replace(regions, unresolved=(*regions.unresolved, *programs))
    raw += [_unreadable(error) for error in errors]
    raw += _unresolved(regions, facts)
    return Judged(
        findings=tuple(_concerning(found.reported, regions, with_fingerprints(raw))),
        errors=tuple(errors),
        hot_paths=frozenset(hot.function.path for hot in regions.hot),
        compiled=_compiled(regions, found.reported),
        compiles=bool(regions.hot),
        idle=regions.idle,
    )


def _concerning(
    reported: Collection[str], regions: Regions, findings: Iterable[Finding]
) -> Iterator[Finding]:
    """The findings whose line is in a reported file, or whose compile entry is."""
    here = {number for number, entry in enumerate(regions.entries) if entry.path in reported}
    reached = {hot.function.id for hot in regions.hot if not here.isdisjoint(hot.entries)}
    for finding in findings:
        entered = finding.region is not None and finding.region[0] in reported
        within = not reached.isdisjoint((finding.symbol, finding.subject))
        if entered or within or finding.span.path in reported or finding.code == "DYN901":
            yield finding


def _compiled(regions: Regions, reported: Collection[str]) -> Compiled:
    """How much the entries of the reported files compile, and how much of these files others do."""
    from dynamo_lint.regions.model import part

    shown = part(regions, reported)
    functions = {hot.function for hot in shown.hot}
    outside = [hot for hot in shown.hot if hot.function.path not in reported]
    return Compiled(
        entries=len(shown.entries),
        functions=len(functions),
        unresolved=tuple(
            Site(site.path, site.line, site.expression, site.why, site.candidates, site.kind)
            for site in shown.unresolved
        ),
        skipped=tuple(Site(site.path, site.line, site.expression, site.why) for site in shown.skipped),
        leading=len({number for hot in outside for number in hot.entries}),
        elsewhere=tuple(sorted({hot.function.path for hot in outside})),
    )


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """Number equal findings in line order, so that a fingerprint survives edits elsewhere in the file."""
    seen: Counter[tuple[str, ...]] = Counter()
    done = []
    for finding in sorted(findings, key=position):
        identity = (finding.code, finding.span.path, finding.symbol, finding.subject)
        text = "\0".join((*identity, str(seen[identity])))
        seen[identity] += 1
        digest = hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()
        done.append(replace(finding, fingerprint=digest))
    return done


def _hazards(
    settings: Settings, project: Project, regions: Regions, sources: Sources, shipped: tuple[Home, ...]
) -> tuple[list[Finding], list[Unresolved]]:
    """The findings of the rules, and the programs that were not followed to their end."""
    from dynamo_lint.state.environment_writes import environment_writes
    from dynamo_lint.state.practice import practice_of

    compiled = regions.hot or regions.entries or regions.unresolved or regions.skipped
    if not (compiled or practice_of(project) or environment_writes(project)):
        return [], []
    # Imported late: a run over code that compiles nothing never needs the rules.
    from dynamo_lint.fixes.attach import attach
    from dynamo_lint.interpreter.find import unfollowed
    from dynamo_lint.rules import judge
    from dynamo_lint.rules.base import Context
    from dynamo_lint.run.terms import own_contracts
    from dynamo_lint.state.tables import build

    context = Context(
        torch_version=settings.torch_version,
        pedantic=settings.wants_everything,
        recompile_limit=settings.recompile_limit,
        configured_limit=settings.recompile_limit,
        contract=settings.contract,
        own_contracts=tuple(own_contracts(settings.contract, project)),
    )
    tables = build(project, regions, sources.text, settings.torch_version)
    found = attach(judge(tables, context), tables, sources, shipped)
    findings = [
        *found,
        *(_skipped(project, ref, why) for ref, why in tables.skipped),
        *(_cut(project, ref) for ref in {h.function: None for h in regions.hot} if project.function(ref).cut),
        *(_not_compared(project, ref, why) for ref, why in tables.units.skipped),
    ]
    return findings, [*unfollowed(tables)]


def _skipped(project: Project, ref: FunctionRef, why: str) -> Finding:
    function = project.function(ref)
    message = f"`{function.qualname}` was not analysed: {why}"
    return _unfinished(ref, function.line, message, "state that it reads or changes was not linted")


def _cut(project: Project, ref: FunctionRef) -> Finding:
    function = project.function(ref)
    message = f"`{function.qualname}` was not analysed to the end: it has a chain of too many calls"
    return _unfinished(
        ref, function.line, message, "functions that the first calls of the chain run were not linted"
    )


def _not_compared(project: Project, ref: ClassRef | FunctionRef, why: str) -> Finding:
    from dynamo_lint.program.refs import ClassRef

    if isinstance(ref, ClassRef):
        line = project.class_(ref).line
        message = f"the instances of `{ref.name}` were not all compared: {why}"
    else:
        line = project.function(ref).line
        name = project.function(ref).qualname
        message = f"the modules that `{name}` creates were not all analysed: {why}"
    return _unfinished(ref, line, message, "some differences between them were not linted")


def _unfinished(ref: ClassRef | FunctionRef, line: int, message: str, cost: str) -> Finding:
    return lint_finding(
        "DYN906",
        Span(ref.path, line, 1, line, 1),
        ref.id,
        message,
        cost,
        "split it into smaller parts, or exclude the file with `exclude`",
        severity="warning",
    )


def _file_errors(facts: Mapping[str, FileFacts], reported: frozenset[str]) -> list[FileError]:
    return [
        FileError(path, *fact.error, fact.needs, *_weight(fact), fact.error_column)
        for path, fact in sorted(facts.items())
        if path in reported and fact.error is not None
    ]


def _weight(fact: FileFacts) -> tuple[str, str]:
    """How severe it is that a file could not be read, and what to do if that is not to mend it."""
    if fact.foreign:
        return "note", "nothing to do; `exclude` leaves it out without this note"
    return "warning" if fact.needs else "error", ""


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


def _unresolved(regions: Regions, facts: Mapping[str, FileFacts]) -> list[Finding]:
    from dynamo_lint.regions.model import ENTRY

    return [
        lint_finding(
            "DYN902",
            Span(site.path, site.line, 1, site.line, 1),
            site.expression,
            f"the target of `{site.expression}` is unknown: {site.why}",
            "the code that it compiles was not linted",
            advice(site, "`"),
        )
        for site in regions.unresolved
        if site.kind == ENTRY
    ]


def position(finding: Finding) -> tuple[str, int, int, str]:
    """Findings are listed in this order."""
    return finding.span.path, finding.span.line, finding.span.column, finding.code
