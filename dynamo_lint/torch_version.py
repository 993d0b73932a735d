"""The torch that a project is judged by where no setting names one: pinned, installed, or the newest."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dynamo_lint import files
from dynamo_lint.config import TORCH_VERSIONS

Version = tuple[int, int]

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_REQUIREMENTS = ("requirements*.txt", "requirements*.lock", "requirements/*.txt", "constraints*.txt")
_LARGEST = 4_000_000
_TORCH = re.compile(r"torch(?![\w.-])\s*(?:\[[^\]]*\])?\s*\(?([^;#@)]*)")
"""A requirement on torch, and the versions that it allows."""
_CLAUSE = re.compile(r"(===?|~=|<=|<)\s*(\d+)\.(\d+)(?:\.(\d+))?")
_INSTALLED = re.compile(r"torch-(\d+)\.(\d+)")
_CARET = re.compile(r"\^?(\d+)\.(\d+)")


def torch_of(root: Path) -> tuple[Version, str]:
    """The version for a project, and where it comes from."""
    for version, where in (*_pinned(root), *_installed(root)):
        if version >= TORCH_VERSIONS[0]:
            return version, where
    return TORCH_VERSIONS[-1], "the newest known, as the project pins none and none is installed beside it"


def _pinned(root: Path) -> Iterator[tuple[Version, str]]:
    """The versions that lock files, requirements and pyproject.toml name, the most exact first."""
    for name in _LOCKS:
        packages = _toml(root / name).get("package", _toml(root / name).get("packages"))
        for package in packages if isinstance(packages, list) else ():
            if isinstance(package, Mapping) and package.get("name") == "torch":
                yield from ((one, f"locked in {name}") for one in _allowed(f"=={package.get('version')}"))
    for path in sorted(path for pattern in _REQUIREMENTS for path in root.glob(pattern)):
        lines = (line.strip() for line in _text(path).splitlines())
        where = path.relative_to(root).as_posix()
        yield from ((one, f"pinned in {where}") for one in _of_requirements(lines))
    data = _toml(root / "pyproject.toml")
    yield from ((one, "pinned in pyproject.toml") for one in _of_requirements(_declared(data)))


def _declared(data: Mapping[str, Any]) -> Iterator[str]:
    """Every requirement of a pyproject.toml as a line."""
    project = _at(data, "project")
    groups = (*_at(project, "optional-dependencies").values(), *_at(data, "dependency-groups").values())
    for group in (project.get("dependencies"), *groups):
        yield from (line for line in (group if isinstance(group, list) else ()) if isinstance(line, str))
    poetry = _at(data, "tool", "poetry")
    tables = [poetry, *_at(poetry, "group").values()]
    for table in tables:
        wanted = _at(table, "dependencies").get("torch")
        wanted = wanted.get("version") if isinstance(wanted, Mapping) else wanted
        if isinstance(wanted, str):
            yield "torch " + _CARET.sub(r"==\1.\2", wanted) if wanted[:1].isdigit() else f"torch {wanted}"


def _of_requirements(lines: Iterable[str]) -> Iterator[Version]:
    """The versions that requirements on torch allow, where they allow one release or none after some."""
    for line in lines:
        if match := _TORCH.match(line):
            yield from _allowed(match[1])


def _allowed(clauses: str) -> Iterator[Version]:
    """The newest version that is allowed, if there is an upper bound."""
    found = []
    for operator, major, minor, patch in _CLAUSE.findall(clauses):
        version = int(major), int(minor)
        if operator == "~=" and not patch:
            continue  # any 2.x from there on
        if operator == "<" and patch in ("", "0"):
            version = version[0], version[1] - 1
        found.append(version)
    if found:
        yield min(found)


def _installed(root: Path) -> Iterator[tuple[Version, str]]:
    """The versions that are installed in the project's own environment, or in that of this program."""
    own = [
        (f"installed in {name}", root.glob(f"{name}/lib/python3*/site-packages"))
        for name in (".venv", "venv")
    ]
    # importlib.metadata would load much that no run needs.
    for where, folders in (*own, ("installed beside dynamo-lint", map(Path, sys.path))):
        for folder in folders:
            for match in map(
                _INSTALLED.match, sorted(path.name for path in folder.glob("torch-*.dist-info"))
            ):
                if match:
                    yield (int(match[1]), int(match[2])), where


def _text(path: Path) -> str:
    try:
        return files.read(path, _LARGEST, links=False).decode("utf-8", "replace")
    except OSError:
        return ""


def _toml(path: Path) -> Mapping[str, Any]:
    from dynamo_lint.toml import tomllib

    text = _text(path)
    try:
        return tomllib.loads(text.replace("\r\n", "\n")) if text else {}
    except (ValueError, RecursionError):
        return {}


def _at(data: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}
