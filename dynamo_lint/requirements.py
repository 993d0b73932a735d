"""Requirements on torch in the files of a project: locks, lists, pyproject.toml, Pipfile, conda's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

Line = tuple[str, str]
"""The versions that are allowed, with `|` between alternatives, and the marker of the requirement."""
Reader = Callable[[str], Iterator[Line]]

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "pylock.*.toml")
_LISTS = (
    "*requirements*.txt",
    "*requirements*.in",
    "*requirements*.lock",
    "requirements/*.txt",
    "requirements/*.in",
    "constraints*.txt",
)
_CONDA = ("environment*.yml", "environment*.yaml", "conda*.yml", "conda*.yaml")
_LARGEST, _LARGEST_OF_CONDA = 4_000_000, 250_000
"""Bytes."""
_TORCH = re.compile(r"torch(?![\w.-])\s*(?:\[[^\]]*\])?\s*(.*)", re.IGNORECASE)
_PYTORCH = re.compile(r"(?:\S+::)?pytorch(?:-[cg]pu)?(?![\w.-])\s*(.*)")
"""The package of conda."""
_WHEEL = re.compile(r"\btorch-(\d[^-/\s]*)-[^/\s]*\.whl")
_INCLUDES = re.compile(r"(?:-r|-c|--requirement|--constraint)\s*=?\s*(\S+)")
_BETWEEN = re.compile(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!~^])")
"""What stands between two clauses."""
_ENDLESS = re.compile(r"\d{100}")
"""More digits than the number of any version has; Python reads no more than some thousands."""
_LINUX = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "extra": "",
}
"""Where compiled code runs, whatever it is linted on."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """The versions of torch that one line of a file allows."""

    file: str
    alternatives: tuple[SpecifierSet, ...]
    marker: str
    locked: bool
    """The file states what is installed."""

    def admits(self, version: str) -> bool:
        """Whether a version is allowed, which may be one in development."""
        return any(one.contains(version, prereleases=True) for one in self.alternatives)

    @property
    def named(self) -> list[str]:
        """The versions that it names, without the stars."""
        return [clause.version.removesuffix(".*") for one in self.alternatives for clause in one]

    def applies(self) -> bool:
        """Whether its marker holds on Linux under this Python; a marker that cannot be read does."""
        if not self.marker:
            return True
        from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

        try:
            return Marker(self.marker).evaluate(_LINUX)
        except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
            return True


def requirements(root: Path) -> tuple[list[Requirement], list[str]]:
    """The requirements on torch in the files of a folder, lock files first, and the files that are broken."""
    found: list[Requirement] = []
    unread: list[str] = []
    seen = set()
    for path, read, locked in _files(root):
        if path in seen:
            continue
        seen.add(path)
        file = path.relative_to(root).as_posix()
        try:
            text = _text(path, _LARGEST_OF_CONDA if read is _of_conda else _LARGEST)
            for allowed, marker in dict.fromkeys(read(text)) if "torch" in text else ():
                if allowed.strip():
                    found.append(_requirement(file, allowed, marker, locked))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            unread.append(file)
    return found, unread


def _requirement(file: str, allowed: str, marker: str, locked: bool) -> Requirement:
    """The requirement that a line states; a ValueError if it says nothing of versions."""
    from packaging.specifiers import SpecifierSet

    if _ENDLESS.search(f"{allowed};{marker}"):
        raise ValueError("a number of too many digits")
    return Requirement(file, tuple(map(SpecifierSet, allowed.split("|"))), marker, locked)


def _files(root: Path) -> Iterator[tuple[Path, Reader, bool]]:
    """The files that may name torch, each with its reader, and whether it is a lock file."""
    yield from ((path, _of_lock, True) for pattern in _LOCKS for path in sorted(root.glob(pattern)))
    yield root / "Pipfile.lock", _of_pipfile_lock, True
    lists = [path for pattern in _LISTS for path in sorted(root.glob(pattern))]
    yield from ((path, _of_list, False) for path in _with_included(sorted(set(lists)), root))
    yield root / "pyproject.toml", _of_pyproject, False
    yield root / "Pipfile", _of_pipfile, False
    yield from ((path, _of_conda, False) for pattern in _CONDA for path in sorted(root.glob(pattern)))


def _with_included(paths: Iterable[Path], root: Path) -> list[Path]:
    """Lists of requirements, each behind it those of the project that it includes."""
    waiting, found = [*paths][::-1], dict[Path, None]()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        try:
            lines = _lines(_text(path, _LARGEST))
        except OSError:
            continue  # told by who reads it
        names = [match[1] for line in lines if (match := _INCLUDES.match(line))]
        included = [Path(os.path.normpath(path.parent / name)) for name in names]
        tops = [os.path.realpath(root)]
        waiting += [one for one in included[::-1] if one.is_relative_to(root) and files.inside(one, tops)]
    return list(found)


# --- files ----------------------------------------------------------------------------------------------


def _of_lock(text: str) -> Iterator[Line]:
    """The locked versions; uv gives each the markers of its resolutions, of which one must hold."""
    data = _toml(text)
    for package in _tables(data.get("package", data.get("packages"))):
        markers = package.get("resolution-markers", package.get("markers", package.get("marker")))
        markers = [markers] if isinstance(markers, str) else markers if isinstance(markers, list) else []
        if package.get("name") == "torch" and isinstance(version := package.get("version"), str):
            yield f"=={version}", " or ".join(f"({one})" for one in markers)


def _of_pipfile_lock(text: str) -> Iterator[Line]:
    import json  # late: few projects have one

    data = json.loads(text)
    for group in ("default", "develop"):
        package = _at(data, group, "torch")
        if isinstance(version := package.get("version"), str):
            yield version, str(package.get("markers", ""))


def _of_list(text: str) -> Iterator[Line]:
    for line in _lines(text):
        yield from _of_requirement(line)


def _of_pyproject(text: str) -> Iterator[Line]:
    """Those of the project, its extras and groups, and those that uv, PDM and Poetry add."""
    data = _toml(text)
    project, tools = _at(data, "project"), _at(data, "tool")
    groups = [
        project.get("dependencies"),
        *_at(project, "optional-dependencies").values(),
        *_at(data, "dependency-groups").values(),
        *_at(tools, "pdm", "dev-dependencies").values(),
        *(_at(tools, "uv").get(f"{kind}-dependencies") for kind in ("dev", "constraint", "override")),
    ]
    for group in groups:
        for line in group if isinstance(group, list) else ():
            yield from _of_requirement(line) if isinstance(line, str) else ()
    poetry = _at(tools, "poetry")
    for table in (poetry, *_at(poetry, "group").values()):
        for kind in ("dependencies", "dev-dependencies"):
            yield from _of_table(_at(table, kind))


def _of_pipfile(text: str) -> Iterator[Line]:
    data = _toml(text)
    for kind in ("packages", "dev-packages"):
        yield from _of_table(_at(data, kind))


def _of_conda(text: str) -> Iterator[Line]:
    """Those of an environment and of its `pip:`: whatever text in it is a requirement on torch."""
    import yaml  # type: ignore[import-untyped]  # late: few projects have one

    try:
        # Nothing is constructed: aliases and merges could stand for very much.
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            line = getattr(event, "value", None) or ""
            if match := _PYTORCH.fullmatch(line):
                yield _alternatives(_conda_version(match[1]), _conda_clause), ""
            else:
                yield from _of_requirement(line)
    except yaml.YAMLError as error:
        raise ValueError(error) from None


# --- requirements ---------------------------------------------------------------------------------------


def _lines(text: str) -> list[str]:
    """The lines of a list of requirements, put together where they go on, without comments."""
    whole = re.sub(r"\\\r?\n", " ", text)
    return [re.sub(r"(^|\s)#.*", "", line).strip() for line in whole.splitlines()]


def _of_requirement(line: str) -> Iterator[Line]:
    """A requirement as in PEP 508, or the address of a wheel."""
    match = _TORCH.fullmatch(line)
    wanted, _, marker = (match[1] if match else "").partition(";")
    if wheel := _WHEEL.search(unquote(line)):
        yield f"=={wheel[1]}", marker.strip()
    elif match and not wanted.startswith("@"):
        wanted = wanted.partition(" --")[0].strip()
        yield wanted.removeprefix("(").removesuffix(")"), marker.partition(" --")[0].strip()


def _of_table(packages: Mapping[str, Any]) -> Iterator[Line]:
    """The requirement in a table of Poetry or a Pipfile: a version, a table, or a list of such."""
    wanted = packages.get("torch")
    for one in wanted if isinstance(wanted, list) else [wanted]:
        row = one if isinstance(one, Mapping) else {"version": one}
        marker = row.get("markers") or (f"sys_platform == '{row['platform']}'" if "platform" in row else "")
        if isinstance(version := row.get("version"), str):
            yield _alternatives(version, _poetry_clause), str(marker)
        elif wheel := _WHEEL.search(unquote(str(row.get("url") or row.get("file")))):
            yield f"=={wheel[1]}", str(marker)


def _alternatives(text: str, clause: Callable[[str], str]) -> str:
    """Versions as specifiers, given how a clause is written as one."""
    found = (",".join(map(clause, _BETWEEN.split(one.strip()))) for one in re.split(r"\|+", text))
    return "|".join(found)


def _poetry_clause(clause: str) -> str:
    """https://python-poetry.org/docs/dependency-specification/: `^2.9` is 2.9 or newer, and below 3."""
    if match := re.fullmatch(r"(\^|~(?!=))\s*(\d+(?:\.\d+)*)", clause):
        numbers = [int(number) for number in match[2].split(".")]
        significant = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
        last = significant if match[1] == "^" else min(1, len(numbers) - 1)
        above = ".".join(map(str, [*numbers[:last], numbers[last] + 1]))
        return f">={match[2]},<{above}"
    return "" if clause == "*" else f"=={clause}" if clause[:1].isdigit() else clause


def _conda_version(text: str) -> str:
    """The version in what stands behind a name: `>=2.4`, `2.5 *_cuda`, `[version='>=2.4']`."""
    if text.startswith("["):
        match = re.search(r"version\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^,\]]*))", text)
        return next(filter(None, match.groups()), "") if match else ""
    return (re.sub(r"\s*([<>=!~,|]+)\s*", r"\1", text).split() or [""])[0]


def _conda_clause(clause: str) -> str:
    """`=2.5` is any 2.5, `=2.5.1=cuda*` and `2.5.1` are that version."""
    if match := re.fullmatch(r"(==?)?(\d[^=*]*?)(\.?\*)?(=.*)?", clause):
        either = match[1] == "=" and not match[4]
        return f"=={match[2]}{'.*' if either or match[3] else ''}"
    return "" if clause == "*" else clause.removesuffix(".*")


# --- formats --------------------------------------------------------------------------------------------


def _text(path: Path, largest: int) -> str:
    data = files.read(path, largest, links=False)
    # What PowerShell writes is UTF-16.
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")


def _toml(text: str) -> Mapping[str, Any]:
    from dynamo_lint.toml import tomllib

    return tomllib.loads(text.replace("\r\n", "\n"))


def _tables(rows: Any) -> Iterator[Mapping[str, Any]]:
    yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping))


def _at(data: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}
