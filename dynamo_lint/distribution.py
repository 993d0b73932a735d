"""Which files a distribution hands out: code that nobody in the project wrote may use these.

https://packaging.python.org/en/latest/specifications/pyproject-toml/
https://setuptools.pypa.io/en/latest/userguide/package_discovery.html#flat-layout
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass

_PACKAGES = re.compile(
    rb"^[ \t]*\[[ \t]*(?:project|tool[ \t]*\.[ \t]*(?:poetry|flit))[ \t]*[.\]]", re.MULTILINE
)
_PACKAGES_CFG = re.compile(rb"^\[[ \t]*(?:metadata|options)[ \t]*\]", re.MULTILINE)
_PACKAGES_NOT = re.compile(rb"^[ \t]*package(?:-mode)?[ \t]*=[ \t]*false\b", re.MULTILINE)
"""`package = false` of uv, `package-mode = false` of Poetry: metadata of an application."""
_KEPT_BACK = frozenset(
    {"benchmark", "benchmarks", "bin", "build", "changelog", "ci", "debian", "doc", "docs", "documentation"}
    | {"example", "examples", "exercise", "exercises", "htmlcov", "manpages", "news", "newsfragments"}
    | {"scripts", "tasks", "test", "tests", "tool", "tools", "unit_test", "unit_tests"}
)
"""Folders beside the metadata that setuptools hands out to nobody."""


@dataclass(frozen=True, slots=True)
class Home:
    """A folder with the metadata of a distribution."""

    folder: str
    """Relative to the root of a run, where it lies in that; else the root stands for it."""
    above: str = ""
    """The way from it to the root, if it lies above that."""

    def ships(self, path: str) -> bool:
        """Whether a file, relative to the root of the run, is handed out."""
        inside = f"{self.folder}/" if self.folder else ""
        if not path.startswith(inside):
            return False
        first, *rest = f"{self.above}{path.removeprefix(inside)}".split("/")
        return not rest or first not in _KEPT_BACK


def homes(root: str, paths: Iterable[str]) -> tuple[Home, ...]:
    """The folders around the files of a run that have such metadata, as far as its project goes."""
    folders = {path.rpartition("/")[0] for path in paths}
    every = {above for folder in folders for above in _upwards(folder)}
    inner = [Home(folder) for folder in sorted(every) if _is_home(os.path.join(root, folder))]
    return (*inner, *_outer(os.path.realpath(root)))


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those around it, up to the root of the run."""
    yield folder
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _outer(root: str) -> Iterator[Home]:
    """Those above the root of the run."""
    top, above, folder = files.around(root), "", root
    while folder != top and os.path.dirname(folder) != folder:
        above = f"{os.path.basename(folder)}/{above}"
        folder = os.path.dirname(folder)
        if _is_home(folder):
            yield Home("", above)


def _is_home(folder: str) -> bool:
    text = _text(folder, "pyproject.toml")
    if _PACKAGES_NOT.search(text):
        return False
    return (
        _PACKAGES.search(text) is not None
        or os.path.lexists(os.path.join(folder, "setup.py"))
        or _PACKAGES_CFG.search(_text(folder, "setup.cfg")) is not None
    )


def _text(folder: str, name: str) -> bytes:
    """The bytes of a file; of one that cannot be read it is assumed that it has the metadata."""
    try:
        return files.read(os.path.join(folder, name), links=False)
    except FileNotFoundError:
        return b""
    except OSError:
        return b"[project]\n[metadata]\n"
