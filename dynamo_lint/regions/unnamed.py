"""Calls that do not name what they run: of what a call gives, `find(path)(model)`, and of parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.naming import last_name
from dynamo_lint.regions.project import External, Project
from dynamo_lint.regions.texts import LOCATORS
from dynamo_lint.regions.values import ClassValue, FunctionValue, Scope

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_Sites = tuple[tuple[Scope, CallSite], ...]


def running(ev: Evaluation, wanted: Collection[ClassRef | FunctionRef]) -> Iterator[tuple[Scope, CallSite]]:
    """The unnamed calls of functions, and those that construct classes."""
    for caller, site in unnamed_calls(ev.project):
        if not _given(ev, caller, site).isdisjoint(wanted):
            yield caller, site


def unnamed_calls(project: Project) -> _Sites:
    """The calls of what functions of the project give, and of what a library finds by its name."""
    key = "unnamed calls"
    if key not in project.memo:
        project.memo[key] = tuple(
            (Scope(where, project.owner(where)), site)
            for where, site in project.screened("results called", lambda _: True)
            if isinstance(site.call.function, facts.Call)
            and any(map(_finds, project.symbols(site.call.function.function, where.path, where.key)))
        )
    return project.memo[key]  # type: ignore[return-value]


def _finds(symbol: object) -> bool:
    return isinstance(symbol, FunctionRef) or (isinstance(symbol, External) and symbol.dotted in LOCATORS)


def _given(ev: Evaluation, caller: Scope, site: CallSite) -> frozenset[ClassRef | FunctionRef]:
    """The functions and classes that are called; an instance that is called runs no constructor."""

    def compute() -> frozenset[ClassRef | FunctionRef]:
        values = ev.value(site.call.function, caller)
        return frozenset(value.ref for value in values if isinstance(value, ClassValue | FunctionValue))

    return ev.part(("given", caller, id(site)), compute)


def compiled_as(project: Project, name: str) -> set[str]:
    """The new names of a method that is compiled, and the parameters that functions call it by."""
    names = set(project.named("compiled methods").get(name, ()))
    if not names:
        return names
    key = "handed"
    if key not in project.memo:
        project.memo[key] = _handed(project)
    return names.union(*(project.memo[key].get(one, ()) for one in names))  # type: ignore[attr-defined]


def _handed(project: Project) -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for callee, place, parameter in project.screened("calling given", lambda _: True):
        for _, site in project.calls_of(callee):
            given = dict(site.call.keywords).get(parameter, facts.UNKNOWN)
            if place < len(site.call.arguments):
                given = site.call.arguments[place]
            if name := last_name(given):
                table.setdefault(name, set()).add(parameter)
    return table
