"""Who changes the process environment, and when: what two rules about reading it ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.environment_writes import ANY, EnvironmentWrite, environment_writes
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class Change:
    """One place that sets or unsets a variable."""

    key: str
    sets: bool
    conditional: bool
    where: FunctionRef
    line: int


def changes(tables: Tables) -> tuple[Change, ...]:
    """All changes of the environment in the project, outside compiled code."""
    hot = {one.function for one in tables.regions.hot}
    return tuple(
        Change(one.key, one.sets, _is_branched(tables, one), one.where, one.line)
        for one in environment_writes(tables.project)
        if one.where not in hot
    )


def _is_branched(tables: Tables, write: EnvironmentWrite) -> bool:
    return tables.project.function(write.where).is_conditional(write.line)


def changes_of(read: EnvironmentRead, known: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of the variable that is read."""
    key = _literal(read.key)
    return tuple(change for change in known if ANY in {key, change.key} or change.key == key)


def shown(tables: Tables, read: EnvironmentRead, known: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of just this variable that happen between two calls of compiled code, not at start."""
    exact = (change for change in changes_of(read, known) if change.key == _literal(read.key) != ANY)
    return tuple(one for one in exact if tables.drivers.often(one.where, one.line) in {"each", "some"})


def appears_later(found: tuple[Change, ...]) -> bool:
    """The variable is set at some point only, and was not there before."""
    sets = [change for change in found if change.sets]
    unsets = [change for change in found if not change.sets]
    return bool(sets) and all(s.conditional for s in sets) and not any(u.conditional for u in unsets)


def _literal(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ANY
    return value if isinstance(value, str) else ANY


def reads(tables: Tables) -> Iterator[tuple[CompiledFunction, EnvironmentRead]]:
    """Each read of hot code, once per line and key."""
    for hot, state in tables.functions:
        seen: set[tuple[int, str]] = set()
        for read in state.environment:
            if (read.position.line, read.key) not in seen:
                seen.add((read.position.line, read.key))
                yield hot, read
