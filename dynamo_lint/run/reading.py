"""Reading all files: what they are called, what they contain, and the facts of each.

Facts come from the cache where the content is known; the rest is summarised, by several processes where that
pays. Content is read once, so that a file that changes during a run cannot disagree with its facts.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dynamo_lint.cache.codec import BadData
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.discovery import PACKAGING, Discovered
from dynamo_lint.glances import ADDRESSED, BUILDS, FINDS, Glances
from dynamo_lint.index.launcher_names import is_text, is_wanted
from dynamo_lint.index.modules import module_name
from dynamo_lint.index.notebooks import OtherLanguage, is_notebook
from dynamo_lint.index.source_file import SourceFile
from dynamo_lint.recursion import with_deep_stack
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.cache.codec import Codec
    from dynamo_lint.index.ir import FileFacts
Progress = Callable[[int, int], None]
"""Is told now and then how many files are read, and how many there are."""
Gather = Callable[["FileFacts"], None]
"""Takes the facts of one file after the other, in their order, while other processes read the next."""
_WORTH_A_POOL = 600_000
"""Bytes to summarise, about a third of a second, from which a second process saves time."""
_SAVED_AT_ONCE = 200
"""New entries; a run that is broken off loses no more."""


@dataclass(frozen=True, slots=True)
class Effort:
    """With what a run goes about its work; it makes no difference to the result."""

    store: Store | None = None
    jobs: int = 1
    progress: Progress | None = None
    held: dict[bytes, FileFacts] | None = None
    """The facts that were last read, by address, for a run that lints again with other text in some files."""
    go_on: Callable[[], None] = field(default=lambda: None)
    """Is called again and again while files are judged; it may raise what ends the run."""


ALONE = Effort()
"""One process, no cache."""


@dataclass(frozen=True, slots=True)
class Content:
    """The files on disk: enough to know whether anything has changed."""

    places: Mapping[str, SourceFile]
    keys: Mapping[str, bytes]
    """For every file that could be read, the address of its facts."""
    unreadable: Mapping[str, FileFacts]
    """Every other file, with the reason."""
    commented: frozenset[str]
    """Paths whose text may hold suppressions."""

    @property
    def address(self) -> bytes:
        """Stands for all of it."""
        return key("files", sorted(self.keys.items()), sorted(self.unreadable.items()))


def read_content(
    region_comment: str | None, found: Discovered, sources: Sources, store: Store | None = None
) -> Content:
    """Read every file, and name it."""
    glances = Glances(store, key("glances", str(found.root)))
    packages = _packages(found)
    around = _package_around(found.root)
    places: dict[str, SourceFile] = {}
    keys: dict[str, bytes] = {}
    unreadable: dict[str, FileFacts] = {}
    commented: set[str] = set()
    builds = finds = False
    launchers = {*found.launchers}
    for path in found.files:
        if path in launchers:
            continue  # somebody named it
        module, is_package = _module(path, packages, around)
        places[path] = place = SourceFile(path, module, is_package, region_comment)
        try:
            source = sources.raw(path)
        except OSError as error:
            unreadable[path] = _unreadable(place, error)
            continue
        keys[path] = key("facts", place, source)
        seen = glances.at(keys[path], source)
        if seen & ADDRESSED:
            commented.add(path)
        finds = finds or bool(seen & FINDS)
        builds = builds or bool(seen & BUILDS)
    glances.keep()
    for path in found.settings() if builds or finds else ():
        if path in places:
            continue  # somebody named it, as if it were code
        if finds if path.endswith(PACKAGING) else builds:
            places[path] = SourceFile(path, path, False, None, is_code=False)
    for path in found.launchers:
        configures = path in places
        places[path] = SourceFile(path, path, False, None, False, True, configures)
    for path in [path for path, place in places.items() if not place.is_code]:
        place = places[path]
        try:
            source = sources.raw(path)
        except OSError as error:
            unreadable[path] = _unreadable(place, error)
            continue
        if place.is_launcher and not (is_wanted(path, source) and is_text(source)):
            if path in found.files and not is_text(source):  # somebody named it
                unreadable[path] = place.unreadable("it is no text")
                continue
            if not place.is_configuration:
                del places[path]
                continue
            places[path] = place = replace(place, is_launcher=False)
        keys[path] = key("facts", place, source)
        if place.is_launcher and b"dynamo-lint:" in source:
            commented.add(path)
    return Content(places, keys, unreadable, frozenset(commented))


def read_facts(
    content: Content, sources: Sources, effort: Effort = ALONE, gather: Gather | None = None
) -> Mapping[str, FileFacts]:
    """The facts of every file, in the order of `content`.

    `gather` is given all of them if other processes read some, and none if this one does it all.
    """
    store = effort.store
    held = effort.held if effort.held is not None else {}
    known = store.load(one for one in content.keys.values() if one not in held) if store is not None else {}
    facts: dict[str, FileFacts | None] = {}
    missing: list[tuple[SourceFile, bytes]] = []
    for path, place in content.places.items():
        if path in content.unreadable:
            facts[path] = content.unreadable[path]
            continue
        address = content.keys[path]
        facts[path] = held.get(address) or _unpacked(known.pop(address, None))
        if facts[path] is None:  # keeps its place in the order
            missing.append((place, sources.raw(path)))
    fresh: dict[bytes, bytes] = {}
    total, waiting = len(facts), deque(facts)
    for number, (place, fact, packed) in enumerate(_summaries(missing, effort.jobs)):
        facts[place.path] = fact
        while gather is not None and packed and waiting and (ready := facts[waiting[0]]) is not None:
            gather(ready)
            waiting.popleft()
        if effort.progress is not None:
            effort.progress(total - len(missing) + number + 1, total)
        if store is not None:
            fresh[content.keys[place.path]] = packed or _codec().encode(fact)
            if len(fresh) >= _SAVED_AT_ONCE:
                store.save(fresh)
                fresh.clear()
    if store is not None and fresh:
        store.save(fresh)
    whole = {path: fact for path, fact in facts.items() if fact is not None}
    held.clear()
    held.update((content.keys[path], fact) for path, fact in whole.items() if path in content.keys)
    return whole


def facts_at(
    content: Content, sources: Sources, store: Store, path: str, address: bytes | None
) -> FileFacts | None:
    """The facts of one file at an address of the cache; as it is now, if none is given."""
    wanted = address or content.keys[path]
    known = _unpacked(store.load([wanted]).get(wanted))
    if known is None and address is None:
        known = with_deep_stack(partial(content.places[path].summarize, sources.raw(path)))
        store.save({wanted: _codec().encode(known)})
    return known


def _summaries(
    missing: list[tuple[SourceFile, bytes]], jobs: int
) -> Iterator[tuple[SourceFile, FileFacts, bytes | None]]:
    """The facts of each file, and as bytes where another process has sent them."""
    if jobs > 1 and sum(len(source) for _, source in missing) >= _WORTH_A_POOL:
        from dynamo_lint.run.workers import summaries

        for place, packed in summaries(missing, jobs):
            yield place, _codec().decode(packed), packed
        return
    for place, source in missing:
        yield place, with_deep_stack(partial(place.summarize, source)), None


def _unreadable(place: SourceFile, error: OSError) -> FileFacts:
    return place.unreadable(f"cannot be read: {error.strerror}", isinstance(error, OtherLanguage))


def _codec() -> Codec[FileFacts]:
    from dynamo_lint.cache.packed import facts_codec

    return facts_codec()


def _unpacked(data: bytes | None) -> FileFacts | None:
    try:
        return _codec().decode(data) if data is not None else None
    except BadData:
        return None  # as good as none


def _package_around(root: Path) -> str:
    """The dotted name of the package that `root` itself is; empty if it is none."""
    names: list[str] = []
    while (root / "__init__.py").is_file() and root.name:
        names.insert(0, root.name)
        root = root.parent
    return ".".join(names)


def _module(path: str, packages: set[str], around: str) -> tuple[str, bool]:
    if is_notebook(path):
        return path, False  # nothing imports it
    name, is_package = module_name(path, packages)
    if around and packages.issuperset(_above(path)):
        name = around if path == "__init__.py" else f"{around}.{name}"
    return name, is_package


def _packages(found: Discovered) -> set[str]:
    """The folders below the root that are packages."""
    nearest = {path.rpartition("/")[0] for path in found.files}
    folders = {folder for near in nearest for folder in (near, *_above(near)) if folder}
    return {folder for folder in folders if os.path.isfile(os.path.join(found.root, folder, "__init__.py"))}


def _above(path: str) -> list[str]:
    """The folders that a file lies in, innermost first, without the root."""
    above = []
    while path := path.rpartition("/")[0]:
        above.append(path)
    return above
