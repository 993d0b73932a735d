"""Registrations in registries, by decorator or by call, of any class, the project's or a library's.

A registry goes by the line that makes it, by its name outside the project, or by the attribute that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from dynamo_lint import knowledge
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, CallSite, Constant, Expr, Import, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.program.dependencies import question
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef, Symbol
from dynamo_lint.values.model import ClassValue, Context, FunctionValue, ValueSet

_REGISTER = "register_"
_OF_MODULES = ("_hook", "_buffer", "_parameter")
BUILDING = knowledge.names("registry_builds")
"""Methods of registries that give an instance of it."""
HELD = "."
"""Stands for the path of a registry that objects hold in an attribute, whichever they are: `self.factory`."""
_DEEPEST = 8
"""How many imports a registry may go through."""


class Place(NamedTuple):
    """The identity of a registry: the line that makes it, a name outside the project, or an attribute."""

    path: str
    name: str


Registering = tuple[Expr, "ClassRef | FunctionRef | Context"]
"""A decorator and what it decorates, or a call and where it stands."""


def building(project: Project, wanted: Iterable[Symbol]) -> Iterator[tuple[Context, CallSite]]:
    """The calls of registries that make what is registered, as calls of it: `MODELS.create("x", net=net)`."""
    key = "registered at"
    if key not in project.memo:
        project.memo[key] = _places(project)
    places: dict[Symbol, set[Place]] = project.memo[key]  # type: ignore[assignment]
    for ref in wanted:
        for place in sorted(places.get(ref, ())):
            yield from _built_at(project).get(place, ())


def _places(project: Project) -> dict[Symbol, set[Place]]:
    """Where each function and class is registered that is named right there."""
    found: dict[Symbol, set[Place]] = {}
    for place, rows in registrations(project).items():
        for call, where in rows:
            refs: Iterable[Symbol] = (where,) if not isinstance(where, Context) else ()
            if isinstance(where, Context):
                path, key = where.function.path, where.function.key
                refs = (s for value in given_to(call) for s in project.symbols(value, path, key))
            for ref in refs:
                found.setdefault(ref, set()).add(place)
    return found


def _built_at(project: Project) -> dict[Place, list[tuple[Context, CallSite]]]:
    """The calls by which registries make something, of those that hand more on than what is meant."""
    key = "built at"
    if key not in project.memo:
        found: dict[Place, list[tuple[Context, CallSite]]] = {}
        for name in sorted(BUILDING):
            for where, site in project.calls_of(name):
                call, callee = site.call, site.call.function
                more = call.arguments[1:] or call.keywords
                if more and isinstance(callee, Attribute):
                    place = place_of(project, callee.value, where.path, where.key)
                    if place in registrations(project):
                        made = replace(site, call=replace(call, arguments=call.arguments[1:]))
                        found.setdefault(place, []).append((Context(where, project.owner(where)), made))
        project.memo[key] = found
    return project.memo[key]  # type: ignore[return-value]


def registrations(project: Project) -> dict[Place, list[Registering]]:
    """Registrations by registry: decorators with what they decorate, calls with their context."""
    key = "registering"
    if key not in project.memo:
        project.memo[key] = _registering(project)
    return project.memo[key]  # type: ignore[return-value]


def _registering(project: Project) -> dict[Place, list[Registering]]:
    found: dict[Place, list[Registering]] = {}
    for ref, decorator in project.screened("decorated", registers):
        callee = decorator.function if isinstance(decorator, Call) else decorator
        definition = project.class_(ref) if isinstance(ref, ClassRef) else project.function(ref)
        for place in _registered_in(project, callee, ref.path, definition.outer or MODULE_KEY):
            found.setdefault(place, []).append((decorator, ref))
    for where, site in project.screened("calls", registers):
        for place in _registered_in(project, site.call.function, where.path, where.key):
            found.setdefault(place, []).append((site.call, Context(where, project.owner(where))))
    return found


def _registered_in(project: Project, callee: Expr, path: str, key: str) -> Iterator[Place]:
    """The registries that a call or a decorator adds to: the object that it is a method of, or a library."""
    place = place_of(project, callee.value, path, key) if isinstance(callee, Attribute) else None
    if place is not None:
        yield place
    if (terminal_name(callee) or "").startswith(_REGISTER):
        for symbol in project.symbols(callee, path, key):
            if isinstance(symbol, ExternalSymbol):
                yield of_sort(symbol.dotted, symbol.dotted.rpartition(_REGISTER)[2])


def of_sort(dotted: str, sort: str) -> Place:
    """The registry of one sort in a library, from wherever in it the functions are imported."""
    return Place("", f"{dotted.partition('.')[0]}:{sort}")


@question
def registers(name: str) -> bool:
    """Whether what is called so puts something into a registry; a module's hooks and buffers are in none."""
    return name.startswith("register") and not name.endswith(_OF_MODULES)


def given_to(registering: Expr) -> tuple[Expr, ...]:
    """The arguments of a registering call; nothing for a bare decorator."""
    return arguments_of(registering) if isinstance(registering, Call) else ()


def place_of(project: Project, expr: Expr, path: str, key: str) -> Place | None:
    """The registry that an expression names; None for what is no global name, or a definition of ours."""
    for symbol in project.symbols(expr, path, key):
        return Place("", symbol.dotted) if isinstance(symbol, ExternalSymbol) else None
    match expr:
        case Name(name):
            return _global(project, name, path, key)
        case Attribute(owner, name):
            files = [s for s in project.symbols(owner, path, key) if isinstance(s, File)]
            if not files and any(isinstance(store.value, Call) for _, store in project.stores_of(name)):
                return Place(HELD, name)
            return next((_global(project, name, file.path, MODULE_KEY) for file in files), None)
    return None


def _global(project: Project, name: str, path: str, key: str) -> Place | None:
    home = project.home_of(name, FunctionRef(path, key))
    if home.key != MODULE_KEY:
        local = project.locals_of(home)[name]
        if local.parameter is None and len(local.bound) == 1 and isinstance(local.bound[0], Attribute):
            return place_of(project, local.bound[0], path, home.key)
        imported = [value for value in local.bound if isinstance(value, Import)]
        source = _imported(project, imported, path) if local.parameter is None else None
        return _global(project, source[1], source[0], MODULE_KEY) if source is not None else None
    for _ in range(_DEEPEST):
        bound = project.global_bindings(path).get(name, [])
        imported = [value for value in bound if isinstance(value, Import)]
        if not imported:
            return next((Place(path, str(v.line)) for v in bound if isinstance(v, Call)), None)
        source = _imported(project, imported, path)
        if source is None or source == (path, name):
            return None
        path, name = source
    return None


def _imported(project: Project, values: list[Import], path: str) -> tuple[str, str] | None:
    """The file and the name there that is imported."""
    for value in values:
        for source in project.imported_modules(value, path):
            if isinstance(source, File) and value.name is not None:
                return source.path, value.name
    return None


GETTING = frozenset({"get", "get_class", "lookup", "__getitem__"})
"""Methods of registries that give what was registered."""
REGISTRY_METHODS = GETTING | BUILDING


def registered_under(project: Project, values: ValueSet, texts: frozenset[str]) -> ValueSet:
    """The classes and functions that a decorator registers under one of some texts; all values if none is.

    `NETS["plain"]()`, where `@register("plain")` stands above one of the classes that NETS is filled with.
    """
    meant: ValueSet = {
        value: confidence
        for value, confidence in values.items()
        if isinstance(value, ClassValue | FunctionValue)
        and not texts.isdisjoint(_names_of(project, value.ref))
    }
    return meant or values


def _names_of(project: Project, ref: ClassRef | FunctionRef) -> Iterator[str]:
    """The texts that decorators of a class or function are given."""
    decorated = project.class_(ref) if isinstance(ref, ClassRef) else project.function(ref)
    for decorator in decorated.decorators:
        for argument in arguments_of(decorator) if isinstance(decorator, Call) else ():
            match argument:
                case Constant(str() as text):
                    yield text
