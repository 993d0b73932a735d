"""Who changes the process environment, and when: what two rules about reading it ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.provenance import Tables

SETS = frozenset({"setdefault", "putenv", "setenv", "update"})
UNSETS = frozenset({"pop", "unsetenv", "delenv", "clear"})
ANY = "*"


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
    # Every such place mentions `environ`, or one of a few names: only those functions are looked at.
    found: list[Change] = []
    for where, store in tables.project.items_stored("environ"):
        if where not in hot and terminal_name(store.owner) == "environ":
            found.append(_change(tables, where, _key(store.index), True, store.line))
    for name in sorted(SETS | UNSETS):
        for where, site in tables.project.calls_of(name):
            owner = site.call.function.value if isinstance(site.call.function, ir.Attribute) else None
            plain = name in {"putenv", "unsetenv", "setenv", "delenv"}
            if where in hot or not (plain or (owner is not None and terminal_name(owner) == "environ")):
                continue
            key = _key(site.call.arguments[0]) if site.call.arguments and name != "update" else ANY
            found.append(_change(tables, where, key, name in SETS, site.call.line))
    return tuple(found)


def _change(tables: Tables, where: FunctionRef, key: str, sets: bool, line: int) -> Change:
    branched = any(first <= line <= last for first, last in tables.project.function(where).branches)
    return Change(key, sets, branched, where, line)


def _key(expr: Expr | None) -> str:
    return expr.value if isinstance(expr, ir.Constant) and isinstance(expr.value, str) else ANY


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
