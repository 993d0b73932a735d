"""The part of the configuration that says what is compiled, and the patterns in it."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from dynamo_lint.dataclass import dataclass
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef, Symbol

if TYPE_CHECKING:  # the settings are read by every run, also by one that finds its verdict in the cache
    from dynamo_lint.program.project import Project


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """Declarations of compiled and excluded code, and how far guesses are followed."""

    declared: tuple[str, ...] = ()
    """`regions = ["pkg.moe:MoE", "pkg.blocks.*Block"]`."""
    cut: tuple[str, ...] = ()
    """`not-regions`: cut like a recursive disable."""
    compile_wrappers: tuple[str, ...] = ()
    """`pkg.util:maybe_compile#0`: callee whose Nth argument gets compiled."""
    compile_decorators: tuple[str, ...] = ()
    disable_decorators: tuple[str, ...] = ()
    in_contract: tuple[tuple[str, str], ...] = ()
    """The functions that the contract names, each behind its key there."""
    marks: tuple[str, ...] = ()
    """The axes that the contract lets vary: `train:x#0`."""
    assume: str = "none"
    """`none`, `blocks` or `modules`."""
    guesses: bool = False
    """Follow what is merely assumed, too: it costs time, and is reported only on request."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A declaration that matches nothing."""

    key: str
    """Its key in the configuration; empty for a comment."""
    value: str
    why: str


ENTRY, CHOICE, LIBRARY, PROGRAM = "entry", "choice", "library", "program"
"""Kinds of what is unresolved: a compile site, one that means any of several classes, an import of a file
that hides a library, and a program.

They stand here because a run from the cache needs no more of the regions than this module.
"""


def matches(project: Project, symbol: Symbol, patterns: Iterable[str]) -> bool:
    """Whether a definition is named by one of the patterns `pkg.mod:Qual.name` (or with a dot, or `*`)."""
    match symbol:
        case ClassRef(path, key) | FunctionRef(path, key):
            names = [f"{project.files[path].module}:{key}", f"{project.files[path].module}.{key}"]
        case ExternalSymbol(dotted):
            module, _, name = dotted.rpartition(".")
            names = [dotted, f"{module}:{name}"]
        case _:
            return False
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def wrapper(text: str) -> tuple[str, int]:
    """A pattern, and the position of the argument that its callee compiles."""
    pattern, _, position = text.partition("#")
    return pattern, int(position) if position.isdigit() else 0
