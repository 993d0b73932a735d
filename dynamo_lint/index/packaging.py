"""Package metadata: the entry points that it offers, `name = "package.module:Class"`, and its Python.

https://packaging.python.org/en/latest/specifications/entry-points/
https://packaging.python.org/en/latest/specifications/pyproject-toml/#requires-python
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_lint.index.ir import Attribute, Call, Expr, Import, Setting

ENTRY_POINT = Import("importlib.metadata", "EntryPoint")
_VALUE = re.compile(r"([\w.]+)\s*:\s*([\w.]+)\s*(\[.*\])?")
"""A module and what is in it; extras may follow."""
_LEAST = re.compile(r"(?:>=?|~=|===?)\s*(\d+)\.(\d+)")
"""A clause of a version specifier that excludes all versions below some."""


def offered(path: str, text: str) -> tuple[Setting, ...]:
    """The entry points of `pyproject.toml` or `setup.cfg`, by group; ValueError if it cannot be read."""
    points = _of_toml(text) if path.endswith(".toml") else _of_cfg(text)
    rows = (entry_point(group, value, _line(text, name, value)) for group, name, value in points)
    return tuple(row for row in rows if row is not None)


def least_python(text: str) -> tuple[int, int] | None:
    """The oldest Python that a `pyproject.toml` declares for its project; None if it declares none."""
    from dynamo_lint.toml import tomllib

    try:
        declared = _at(tomllib.loads(text), "project").get("requires-python")
    except (ValueError, RecursionError):
        return None
    clauses = declared.split(",") if isinstance(declared, str) else ()
    found = [match for clause in clauses if (match := _LEAST.match(clause.strip()))]
    return max(((int(match[1]), int(match[2])) for match in found), default=None)


def entry_point(group: str, value: str, line: int) -> Setting | None:
    """One entry point, as the call that makes it of what it loads; None if it names nothing in a module."""
    found = _VALUE.fullmatch(value.strip())
    if found is None:
        return None
    target: Expr = Import(found[1])
    for part in found[2].split("."):
        target = Attribute(target, part)
    return Setting(group, Call(ENTRY_POINT, (target,), (), line), line, outer=False)


def _line(text: str, name: str, value: str) -> int:
    lines = text.split("\n")
    return next((n for n, line in enumerate(lines, 1) if name in line and value in line), 1)


def _of_toml(text: str) -> Iterator[tuple[str, str, str]]:
    from dynamo_lint.toml import tomllib

    data = tomllib.loads(text)
    poetry = _at(data, "tool", "poetry", "plugins")
    for group, points in (*_at(data, "project", "entry-points").items(), *poetry.items()):
        for name, value in points.items() if isinstance(points, Mapping) else ():
            if isinstance(value, str):
                yield group, name, value


def _at(data: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def _of_cfg(text: str) -> Iterator[tuple[str, str, str]]:
    from configparser import ConfigParser, Error

    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Error as error:
        raise ValueError(str(error)) from error
    if parser.has_section("options.entry_points"):
        for group, points in parser.items("options.entry_points"):
            for line in points.splitlines():
                name, equals, value = line.partition("=")
                if equals:
                    yield group, name.strip(), value.strip()
