"""The compiled code of a project, kept until a file changes: judging finds it, `regions` shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store
from dynamo_lint.config import Settings
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.discovery import Discovered
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.recursion import with_deep_stack
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions, Skipped, Unresolved
from dynamo_lint.regions.options import PROGRAM, Idle, RegionOptions
from dynamo_lint.report import Compiled
from dynamo_lint.run.reading import Content, Effort, read_content, read_facts
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.interpreter.account import Accounted
    from dynamo_lint.state.guard_surface import GuardedRead
    from dynamo_lint.state.provenance import Tables

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resolved:
    """Regions without their calls, which only judging asks for."""

    entries: tuple[Entry, ...]
    hot: tuple[CompiledFunction, ...]
    unresolved: tuple[Unresolved, ...]
    skipped: tuple[Skipped, ...]
    idle: tuple[Idle, ...]


def regions_of(settings: Settings, content: Content, sources: Sources, effort: Effort) -> Regions:
    """Everything that is compiled in these files, from the cache if nothing has changed; without calls."""
    store, options = effort.store, settings.region_options
    kept = None if store is None else _kept(store, content, options)
    if kept is not None:
        return Regions(kept.entries, kept.hot, kept.unresolved, skipped=kept.skipped, idle=kept.idle)
    # Late, like all that a cached run never needs.
    from dynamo_lint.program.tables import OF_REGIONS, GrowingTables
    from dynamo_lint.regions.resolve import resolve

    gathering = GrowingTables(OF_REGIONS)
    facts = read_facts(content, sources, effort, gathering.add)
    _, regions = with_deep_stack(lambda: resolve(facts, options, gathered=gathering.tables))
    if store is not None:
        keep(store, content, options, regions)
    return regions


def surface_of(
    settings: Settings, content: Content, sources: Sources, effort: Effort
) -> tuple[GuardedRead, ...]:
    """The Python values that compiled code reads in these files."""
    from dynamo_lint.state.guard_surface import guard_surface

    return _from_tables(guard_surface, settings, content, sources, effort)


def account_of(
    settings: Settings, content: Content, sources: Sources, effort: Effort
) -> tuple[Accounted, ...]:
    """The same with arguments and modes, each with what is known of it from one call to the next."""
    from dynamo_lint.interpreter.account import account

    return _from_tables(account, settings, content, sources, effort)


def reported_account(
    settings: Settings, found: Discovered, sources: Sources, effort: Effort
) -> list[Accounted]:
    """The account of a project, of the values that compiled code in the reported files reads first."""
    content = read_content(settings.region_comment, found, sources, effort.store)
    return [one for one in account_of(settings, content, sources, effort) if one.read[0] in found.reported]


def _from_tables(
    ask: Callable[[Tables], T], settings: Settings, content: Content, sources: Sources, effort: Effort
) -> T:
    """The answer to a question about the tables of these files."""
    from dynamo_lint.program.tables import READINGS, GrowingTables
    from dynamo_lint.regions.resolve import resolve
    from dynamo_lint.state.tables import build

    gathering = GrowingTables(READINGS)
    facts = read_facts(content, sources, effort, gathering.add)

    def answer() -> T:
        project, regions = resolve(facts, settings.region_options, gathered=gathering.tables)
        return ask(build(project, regions, sources.text, settings.torch_version))

    return with_deep_stack(answer)


def with_programs(regions: Regions, compiled: Compiled) -> Regions:
    """The regions with the programs that were not followed to their end: only a verdict knows those."""
    programs = (
        Unresolved(site.path, site.line, site.expression, site.why, kind=site.kind)
        for site in compiled.unresolved
        if site.kind == PROGRAM
    )
    return replace(regions, unresolved=(*regions.unresolved, *programs))


def keep(store: Store, content: Content, options: RegionOptions, regions: Regions) -> None:
    """Keep what was resolved for these files."""
    resolved = Resolved(regions.entries, regions.hot, regions.unresolved, regions.skipped, regions.idle)
    store.save({_address(content, options): Codec(Resolved).encode(resolved)})


def facts_of(
    content: Content, paths: Collection[str], sources: Sources, effort: Effort
) -> Mapping[str, FileFacts]:
    """The facts of some files."""
    part = replace(
        content,
        places={path: place for path, place in content.places.items() if path in paths},
        keys={path: address for path, address in content.keys.items() if path in paths},
    )
    return read_facts(part, sources, effort)


def _kept(store: Store, content: Content, options: RegionOptions) -> Resolved | None:
    address = _address(content, options)
    try:
        return Codec(Resolved).decode(store.load([address])[address])
    except (KeyError, BadData):
        return None


def _address(content: Content, options: RegionOptions) -> bytes:
    return key("regions", content.address, options)
