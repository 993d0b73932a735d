"""Replacement after construction: modules swapped by `setattr`, methods rebound and put back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Attribute, Call, CallSite, Expr, Name, Store
from dynamo_lint.index.walking import untested
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.values import module_tree
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.classes import is_instance_of
from dynamo_lint.values.model import EMPTY, Context, ExternalInstance, Instance, ValueSet, functions_in, union
from dynamo_lint.values.points_to import PointsTo


def is_put_back(project: Project, where: FunctionRef, store: Store) -> bool:
    """Whether an attribute gets what it held, compiled: whatever stands around that runs eagerly."""
    value, compiles = store.value, False
    while isinstance(value, Call) and value.arguments:
        compiles = compiles or _compiles(project, value.function, where)
        value = value.arguments[0]
    return compiles and value == Attribute(store.owner, store.name)


def _compiles(project: Project, callee: Expr, where: FunctionRef) -> bool:
    """Whether a call compiles what it is given first: torch.compile, or a function of ours around it."""
    for symbol in project.symbols(callee, where.path, where.key):
        if symbol == ExternalSymbol(COMPILE):
            return True
        if isinstance(symbol, FunctionRef) and (function := project.function(symbol)).parameters:
            first = Name(function.parameters[0].name)
            if any(
                site.call.arguments[:1] == (first,)
                and ExternalSymbol(COMPILE) in project.symbols(site.call.function, symbol.path, symbol.key)
                for site in function.calls
            ):
                return True
    return False


def is_undone(project: Project, where: FunctionRef, store: Store) -> bool:
    """Whether a function, or its class, stores back what an attribute held before: `m.forward = original`."""
    around = [where]
    owner = project.owner(where)
    if owner is not None:
        functions = project.files[owner.path].functions.items()
        around += [FunctionRef(owner.path, key) for key, one in functions if one.owner == owner.key]
    kept = project.kept_under(where.path)
    saved = {name for ref in around for name in kept.get(f"{ref.key} {store.name}", ())}
    if not saved or _name_of(store.value) in saved:
        return False
    return any(
        other.name == store.name and _name_of(other.value) in saved
        for ref in around
        for other in project.function(ref).stores
    )


def _name_of(value: Expr) -> str:
    named = isinstance(value, ir.Name | ir.Attribute)
    return getattr(value, "id", getattr(value, "name", "")) if named else ""


def patched_callee(pts: PointsTo, callee: Expr, context: Context) -> ValueSet:
    """The values that a call may run: of a library's function also what is put in its place, if it is asked
    for there.

    A name that was bound before, such as `original = F.gelu`, goes on to mean the library's. What is put into
    Python's own modules watches a program, and is not there when it runs for its own sake.
    """
    found = pts.value(callee, context)
    if not isinstance(callee, Attribute) or not pts.project.stores_of(callee.name):
        return found
    libraries = {
        v for v in pts.value(callee.value, context) if isinstance(v, ExternalSymbol) and not _is_python_s(v)
    }
    return union([found, *(_put_there(pts, library, callee.name) for library in libraries)])


def _put_there(pts: PointsTo, library: ExternalSymbol, name: str) -> ValueSet:
    project = pts.project
    put = EMPTY
    for where, store in project.stores_of(name):
        if library not in project.symbols(store.owner, where.path, where.key) or in_tests(where.path):
            continue
        if not (is_put_back(project, where, store) or is_undone(project, where, store)):
            put = union([put, functions_in(pts.value(store.value, Context(where, project.owner(where))))])
    return union([put], Confidence.LIKELY)


def _is_python_s(library: ExternalSymbol) -> bool:
    return library.dotted.partition(".")[0] in sys.stdlib_module_names


_SWAPPERS = (("setattr", 0, 2), ("set_submodule", None, 1), ("register_module", None, 1))
"""Calls that put a module somewhere: position of the parent (None for the receiver) and of the module."""
_MANY = 8
"""A helper that is given more classes of models than this may be applied to anything: it says nothing."""
Swap = tuple[frozenset[ClassRef], ValueSet]
"""The classes whose submodules are swapped, and for what."""


class _Place(NamedTuple):
    """A call that may put a module in the place of another."""

    site: CallSite
    context: Context
    owner: Expr
    value: Expr
    deep: bool
    """It may swap not only what its owner holds but also what that holds."""


def swapped(pts: PointsTo, ref: ClassRef, held: ValueSet) -> ValueSet:
    """The modules that may replace those which an attribute of `ref` is known to hold."""
    order = pts.project.mro(ref)
    parts = []
    for place in _fitting(pts, ref, held):
        # The tests are known at once; whose submodules these are takes the modules of whole models.
        owners, modules = _put(pts, place)
        if not owners.isdisjoint(order):
            parts.append(union([modules], Confidence.LIKELY) if _types(pts, place) else pts.guessed(modules))
    return union(parts)


def may_swap(pts: PointsTo, ref: ClassRef, held: ValueSet) -> bool:
    """Whether any place may swap something held by a class, before it is asked what is swapped there."""
    return any(_may_be_swapped(pts, value) for value in held) and bool(_places_in(pts, ref))


def _fitting(pts: PointsTo, ref: ClassRef, held: ValueSet) -> Iterator[_Place]:
    """The places that may swap something held by a class, as their tests tell."""
    if any(_may_be_swapped(pts, value) for value in held):
        for place in _places_in(pts, ref):
            types = _types(pts, place)
            if not types or any(is_instance_of(pts, value, types) for value in held):
                yield place


def swaps_of(pts: PointsTo) -> Iterator[Swap]:
    """Every swap in the project, with the classes whose submodules it swaps."""
    return (_put(pts, place) for places in _places(pts).values() for place in places if _counts(pts, place))


def _places_in(pts: PointsTo, ref: ClassRef) -> tuple[_Place, ...]:
    """The places that may swap submodules of a class."""
    key = ("swaps in", ref)
    known = pts.project.memo.get(key)
    if known is None:
        parts = (_counting(pts, part) for part in (*pts.project.mro(ref), None))
        known = pts.project.memo[key] = tuple(place for placed in parts for place in placed)
    return known  # type: ignore[return-value]


def _counting(pts: PointsTo, part: ClassRef | None) -> tuple[_Place, ...]:
    """The places that may swap submodules of one class, or of any, as far as they count."""
    key = ("swaps that count", part)
    known = pts.project.memo.get(key)
    if known is None:
        placed = _places(pts).get(part, ())
        known = pts.project.memo[key] = tuple(place for place in placed if _counts(pts, place))
    return known  # type: ignore[return-value]


def _counts(pts: PointsTo, place: _Place) -> bool:
    """Whether a test says what is swapped; else that would only be assumed."""
    return bool(pts.guesses or _types(pts, place))


def _may_be_swapped(pts: PointsTo, value: object) -> bool:
    if isinstance(value, Instance):
        return pts.project.is_module(value.ref)
    return isinstance(value, ExternalInstance) and value.dotted.startswith("torch.nn.")


def _places(pts: PointsTo) -> dict[ClassRef | None, list[_Place]]:
    """Every call in the project that may put a module somewhere, by the one class it can be put into."""
    known = pts.project.memo.get(_Place)
    if known is None:
        known = pts.project.memo[_Place] = _all(pts)
    return known  # type: ignore[return-value]


def _all(pts: PointsTo) -> dict[ClassRef | None, list[_Place]]:
    found: dict[ClassRef | None, list[_Place]] = {}
    for name, owner_at, value_at in _SWAPPERS:
        for where, site in pts.project.calls_of(name):
            arguments = site.call.arguments
            if len(arguments) <= value_at or isinstance(arguments[value_at - 1], ir.Constant):
                continue
            value, owner = arguments[value_at], _owner(site, owner_at)
            if owner is None or isinstance(value, ir.Constant | ir.UnknownExpression):
                continue
            context = Context(where, pts.project.owner(where))
            deep = name == "set_submodule" or _calls_itself(pts, where)
            alone = context.receiver if pts.project.is_self(owner, where) and not deep else None
            found.setdefault(alone, []).append(_Place(site, context, owner, value, deep))
    return found


def _put(pts: PointsTo, place: _Place) -> Swap:
    """The replacement at a place: the classes whose submodules it swaps, none if that may be any."""
    key = ("swaps at", id(place.site))
    known = pts.project.memo.get(key)
    if known is None:
        known = pts.project.memo[key] = _put_at(pts, place)
    return known  # type: ignore[return-value]


def _put_at(pts: PointsTo, place: _Place) -> Swap:
    nothing: frozenset[ClassRef] = frozenset()
    plain = pts.without_swaps()  # so that asking ends
    values = plain.value(place.value, place.context)
    modules: ValueSet = {
        v: confidence
        for v, confidence in values.items()
        if isinstance(v, Instance) and pts.project.is_module(v.ref)
    }
    if not modules:
        return nothing, EMPTY
    owners = {v.ref for v in plain.value(place.owner, place.context) if isinstance(v, Instance)}
    if len(owners) > _MANY:
        return nothing, modules
    if place.deep and _types(pts, place):
        # What the base of many models holds itself is next to nothing of what stands below each of them.
        known = [owner for owner in owners if len(subclasses(pts.project, owner)) <= _MANY]
        below = [module_tree.descendants(plain, owner) for owner in known]
        owners |= {v.ref for part in below for v in part if isinstance(v, Instance)}
    return frozenset(owners), modules


def _calls_itself(pts: PointsTo, where: FunctionRef) -> bool:
    """A helper that walks down the module tree."""
    name = where.key.rpartition(".")[2]
    calls = pts.project.function(where).calls
    return any(getattr(s.call.function, "id", getattr(s.call.function, "name", "")) == name for s in calls)


def _owner(site: CallSite, position: int | None) -> Expr | None:
    if position is not None:
        return site.call.arguments[position]
    function = site.call.function
    return function.value if isinstance(function, ir.Attribute) else None


def _types(pts: PointsTo, place: _Place) -> ValueSet:
    """The types that the swapped submodule is tested for; a test of its parent says nothing of it."""
    key = ("swapped types", id(place.site))
    known = pts.project.memo.get(key)
    if known is None:
        shown = (fact for fact in place.site.narrowed if fact.holds and fact.value != untested(place.owner))
        known = pts.project.memo[key] = union(typed(pts.project, fact.types, place.context) for fact in shown)
    return known  # type: ignore[return-value]
