"""The inputs of a run: from paths and options to settings and files.

A file is governed by the nearest configuration above it. What was named is judged in groups, one for each
configuration, each as if it were named alone: so the verdict on a file does not depend on what is named
beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dynamo_lint import files
from dynamo_lint.config import Settings, load, override, settings_in
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.discovery import Discovered, base, discover
from dynamo_lint.torch_version import with_torch

Texts = Mapping[Path, bytes]
"""The content of paths that are not to be read from the disk."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a command line that concern settings and files."""

    config: Path | None = None
    """The configuration of all files, instead of the nearest of each."""
    isolated: bool = False
    exclude: Sequence[str] = ()
    extend_exclude: Sequence[str] = ()
    force_exclude: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings that win over those of every configuration."""


@dataclass(frozen=True, slots=True)
class Group:
    """The part of what was named that one configuration governs."""

    settings: Settings
    found: Discovered


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that was named."""

    groups: tuple[Group, ...]
    """At least one; all paths count from the same root."""
    shared: Settings
    """Those of the folder that holds all paths, which say how the run prints."""


class _Configurations:
    """The nearest configuration of each folder, with the options on top; each file is read once."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._nearest: dict[Path, Settings] = {}
        self._everywhere: Settings | None = None
        if choices.config is not None or choices.isolated:
            self._everywhere = self._overridden(load(Path(), choices.config, choices.isolated))

    def _overridden(self, settings: Settings) -> Settings:
        return override(settings, **self._choices.overrides)

    def nearest(self, folder: Path) -> Settings:
        """The settings of the files in a folder, which is absolute."""
        if self._everywhere is not None:
            return self._everywhere
        if folder not in self._nearest:
            here = settings_in(folder)
            if here is not None or folder.parent == folder:
                self._nearest[folder] = self._overridden(here or Settings())
            else:
                self._nearest[folder] = self.nearest(folder.parent)
        return self._nearest[folder]


def read_inputs(paths: tuple[Path, ...], texts: Texts, choices: Choices) -> tuple[Settings, Discovered]:
    """Settings and files for some paths, as seen from the working directory.

    One configuration governs all of them: the nearest above the folder that they share.
    """
    settings = _Configurations(choices).nearest(base(paths, texts))
    found = _discovered(paths, texts, settings, choices)
    return with_torch(settings, found.root), found


def read_groups(paths: tuple[Path, ...], texts: Texts, choices: Choices) -> Inputs:
    """Settings and files for some paths, by configuration: outer ones first, and each as if named alone."""
    configurations = _Configurations(choices)
    shared = configurations.nearest(base(paths, texts))
    named: dict[Path | None, list[Path]] = {}
    for path in paths:
        named.setdefault(configurations.nearest(_folder(path)).source, []).append(path)
    groups: list[Group] = []
    while named:
        source = min(named, key=lambda one: (len(one.parts), one) if one else (0, Path()))
        here = tuple(dict.fromkeys(named.pop(source)))
        settings = configurations.nearest(source.parent if source else _folder(here[0]))
        group, inner = _split(_grouped(here, texts, settings, choices), configurations)
        groups.append(group)
        for one in inner:
            named.setdefault(one, []).append(one.parent)
    root = Path(os.path.commonpath([group.found.root for group in groups]))
    seen = [replace(group, found=group.found.seen_from(root)) for group in groups]
    told = tuple(group for group in seen if group.found.reported or group.found.errors)
    return Inputs(told or tuple(seen[:1]), shared)


def sources_of(paths: Iterable[Path], choices: Choices) -> tuple[Path | None, ...]:
    """The configuration files that govern some paths, None for none."""
    configurations = _Configurations(choices)
    return tuple(dict.fromkeys(configurations.nearest(_folder(path)).source for path in paths))


def _folder(path: Path) -> Path:
    absolute = Path(os.path.normpath(path.absolute()))
    return absolute if absolute.is_dir() else absolute.parent


def _grouped(paths: tuple[Path, ...], texts: Texts, settings: Settings, choices: Choices) -> Group:
    found = _discovered(paths, texts, settings, choices)
    return Group(with_torch(settings, found.root), found)


def _split(group: Group, configurations: _Configurations) -> tuple[Group, list[Path]]:
    """A group without the files that configurations in folders below govern, and those of such files."""
    settings, found = group.settings, group.found
    nearest = [configurations.nearest(folder) for folder in found.configured if _speaks_of_us(folder)]
    homes = {str(one.source.parent): one for one in (*nearest, settings) if one.source is not None}
    nested = tuple(one for one in homes.values() if one.source != settings.source)
    if not nested:
        return group, []

    def governing(path: str) -> Path | None:
        above = map(str, (found.root / path).parents)
        return next((homes[folder].source for folder in above if folder in homes), settings.source)

    sources = {path: governing(path) for path in found.reported}
    found = replace(
        found,
        reported=frozenset(path for path, source in sources.items() if source == settings.source),
        heard=frozenset(path for path in found.heard if governing(path) == settings.source),
        errors=tuple(error for error in found.errors if governing(error.path) == settings.source),
    )
    others = {source for source in sources.values() if source is not None} - {settings.source}
    return Group(replace(settings, nested=nested), found), sorted(others)


def _speaks_of_us(folder: Path) -> bool:
    """Whether a folder has a configuration file with settings, as far as can be told without parsing it."""
    own, shared = (folder / name for name in files.CONFIGURATIONS)
    with suppress(OSError):
        return own.is_file() or b"dynamo-lint" in files.read(shared)
    return False


def _discovered(paths: tuple[Path, ...], texts: Texts, settings: Settings, choices: Choices) -> Discovered:
    exclude = (Path.cwd(), choices.exclude) if choices.exclude else (settings.home, settings.exclude)
    patterns = [
        exclude,
        (settings.home, settings.extend_exclude),
        (Path.cwd(), choices.extend_exclude),
    ]
    return discover(paths, patterns, choices.force_exclude, texts)
