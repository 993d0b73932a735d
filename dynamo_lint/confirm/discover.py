"""Finds probes: functions named `probe_*` at the top level of a file, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.index.decoding import decode
from dynamo_lint.trouble import Trouble


@dataclass(frozen=True, slots=True)
class ProbeRef:
    """A probe by file and name."""

    path: Path
    name: str
    line: int


def probes(path: Path) -> tuple[str, ...]:
    """Names of the probes of a file, in order."""
    return tuple(probe.name for probe in probes_of(path))


def probes_of(path: Path) -> list[ProbeRef]:
    """The probes of a file, in order."""
    tree = ast.parse(decode(files.read(path)))
    return [
        ProbeRef(path, node.name, node.lineno)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("probe_")
    ]


def find(names: Iterable[str], home: Path) -> list[ProbeRef]:
    """The probes that are named: a file, a folder with probes somewhere in it, or `file::probe_name`."""
    found: dict[tuple[Path, str], ProbeRef] = {}
    for name in names:
        for probe in _named(name, home):
            found.setdefault((probe.path, probe.name), probe)
    return list(found.values())


def _named(name: str, home: Path) -> list[ProbeRef]:
    file, _, wanted = name.partition("::")
    path = home / file
    if path.is_dir():
        tops = [files.around(path)]
        candidates = [one for one in sorted(path.rglob("*.py")) if one.is_file() and files.inside(one, tops)]
        chosen = [probe for one in candidates if _mentions_probes(one) for probe in _read(one)]
    elif path.is_file():
        chosen = _read(path)
    else:
        raise Trouble(f"{file}: no such file")
    if wanted:
        chosen = [probe for probe in chosen if probe.name == wanted]
    if not chosen:
        what = f"no probe named {wanted}" if wanted else "no function named probe_*"
        raise Trouble(f"{file}: contains {what}")
    return chosen


def _mentions_probes(path: Path) -> bool:
    try:
        return b"def probe_" in files.read(path)
    except OSError:
        return False


def _read(path: Path) -> list[ProbeRef]:
    try:
        return probes_of(path)
    except (OSError, SyntaxError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Trouble(f"{path}: cannot be read: {why}") from None
