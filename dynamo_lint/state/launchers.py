"""The programs that launchers start, the variables that reach each, and those that launchers give."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import MODULE_KEY, Exported, Launch, Launcher
from dynamo_lint.index.launchers import target_of
from dynamo_lint.program.files import is_measured
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.environment_writes import EnvironmentWrite

_REHEARSALS = frozenset({".github", ".gitlab", ".circleci", ".buildkite", ".azure-pipelines", "ci", ".ci"})
_PIPELINES = frozenset({".gitlab-ci.yml", "azure-pipelines.yml", ".travis.yml", "cloudbuild.yaml"})
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Started:
    """A Python program that a launcher starts."""

    where: FunctionRef
    line: int
    program: str
    """Its path."""
    ranks: bool
    given: tuple[Exported, ...]
    """The variables that hold there, those of its callers and of files that it sources included."""
    elsewhere: tuple[Exported, ...]
    """Variables that reach it only if other launchers of the project are used with this one."""
    opened: str
    """The word by which it may get variables that nobody sees; empty if there is none."""


def launchers_of(project: Project) -> dict[str, Launcher]:
    """The launchers of a project by path, without those of tests and of pipelines that try code out."""
    if "launchers" not in project.memo:
        project.memo["launchers"] = {
            path: launcher for path, launcher in project.launchers.items() if not is_rehearsed(path)
        }
    return project.memo["launchers"]  # type: ignore[return-value]


def is_rehearsed(path: str) -> bool:
    """Whether a launcher is that of tests, of measurements, or of a pipeline that tries code out."""
    *folders, name = path.split("/")
    return is_measured(path) or not _REHEARSALS.isdisjoint(folders) or name in _PIPELINES


def launcher_writes(project: Project) -> Iterator[EnvironmentWrite]:
    """The variables that launchers give, as those that code sets."""
    for path, launcher in launchers_of(project).items():
        for one in launcher.exports:
            yield EnvironmentWrite(FunctionRef(path, MODULE_KEY), one.line, one.name, one.value, True)


def started(project: Project) -> tuple[Started, ...]:
    """Every program that launchers start, as far as it is a file of the project."""
    if "started" not in project.memo:
        project.memo["started"] = tuple(_StartedPrograms(project).started())
    return project.memo["started"]  # type: ignore[return-value]


class _StartedPrograms:
    """Who starts whom."""

    def __init__(self, project: Project) -> None:
        self._launchers = launchers_of(project)
        code = [path for path, file in project.files.items() if file.is_code] if self._launchers else []
        self._known = [*code, *self._launchers]
        self._code = frozenset(code)
        self._targets = [
            (path, one, target)
            for path, launcher in self._launchers.items()
            for one in launcher.launches
            if (target := target_of(one, path, self._known)) is not None
        ]
        self._callers: dict[str, list[tuple[str, Launch]]] = {}
        for path, one, target in self._targets:
            self._callers.setdefault(target, []).append((path, one))

    def started(self) -> Iterator[Started]:
        for path, one, target in self._targets:
            if target not in self._code:
                continue
            given, opened = self._environment(path, one, 0)
            contained = self._is_contained(path, one, 0)
            elsewhere = tuple(
                export
                for other, launcher in self._launchers.items()
                if other != path and launcher.container
                for export in launcher.exports
            )
            if contained:
                given, elsewhere = (*given, *elsewhere), ()
            where = FunctionRef(path, MODULE_KEY)
            yield Started(where, one.line, target, self._ranks(path, one), given, elsewhere, opened)

    def _environment(self, path: str, one: Launch, depth: int) -> tuple[tuple[Exported, ...], str]:
        """The variables at a launch, and the word by which there may be others."""
        given, opened = [*one.given], one.opened
        for source in one.sources:
            more, word = self._sourced(path, source, depth)
            given, opened = [*more, *given], opened or word
        for caller, launch in self._callers.get(path, ()) if one.inherits and depth < _DEEPEST else ():
            more, word = self._environment(caller, launch, depth + 1)
            given, opened = [*more, *given], opened or word
        return tuple(given), opened

    def _sourced(self, path: str, source: str, depth: int) -> tuple[tuple[Exported, ...], str]:
        """The variables of a file that a launcher sources; a word for one that is not there."""
        target = target_of(Launch(source, 0), path, self._launchers)
        if target is None or depth > _DEEPEST:
            return (), posixpath.basename(source) or source
        launcher = self._launchers[target]
        given, opened = launcher.given, launcher.opened
        for inner in launcher.sources:
            more, word = self._sourced(target, inner, depth + 1)
            given, opened = (*more, *given), opened or word
        return given, opened

    def _is_contained(self, path: str, one: Launch, depth: int) -> bool:
        """Whether a launch happens in a container that the project describes."""
        callers = self._callers.get(path, ()) if one.inherits and depth < _DEEPEST else ()
        inside = self._launchers[path].container
        return inside or any(self._is_contained(caller, launch, depth + 1) for caller, launch in callers)

    def _ranks(self, path: str, one: Launch) -> bool:
        return one.ranks or any(launch.ranks for _, launch in self._callers.get(path, ()))
