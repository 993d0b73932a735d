"""Judging: the findings of all rules before comments and options apply, kept until a file changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store
from dynamo_lint.config import ConfigError, Settings
from dynamo_lint.contract import KEY
from dynamo_lint.dataclass import dataclass
from dynamo_lint.discovery import Discovered
from dynamo_lint.distribution import Home, homes
from dynamo_lint.findings import FileError, Finding, Span
from dynamo_lint.guards import Identity, read_guards
from dynamo_lint.lintrules import advice, lint_finding
from dynamo_lint.recursion import with_deep_stack
from dynamo_lint.regions.options import ENTRY
from dynamo_lint.report import Site
from dynamo_lint.run.fingerprints import with_fingerprints
from dynamo_lint.run.named import Group, Judged, Reach, Verdict, on_named
from dynamo_lint.run.reading import ALONE, Content, Effort, read_facts
from dynamo_lint.sources import Sources
from dynamo_lint.trouble import Trouble

if TYPE_CHECKING:
    from dynamo_lint.index.ir import FileFacts
    from dynamo_lint.program.dependencies import Recorder
    from dynamo_lint.program.project import Project
    from dynamo_lint.program.refs import ClassRef, FunctionRef
    from dynamo_lint.program.tables import FilledTables
    from dynamo_lint.regions.model import Regions, Unresolved

Reads = Mapping["FunctionRef", int]
"""How many guarded values each compiled function reads."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A verdict as the cache has it."""

    verdict: Verdict
    reach: str
    """The address of its reach: apart, because that holds no lines, and so outlives edits as it is."""


def judge(
    settings: Settings, found: Discovered, content: Content, sources: Sources, effort: Effort = ALONE
) -> Judged:
    """The verdict on the files that were named, from the cache if nothing has changed in their project."""
    verdict, reach = _project_verdict(settings, found, content, sources, effort)
    return on_named(verdict, reach, found)


def _project_verdict(
    settings: Settings, found: Discovered, content: Content, sources: Sources, effort: Effort
) -> tuple[Verdict, Reach]:
    """The verdict on all files that were read, whichever of them were named."""
    shipped = () if settings.application else homes(str(found.root), found.files)
    guards = accepted_guards(settings, found.root)
    store = effort.store
    if store is None:
        verdict, regions, reads = _judge(settings, content, sources, sources, effort, shipped, guards)
        return verdict, _reach(regions, reads)
    circumstances = (
        settings.region_options,
        settings.torch_version,
        settings.wants_everything,
        settings.recompile_limit,
        settings.contract,
        shipped,
        None if guards is None else tuple(sorted(guards)),
    )
    address = key("judged", content.address, *circumstances)
    latest = key("latest", str(found.root), sorted(content.unreadable.items()), *circumstances)
    kept = _loaded(store, store.load([address]).get(address))
    if kept is not None:
        return kept
    # Late, like all that a cached run never needs.
    from dynamo_lint.program.dependencies import Recorder
    from dynamo_lint.run import resolved, verdicts

    kept = _loaded(store, verdicts.reusable(store, latest, address, content, sources, Codec(Kept)))
    if kept is not None:
        return kept
    watched, notes = sources.watched(), Recorder()
    verdict, regions, reads = _judge(settings, content, sources, watched, effort, shipped, guards, notes)
    resolved.keep(store, content, settings.region_options, regions)
    reach = _reach(regions, reads)
    packed = Codec(Reach).encode(reach)
    place = key("reach", packed)
    store.save_new([(place, packed)])
    said = Codec(Kept).encode(Kept(verdict, place.hex()))
    verdicts.keep(store, latest, address, said, content, watched, notes)
    return verdict, reach


def accepted_guards(settings: Settings, root: Path) -> frozenset[Identity] | None:
    """The guarded values that the contract lists; None if it names no file. Raises a `Trouble`."""
    named = settings.contract.guard_surface
    if not isinstance(named, str):
        return None
    try:
        return read_guards((settings.folder / named).absolute(), root)
    except Trouble as trouble:
        keys = KEY, "guard-surface"
        raise ConfigError(f"{settings.place(*keys)}{'.'.join(keys)}: {trouble}") from None


def _loaded(store: Store, data: bytes | None) -> tuple[Verdict, Reach] | None:
    """A verdict that was kept, with its reach; one that cannot be read whole is as good as none."""
    if data is None:
        return None
    try:
        kept = Codec(Kept).decode(data)
        place = bytes.fromhex(kept.reach)
        return kept.verdict, Codec(Reach).decode(store.load([place])[place])
    except (BadData, KeyError, ValueError):
        return None


def _judge(
    settings: Settings,
    content: Content,
    sources: Sources,
    watched: Sources,
    effort: Effort,
    shipped: tuple[Home, ...],
    guards: frozenset[Identity] | None,
    notes: Recorder | None = None,
) -> tuple[Verdict, Regions, Reads]:
    """Judge everything; what is asked of facts is put into `notes`, and `watched` is asked for text then."""
    # Late, like all that a cached run never needs.
    from dynamo_lint.program.tables import READINGS, GrowingTables

    gathering = GrowingTables(READINGS)
    facts = read_facts(content, sources, effort, gathering.add)
    tables = gathering.tables
    return with_deep_stack(
        lambda: _judge_facts(settings, facts, tables, watched, shipped, guards, notes, effort.go_on)
    )


def _judge_facts(
    settings: Settings,
    facts: Mapping[str, FileFacts],
    gathered: FilledTables,
    sources: Sources,
    shipped: tuple[Home, ...],
    guards: frozenset[Identity] | None,
    notes: Recorder | None,
    go_on: Callable[[], None],
) -> tuple[Verdict, Regions, Reads]:
    from dynamo_lint.regions.resolve import resolve

    project, regions = resolve(facts, settings.region_options, notes, gathered, go_on)
    raw, programs, reads = _hazards(settings, project, regions, sources, shipped, guards)
    raw += _unresolved(regions)
    verdict = Verdict(
        findings=tuple(with_fingerprints(raw)),
        errors=tuple(_file_errors(facts)),
        hot_paths=frozenset(hot.function.path for hot in regions.hot),
        unresolved=tuple(
            Site(site.path, site.line, site.expression, site.why, site.candidates, site.kind)
            for site in (*regions.unresolved, *programs)
        ),
        skipped=tuple(Site(site.path, site.line, site.expression, site.why) for site in regions.skipped),
        idle=regions.idle,
    )
    return verdict, regions, reads


def _reach(regions: Regions, reads: Reads) -> Reach:
    """Which functions each entry makes hot, and how much state each of them reads."""
    groups: dict[tuple[int, ...], dict[tuple[str, str], None]] = {}
    for hot in regions.hot:
        groups.setdefault(hot.entries, {})[hot.function.path, hot.function.key] = None
    return Reach(
        tuple(entry.path for entry in regions.entries),
        tuple(Group(entries, tuple(functions)) for entries, functions in groups.items()),
        tuple((ref.path, ref.key, count) for ref, count in reads.items()),
    )


def _hazards(
    settings: Settings,
    project: Project,
    regions: Regions,
    sources: Sources,
    shipped: tuple[Home, ...],
    guards: frozenset[Identity] | None,
) -> tuple[list[Finding], list[Unresolved], Reads]:
    """The findings of the rules, the programs that were not followed to their end, and what is read."""
    from dynamo_lint.state.captured import records
    from dynamo_lint.state.environment_writes import environment_writes
    from dynamo_lint.state.late_caches import late_caches
    from dynamo_lint.state.practice import practice_of

    compiled = regions.hot or regions.entries or regions.unresolved or regions.skipped
    judged = (
        compiled
        or practice_of(project)
        or environment_writes(project)
        or project.launchers
        or records(project)
        or any(True for _ in late_caches(project))
    )
    if not judged:
        return [], [], {}
    # Imported late: a run over code that compiles nothing never needs the rules.
    from dynamo_lint.fixes.attach import attach
    from dynamo_lint.interpreter.find import unentered, unfollowed
    from dynamo_lint.rules import judge
    from dynamo_lint.rules.base import Context
    from dynamo_lint.run.terms import own_contracts
    from dynamo_lint.state.guard_surface import guarded_reads
    from dynamo_lint.state.tables import build

    context = Context(
        torch_version=settings.torch_version,
        pedantic=settings.wants_everything,
        recompile_limit=settings.recompile_limit,
        configured_limit=settings.recompile_limit,
        contract=settings.contract,
        guards=guards,
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
    return findings, [*unfollowed(tables), *unentered(tables)], guarded_reads(tables)


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


def _file_errors(facts: Mapping[str, FileFacts]) -> list[FileError]:
    return [
        FileError(path, *fact.error, fact.needs, *_weight(fact), fact.error_column)
        for path, fact in sorted(facts.items())
        if fact.error is not None
    ]


def _weight(fact: FileFacts) -> tuple[str, str]:
    """How severe it is that a file could not be read, and what to do if that is not to mend it."""
    if fact.foreign:
        return "note", "nothing to do; `exclude` leaves it out without this note"
    return "warning" if fact.needs else "error", ""


def _unresolved(regions: Regions) -> list[Finding]:
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
