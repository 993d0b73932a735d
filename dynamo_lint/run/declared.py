"""Refuse declarations that match nothing in the whole project: a gate must not be off by accident."""

from __future__ import annotations

from dataclasses import replace

from dynamo_lint import files
from dynamo_lint.config import ConfigError, Settings
from dynamo_lint.discovery import Discovered, discover
from dynamo_lint.levels import unmatched
from dynamo_lint.raw_values import quoted
from dynamo_lint.regions.options import Idle
from dynamo_lint.run.judge import judge
from dynamo_lint.run.reading import ALONE, Effort, read_content
from dynamo_lint.sources import Sources


def is_compiled(
    settings: Settings,
    found: Discovered,
    sources: Sources,
    here: bool,
    idle: tuple[Idle, ...],
    effort: Effort = ALONE,
) -> bool:
    """Whether anything is compiled, in the whole project where that matters and only a part was named.

    `here` says so of the files that were found, and `idle` are the declarations that match nothing in them.
    Raises a `ConfigError` if one matches nothing in the project either.
    """
    idle = _own(settings, (*idle, *_without_files(settings, found, sources)))
    if settings.source is None:  # what no configuration declares, who calls this knows
        idle = tuple(one for one in idle if not one.key)
    if idle or (settings.fail_on_nothing_compiled and not here):
        project = whole_project(settings, found)
        if project.root != found.root or not set(project.files) <= set(found.files):
            sources = Sources(project.root)
            content = read_content(settings.region_comment, project, sources, effort.store)
            judged = judge(settings, project, content, sources, replace(effort, progress=None))
            idle = _own(settings, (*judged.idle, *_without_files(settings, project, sources)))
            here = judged.compiles
    if idle:
        raise ConfigError(complaint(settings, idle))
    return here


def whole_project(settings: Settings, found: Discovered) -> Discovered:
    """All files that the configuration is about, whatever was named."""
    home = settings.home
    if not found.root.is_relative_to(home):
        home = files.project_above(found.root) or found.root
    return discover([home], [(settings.home, (*settings.exclude, *settings.extend_exclude))])


def _own(settings: Settings, idle: tuple[Idle, ...]) -> tuple[Idle, ...]:
    """The declarations of the nearest file: one that it extends may speak of other projects."""
    return tuple(one for one in idle if settings.is_own(*one.key.split(".")))


def complaint(settings: Settings, idle: tuple[Idle, ...]) -> str:
    """A sentence that names the first declaration that does nothing, and where it stands."""
    first, more = idle[0], f" (and {len(idle) - 1} more like it)" if len(idle) > 1 else ""
    place = settings.place(*first.key.split(".")) if first.key else ""
    said = f"{first.key}: {quoted(first.value)}" if first.key else first.value
    return f"{place}{said} matches nothing: {first.why}{more}"


def _without_files(settings: Settings, found: Discovered, sources: Sources) -> tuple[Idle, ...]:
    """The declarations about files that no file is meant by."""
    paths = unmatched(settings.policy, found.root, found.files)
    idle = [Idle("overrides", path, "the project has no such file") for path in paths]
    comment = settings.region_comment
    if comment is not None and not any(_has(sources, path, comment.encode()) for path in found.files):
        idle.append(Idle("region-comment", comment, "no file of the project has this comment"))
    return tuple(idle)


def _has(sources: Sources, path: str, text: bytes) -> bool:
    try:
        return text in sources.raw(path)
    except OSError:
        return False
