"""Replacement after construction: modules swapped by `setattr`, patched functions, rebound methods."""

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


def patched_callee(ev: PointsTo, callee: Expr, scope: Context) -> ValueSet:
    """What a call may run: of a library's function also what is put in its place, if it is asked for there.

    A name that was bound before, such as `original = F.gelu`, goes on to mean the library's. What is put into
    Python's own modules watches a program, and is not there when it runs for its own sake.
    """
    found = ev.value(callee, scope)
    if not isinstance(callee, Attribute) or not ev.project.stores_of(callee.name):
        return found
    libraries = {
        v for v in ev.value(callee.value, scope) if isinstance(v, ExternalSymbol) and not _is_python_s(v)
    }
    return union([found, *(_put_there(ev, library, callee.name) for library in libraries)])


def _put_there(ev: PointsTo, library: ExternalSymbol, name: str) -> ValueSet:
    project = ev.project
    put = EMPTY
    for where, store in project.stores_of(name):
        if library not in project.symbols(store.owner, where.path, where.key) or in_tests(where.path):
            continue
        if not is_put_back(project, where, store):
            put = union([put, functions_in(ev.value(store.value, Context(where, project.owner(where))))])
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
    scope: Context
    owner: Expr
    value: Expr
    deep: bool
    """It may swap not only what its owner holds but also what that holds."""


def swapped(ev: PointsTo, ref: ClassRef, held: ValueSet) -> ValueSet:
    """What may stand in an attribute of `ref` in the place of the modules it is known to hold."""
    order = ev.project.mro(ref)
    parts = []
    for place in _fitting(ev, ref, held):
        # The tests are known at once; whose submodules these are takes the modules of whole models.
        owners, modules = _put(ev, place)
        if not owners.isdisjoint(order):
            parts.append(union([modules], Confidence.LIKELY) if _types(ev, place) else ev.guessed(modules))
    return union(parts)


def _fitting(ev: PointsTo, ref: ClassRef, held: ValueSet) -> Iterator[_Place]:
    """The places that may swap something held by a class, as their tests tell."""
    if any(_may_be_swapped(ev, value) for value in held):
        for place in _places_in(ev, ref):
            types = _types(ev, place)
            if not types or any(is_instance_of(ev, value, types) for value in held):
                yield place


def swaps_of(ev: PointsTo) -> Iterator[Swap]:
    """Every swap in the project, with the classes whose submodules it swaps."""
    return (_put(ev, place) for places in _places(ev).values() for place in places if _counts(ev, place))


def _places_in(ev: PointsTo, ref: ClassRef) -> tuple[_Place, ...]:
    """The places that may swap submodules of a class."""
    key = ("swaps in", ref)
    known = ev.project.memo.get(key)
    if known is None:
        parts = (_counting(ev, part) for part in (*ev.project.mro(ref), None))
        known = ev.project.memo[key] = tuple(place for placed in parts for place in placed)
    return known  # type: ignore[return-value]


def _counting(ev: PointsTo, part: ClassRef | None) -> tuple[_Place, ...]:
    """The places that may swap submodules of one class, or of any, as far as they count."""
    key = ("swaps that count", part)
    known = ev.project.memo.get(key)
    if known is None:
        placed = _places(ev).get(part, ())
        known = ev.project.memo[key] = tuple(place for place in placed if _counts(ev, place))
    return known  # type: ignore[return-value]


def _counts(ev: PointsTo, place: _Place) -> bool:
    """Whether a test says what is swapped; else that would only be assumed."""
    return bool(ev.guesses or _types(ev, place))


def _may_be_swapped(ev: PointsTo, value: object) -> bool:
    if isinstance(value, Instance):
        return ev.project.is_module(value.ref)
    return isinstance(value, ExternalInstance) and value.dotted.startswith("torch.nn.")


def _places(ev: PointsTo) -> dict[ClassRef | None, list[_Place]]:
    """Every call in the project that may put a module somewhere, by the one class it can be put into."""
    known = ev.project.memo.get(_Place)
    if known is None:
        known = ev.project.memo[_Place] = _all(ev)
    return known  # type: ignore[return-value]


def _all(ev: PointsTo) -> dict[ClassRef | None, list[_Place]]:
    found: dict[ClassRef | None, list[_Place]] = {}
    for name, owner_at, value_at in _SWAPPERS:
        for where, site in ev.project.calls_of(name):
            arguments = site.call.arguments
            if len(arguments) <= value_at or isinstance(arguments[value_at - 1], ir.Constant):
                continue
            value, owner = arguments[value_at], _owner(site, owner_at)
            if owner is None or isinstance(value, ir.Constant | ir.Unknown):
                continue
            scope = Context(where, ev.project.owner(where))
            deep = name == "set_submodule" or _calls_itself(ev, where)
            alone = scope.receiver if ev.project.is_self(owner, where) and not deep else None
            found.setdefault(alone, []).append(_Place(site, scope, owner, value, deep))
    return found


def _put(ev: PointsTo, place: _Place) -> Swap:
    """What a place puts where: the classes whose submodules it swaps, none if that may be any."""
    key = ("swaps at", id(place.site))
    known = ev.project.memo.get(key)
    if known is None:
        known = ev.project.memo[key] = _put_at(ev, place)
    return known  # type: ignore[return-value]


def _put_at(ev: PointsTo, place: _Place) -> Swap:
    nothing: frozenset[ClassRef] = frozenset()
    plain = ev.without_swaps()  # so that asking ends
    values = plain.value(place.value, place.scope)
    modules: ValueSet = {
        v: tier for v, tier in values.items() if isinstance(v, Instance) and ev.project.is_module(v.ref)
    }
    if not modules:
        return nothing, EMPTY
    owners = {v.ref for v in plain.value(place.owner, place.scope) if isinstance(v, Instance)}
    if len(owners) > _MANY:
        return nothing, modules
    if place.deep and _types(ev, place):
        # What the base of many models holds itself is next to nothing of what stands below each of them.
        known = [owner for owner in owners if len(subclasses(ev.project, owner)) <= _MANY]
        below = [module_tree.descendants(plain, owner) for owner in known]
        owners |= {v.ref for part in below for v in part if isinstance(v, Instance)}
    return frozenset(owners), modules


def _calls_itself(ev: PointsTo, where: FunctionRef) -> bool:
    """A helper that walks down the module tree."""
    name = where.key.rpartition(".")[2]
    calls = ev.project.function(where).calls
    return any(getattr(s.call.function, "id", getattr(s.call.function, "name", "")) == name for s in calls)


def _owner(site: CallSite, position: int | None) -> Expr | None:
    if position is not None:
        return site.call.arguments[position]
    function = site.call.function
    return function.value if isinstance(function, ir.Attribute) else None


def _types(ev: PointsTo, place: _Place) -> ValueSet:
    """What the swapped submodule is tested to be; a test of what it is put into says nothing of it."""
    key = ("swapped types", id(place.site))
    known = ev.project.memo.get(key)
    if known is None:
        shown = (fact for fact in place.site.narrowed if fact.holds and fact.value != untested(place.owner))
        known = ev.project.memo[key] = union(typed(ev.project, fact.types, place.scope) for fact in shown)
    return known  # type: ignore[return-value]
