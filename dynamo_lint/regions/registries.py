"""Registries whose code is a library's: mmengine's and fvcore's `Registry`, the auto classes of transformers.

Which classes they hold is told by what the project registers: with a decorator, or by a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Attribute, Call, Expr, Import, Name
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import External, File, Project
from dynamo_lint.regions.values import EMPTY, ClassValue, Instance, Scope, Value, Values, union

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_GETTING = frozenset({"get", "get_class", "lookup", "__getitem__"})
"""Methods of registries that give what was registered."""
_BUILDING = frozenset(
    {"build", "create", "make", "instantiate", "from_config", "_from_config", "from_pretrained"}
)
"""Methods of registries that give an instance of it."""
METHODS = _GETTING | _BUILDING
_MAPPING = "_model_mapping"
"""Where an auto class of transformers keeps its registry (transformers/models/auto/auto_factory.py)."""
_DEEPEST = 8
"""How many imports a registry may go through."""


class _Place(NamedTuple):
    """What a registry is known by: a name at the top level of a file, or outside the project."""

    path: str
    name: str


def built(ev: Evaluation, callee: Attribute, owners: Values, scope: Scope) -> Values:
    """What a method of a registry gives: one of the modules that the project registers there."""
    by_name = _place(ev.project, callee.value, scope.function.path, scope.function.key)
    places = {place for owner in owners if (place := _of_value(ev.project, owner)) is not None}
    if by_name is not None:
        places.add(by_name)
    classes = union([_registered(ev, place) for place in sorted(places)])
    if callee.name in _GETTING:
        return classes
    return {Instance(value.ref): tier for value, tier in classes.items() if isinstance(value, ClassValue)}


def _of_value(project: Project, owner: Value) -> _Place | None:
    """The registry that a value is: an auto class of transformers, or one of the project with a mapping."""
    match owner:
        case External(dotted):
            return _Place("", dotted)
        case ClassValue(ref):
            mapping = project.class_bindings(ref).get(_MAPPING, ())
            inner = (_place(project, one.value, ref.path, MODULE_KEY) for one in mapping)
            return next((place for place in inner if place is not None), None)
    return None


def _registered(ev: Evaluation, place: _Place) -> Values:
    def compute() -> Values:
        classes = (ref for ref in _entries(ev, place) if ev.project.is_module(ref))
        return {ClassValue(ref): Tier.LIKELY for ref in classes}

    nothing: Values = EMPTY
    return ev.ask(("registered", place), compute, nothing)


def _entries(ev: Evaluation, place: _Place) -> Iterator[ClassRef]:
    project = ev.project
    for ref, decorator in project.screened("decorated", _registers):
        callee = decorator.function if isinstance(decorator, Call) else decorator
        if not (isinstance(ref, ClassRef) and isinstance(callee, Attribute)):
            continue
        if _place(project, callee.value, ref.path, project.class_(ref).outer or MODULE_KEY) == place:
            yield ref
    for where, site in project.screened("calls", _registers):
        callee = site.call.function
        if not isinstance(callee, Attribute):
            continue
        if _place(project, callee.value, where.path, where.key) == place:
            for argument in (*site.call.arguments, *(value for _, value in site.call.keywords)):
                if not isinstance(argument, facts.Constant | facts.Unknown):
                    held = ev.value(argument, Scope(where, project.owner(where)))
                    yield from (value.ref for value in held if isinstance(value, ClassValue))


def _registers(name: str) -> bool:
    return name.startswith("register")


def _place(project: Project, expr: Expr, path: str, key: str) -> _Place | None:
    """The registry that an expression names; None for what is no global name, or a definition of ours."""
    for symbol in project.symbols(expr, path, key):
        return _Place("", symbol.dotted) if isinstance(symbol, External) else None
    match expr:
        case Name(name):
            return _global(project, name, path, key)
        case Attribute(owner, name):
            files = (s for s in project.symbols(owner, path, key) if isinstance(s, File))
            return next((_Place(file.path, name) for file in files), None)
    return None


def _global(project: Project, name: str, path: str, key: str) -> _Place | None:
    home = project.home_of(name, FunctionRef(path, key))
    if home.key != MODULE_KEY:
        local = project.locals_of(home)[name]
        imported = [value for value in local.bound if isinstance(value, Import)]
        return _imported(project, imported, path) if imported and local.parameter is None else None
    for _ in range(_DEEPEST):
        bound = project.global_bindings(path).get(name, [])
        imported = [value for value in bound if isinstance(value, Import)]
        if not imported:
            return _Place(path, name) if any(isinstance(value, Call) for value in bound) else None
        place = _imported(project, imported, path)
        if place is None or place == (path, name):
            return None
        path, name = place
    return None


def _imported(project: Project, values: list[Import], path: str) -> _Place | None:
    for value in values:
        for source in project.imported_modules(value, path):
            if isinstance(source, File) and value.name is not None:
                return _Place(source.path, value.name)
    return None
