"""Calls that do not name what they run: of what a call gives, `find(path)(model)`, a parameter, `cls`, or of
what the heirs of a class have each of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import ClassRef, External, FunctionRef, Symbol
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.naming import last_name
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.texts import LOCATORS
from dynamo_lint.regions.values import ClassValue, FunctionValue, Scope
from dynamo_lint.values.points_to import Evaluation

_Unnamed = tuple[Scope, CallSite, frozenset[Symbol]]
"""A call, and what it runs where binding alone tells."""
_FEW = 8
"""A class method of more classes than this is a library's: it says little of each of them."""


def running(ev: Evaluation, wanted: Collection[ClassRef | FunctionRef]) -> Iterator[tuple[Scope, CallSite]]:
    """The unnamed calls of functions, and those that construct classes."""
    for caller, site, fixed in unnamed_calls(ev.project):
        if not (fixed or _given(ev, caller, site)).isdisjoint(wanted):
            yield caller, site


def unnamed_calls(project: Project) -> tuple[_Unnamed, ...]:
    """The calls of what functions of the project give, and of what a library finds by its name."""
    key = "unnamed calls"
    if key not in project.memo:
        project.memo[key] = tuple(_unnamed(project))
    return project.memo[key]  # type: ignore[return-value]


def _unnamed(project: Project) -> Iterator[_Unnamed]:
    for where, site in project.screened("results called", lambda _: True):
        fixed = _fixed(project, where, site)
        if fixed or any(_finds(project, maker) for maker in _makers(project, where, site)):
            yield Scope(where, project.owner(where)), site, fixed


def _makers(project: Project, where: FunctionRef, site: CallSite) -> tuple[Symbol, ...]:
    """What gives the function that a call runs: `find` of `find(path)(model)`."""
    inner = site.call.function
    return project.symbols(inner.function, where.path, where.key) if isinstance(inner, facts.Call) else ()


def _fixed(project: Project, where: FunctionRef, site: CallSite) -> frozenset[Symbol]:
    """What a call runs by binding alone; nothing where that does not tell it of everything returned."""
    given: set[Symbol] = set()
    for maker in _makers(project, where, site):
        if not isinstance(maker, FunctionRef):
            return frozenset()
        for value in project.function(maker).returns:
            named = project.symbols(value, maker.path, maker.key)
            if not named and not isinstance(value, facts.Constant):
                return frozenset()
            given.update(named)
    return frozenset(given)


def _finds(project: Project, maker: Symbol) -> bool:
    """Whether it finds what it gives by a text; what else it may be costs too much to work out."""
    if isinstance(maker, External):
        return maker.dotted in LOCATORS
    return isinstance(maker, FunctionRef) and any(
        isinstance(symbol, External) and symbol.dotted in LOCATORS
        for value in project.function(maker).returns
        for part in walk(value)
        if isinstance(part, facts.Call)
        for symbol in project.symbols(part.function, maker.path, maker.key)
    )


def _given(ev: Evaluation, caller: Scope, site: CallSite) -> frozenset[Symbol]:
    """The functions and classes that are called; an instance that is called runs no constructor."""

    def compute() -> tuple[CallSite, frozenset[Symbol]]:
        values = ev.value(site.call.function, caller)
        return site, frozenset(value.ref for value in values if isinstance(value, ClassValue | FunctionValue))

    return ev.part(("given", caller, id(site)), compute)[1]  # which keeps the site, and with it the identity


def compiled_as(project: Project, name: str) -> set[str]:
    """The new names of what is compiled, and the parameters that functions call it by."""
    names = set(project.named("compiled as").get(name, ()))
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
            if place < len(site.call.arguments):
                given = site.call.arguments[place]
            else:
                given = next((g for word, g in site.call.keywords if word == parameter), facts.UNKNOWN)
            if name := last_name(given):
                table.setdefault(name, set()).add(parameter)
    return table


def by_owner(project: Project, constructed: list[ClassRef]) -> Iterator[tuple[Scope, CallSite]]:
    """The calls that construct a class as its own methods do, or for those that have it as an attribute."""
    yield from _in_class_methods(project, constructed)
    yield from _of_heirs(project, constructed)


def _of_heirs(project: Project, constructed: list[ClassRef]) -> Iterator[tuple[Scope, CallSite]]:
    """`self.target(…)` of a base, which constructs what the body of each heir calls its target."""
    for ref in constructed:
        for holder, name, value, where in project.named("held by classes").get(ref.name, ()):
            if ref not in project.symbols(value, where.path, where.key):
                continue
            for caller, site in project.calls_of(name):
                callee, owner = site.call.function, project.owner(caller)
                if owner is None or owner == holder or owner not in project.mro(holder):
                    continue
                if isinstance(callee, facts.Attribute) and project.is_self(callee.value, caller):
                    yield Scope(caller, holder), site


def _in_class_methods(project: Project, constructed: list[ClassRef]) -> Iterator[tuple[Scope, CallSite]]:
    """`cls(…)` in class methods, which constructs the class that has them or one below it."""
    key = "calls of cls"
    if key not in project.memo:
        table: dict[ClassRef, list[tuple[FunctionRef, CallSite]]] = defaultdict(list)
        for where, site in project.calls_of("cls"):
            owner = project.owner(where)
            if owner is not None and project.method_kind(where) == "classmethod":
                table[owner].append((where, site))
        project.memo[key] = dict(table)
    for ref in constructed if project.memo[key] else ():
        for part in project.mro(ref):
            made = project.memo[key].get(part, ())  # type: ignore[attr-defined]
            if made and len(heirs(project, part)) <= _FEW:
                yield from ((Scope(where, ref), site) for where, site in made)
