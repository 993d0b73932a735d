"""Call sites that do not name what they run: of a result, of `cls`, of a module given a callback."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import islice

from dynamo_lint.index import ir
from dynamo_lint.index.ir import CallSite, Parameter
from dynamo_lint.index.walking import walk
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.names import last_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.values.model import ClassValue, Context, FunctionValue, Instance
from dynamo_lint.values.points_to import PointsTo, Sites
from dynamo_lint.values.reflection import LOCATORS

_Unnamed = tuple[Context, CallSite, frozenset[Symbol]]
"""A call, and what it runs where binding alone tells."""
_FEW = 8
"""A class method of more classes than this is a library's: it says little of each of them."""


def running(pts: PointsTo, wanted: Collection[ClassRef | FunctionRef]) -> Iterator[tuple[Context, CallSite]]:
    """The unnamed calls of functions, and those that construct classes."""
    for caller, site, fixed in unnamed_calls(pts.project):
        if not (fixed or _given(pts, caller, site)).isdisjoint(wanted):
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
            yield Context(where, project.owner(where)), site, fixed


def _makers(project: Project, where: FunctionRef, site: CallSite) -> tuple[Symbol, ...]:
    """The symbols that give the function that a call runs: `find` of `find(path)(model)`."""
    inner = site.call.function
    return project.symbols(inner.function, where.path, where.key) if isinstance(inner, ir.Call) else ()


def _fixed(project: Project, where: FunctionRef, site: CallSite) -> frozenset[Symbol]:
    """The symbols that a call runs by binding alone; nothing where that is not known of everything
    returned."""
    given: set[Symbol] = set()
    for maker in _makers(project, where, site):
        if not isinstance(maker, FunctionRef):
            return frozenset()
        for value in project.function(maker).returns:
            named = project.symbols(value, maker.path, maker.key)
            if not named and not isinstance(value, ir.Constant):
                return frozenset()
            given.update(named)
    return frozenset(given)


def _finds(project: Project, maker: Symbol) -> bool:
    """Whether it finds what it gives by a text; what else it may be costs too much to work out."""
    if isinstance(maker, ExternalSymbol):
        return maker.dotted in LOCATORS
    return isinstance(maker, FunctionRef) and any(
        isinstance(symbol, ExternalSymbol) and symbol.dotted in LOCATORS
        for value in project.function(maker).returns
        for part in walk(value)
        if isinstance(part, ir.Call)
        for symbol in project.symbols(part.function, maker.path, maker.key)
    )


def _given(pts: PointsTo, caller: Context, site: CallSite) -> frozenset[Symbol]:
    """The functions and classes that are called; an instance that is called runs no constructor."""

    def compute() -> tuple[CallSite, frozenset[Symbol]]:
        values = pts.value(site.call.function, caller)
        return site, frozenset(value.ref for value in values if isinstance(value, ClassValue | FunctionValue))

    return pts.part(("given", caller, id(site)), compute)[1]  # which keeps the site, and with it the identity


def compiled_as(project: Project, name: str) -> set[str]:
    """The new names of what is compiled, and the parameters that functions call it by."""
    names = set(project.named("compiled as").get(name, ()))
    if not names:
        return names
    key = "handed"
    if key not in project.memo:
        project.memo[key] = _callback_parameters(project)
    return names.union(*(project.memo[key].get(one, ()) for one in names))  # type: ignore[attr-defined]


def _callback_parameters(project: Project) -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for callee, place, parameter in dict.fromkeys(project.screened("calling given", lambda _: True)):
        for _, site in project.calls_of(callee):
            if place < len(site.call.arguments):
                given = site.call.arguments[place]
            else:
                given = next((g for word, g in site.call.keywords if word == parameter), ir.UNKNOWN)
            if name := last_name(given):
                table.setdefault(name, set()).add(parameter)
    return table


def by_owner(project: Project, constructed: list[ClassRef]) -> Iterator[tuple[Context, CallSite]]:
    """The calls that construct a class as its own methods do, or for those that have it as an attribute."""
    yield from _in_class_methods(project, constructed)
    yield from _by_subclass_attribute(project, constructed)


def _by_subclass_attribute(
    project: Project, constructed: list[ClassRef]
) -> Iterator[tuple[Context, CallSite]]:
    """`self.target(…)` of a base, which constructs what the body of each subclass calls its target."""
    for ref in constructed:
        for holder, name, value, where in project.named("held by classes").get(ref.name, ()):
            if ref not in project.symbols(value, where.path, where.key):
                continue
            for caller, site in project.calls_of(name):
                callee, owner = site.call.function, project.owner(caller)
                if owner is None or owner == holder or owner not in project.mro(holder):
                    continue
                if isinstance(callee, ir.Attribute) and project.is_self(callee.value, caller):
                    yield Context(caller, holder), site


def _in_class_methods(project: Project, constructed: list[ClassRef]) -> Iterator[tuple[Context, CallSite]]:
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
            if made and len(subclasses(project, part)) <= _FEW:
                yield from ((Context(where, ref), site) for where, site in made)


_CALLED_BY_FLEX = frozenset({"score_mod", "mask_mod"})
"""Parameters of torch's own that are functions (torch/nn/attention/flex_attention.py)."""
_MOST_SITES = 200
"""Calls that may be of a module which are evaluated to see what they call."""


def sites_passing(pts: PointsTo, parameter: Parameter, where: FunctionRef) -> Sites:
    """The calls that say what a parameter of a function may hold; of a forward also those of its module."""
    return (*pts.call_sites(where), *forward_sites(pts, parameter, where))


def forward_sites(pts: PointsTo, parameter: Parameter, where: FunctionRef) -> Sites:
    """The calls of modules that hand something to a forward under a name by which functions are called."""
    if not where.key.endswith((".forward", ".__call__")) or parameter.name not in _called(pts.project):
        return ()
    nothing: Sites = ()
    return pts.ask(
        ("handing", where, parameter.name), lambda: tuple(_forward_sites(pts, parameter, where)), nothing
    )


def _forward_sites(
    pts: PointsTo, parameter: Parameter, where: FunctionRef
) -> Iterator[tuple[Context, CallSite]]:
    name = where.key.rpartition(".")[2]
    place = pts.project.function(where).parameters.index(parameter) - 1
    for caller, site in islice(_sites(pts.project, parameter.name, place), _MOST_SITES):
        context = Context(caller, pts.project.owner(caller))
        called = (v.ref for v in pts.value(site.call.function, context) if isinstance(v, Instance))
        if any(pts.project.method(ref, name) == where for ref in called):
            yield context, site


def _called(project: Project) -> frozenset[str]:
    """The names of the parameters that functions call."""
    key = "parameters called"
    if key not in project.memo:
        rows = project.screened("calling given", lambda _: True)
        project.memo[key] = _CALLED_BY_FLEX.union(name for _, _, name in rows)
    return project.memo[key]  # type: ignore[return-value]


def _sites(project: Project, name: str, place: int) -> Iterator[tuple[FunctionRef, CallSite]]:
    """The calls of what bindings do not tell that pass something under a name, or a function at a place."""
    at_place = project.named("handed at").get(str(place), ())
    for where, site in (*project.named("handed as").get(name, ()), *at_place):
        if not project.symbols(site.call.function, where.path, where.key):
            yield where, site
