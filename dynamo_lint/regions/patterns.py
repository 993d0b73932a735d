"""How the configuration names definitions: `pkg.mod:Qual.name`, with `*`, and `#N` for an argument."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from dynamo_lint.program.refs import ClassRef, External, FunctionRef, Symbol
from dynamo_lint.regions.project import Project


def matches(project: Project, symbol: Symbol, patterns: Iterable[str]) -> bool:
    """Whether a definition is named by one of the patterns `pkg.mod:Qual.name` (or with a dot, or `*`)."""
    match symbol:
        case ClassRef(path, key) | FunctionRef(path, key):
            names = [f"{project.files[path].module}:{key}", f"{project.files[path].module}.{key}"]
        case External(dotted):
            module, _, name = dotted.rpartition(".")
            names = [dotted, f"{module}:{name}"]
        case _:
            return False
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def wrapper(text: str) -> tuple[str, int]:
    """A pattern, and the position of the argument that its callee compiles."""
    pattern, _, position = text.partition("#")
    return pattern, int(position) if position.isdigit() else 0
