"""The children of a module, their descendants, and the dotted paths of `named_modules()`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, Call, Expr
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.model import (
    EMPTY,
    Container,
    Context,
    FunctionValue,
    Instance,
    Text,
    Value,
    ValueSet,
    elements,
    union,
)
from dynamo_lint.values.points_to import PointsTo


def contents(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """The values that an instance holds without a name: `self.append(…)`, `self.add_module(name, …)`."""
    return pts.ask(("contents", ref), lambda: _contents(pts, ref), EMPTY)


def _contents(pts: PointsTo, ref: ClassRef) -> ValueSet:
    parts = [
        pts.value(store.value, Context(where, ref))
        for part in pts.project.mro(ref)
        for where, store in pts.project.own_stores(part).get(ITEM, ())
    ]
    init = pts.project.method(ref, "__init__") if pts.project.is_container(ref) else None
    for part in _inits(pts, init, ref) if init is not None else ():
        context = Context(part, ref)
        for call in _calls_of_init(pts, part):
            given = union(pts.value(argument, context) for argument in call.arguments)
            parts += [{v: t for v, t in given.items() if isinstance(v, Instance)}, elements(given)]
    return union(parts)


def _inits(pts: PointsTo, init: FunctionRef, ref: ClassRef) -> tuple[FunctionRef, ...]:
    """An `__init__` and those that it hands over to, the last of which fills the container."""
    found = [init]
    for part in found:
        for call in _calls_of_init(pts, part):
            above = (
                v.ref for v in pts.value(call.function, Context(part, ref)) if isinstance(v, FunctionValue)
            )
            found += (one for one in above if one not in found)
    return tuple(found)


def _calls_of_init(pts: PointsTo, init: FunctionRef) -> Iterator[Call]:
    """The calls of an `__init__` that a function makes: `super().__init__(…)`."""
    for site in pts.project.function(init).calls:
        if isinstance(site.call.function, ir.Attribute) and site.call.function.name == "__init__":
            yield site.call


def children(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """The submodules an instance holds in its attributes: instances, and containers as they are."""
    return pts.ask(("children", ref), lambda: _children(pts, ref), EMPTY)


def _children(pts: PointsTo, ref: ClassRef) -> ValueSet:
    names = {n for part in pts.project.mro(ref) for n in pts.project.own_stores(part) if not n.endswith("[]")}
    held = union(pts.attributes({Instance(ref): Confidence.CERTAIN}, name) for name in sorted(names))
    held = union([held, contents(pts, ref)])
    return {v: confidence for v, confidence in held.items() if pts.holds_module(v)}


def descendants(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """All submodules below an instance, itself included: what `.modules()` yields."""
    return pts.ask(("descendants", ref), lambda: _descendants(pts, ref), EMPTY)


def _descendants(pts: PointsTo, ref: ClassRef) -> ValueSet:
    found: dict[Value, Confidence] = {}
    pending: list[tuple[Value, Confidence]] = [(Instance(ref), Confidence.LIKELY)]
    while pending:
        value, confidence = pending.pop()
        if value in found:
            continue
        found[value] = confidence
        match value:
            case Instance(inner):
                pending += [(v, max(confidence, t)) for v, t in children(pts, inner).items()]
            case Container():
                pending += [
                    (v, max(confidence, t))
                    for v, t in elements({value: confidence}).items()
                    if pts.holds_module(v)
                ]
    return found


def submodule_at(pts: PointsTo, ref: ClassRef, path: str) -> ValueSet:
    """The module that a path names below another: `"encoder.norm"`."""
    found: ValueSet = {Instance(ref): Confidence.CERTAIN}
    for part in path.split("."):
        found = pts.attributes(found, part)
    return found


def submodule_along(pts: PointsTo, path: Sequence[Expr], context: Context) -> ValueSet:
    """The values that `reduce(getattr, path.split("."), model)` finds: any module below, if nothing tells
    the path."""
    if len(path) != 2:
        return EMPTY
    names, start = path
    found = pts.value(start, context)
    for known in pts.value(names, context):
        parts = known.items if isinstance(known, Container) else ()
        texts = [value.value for part in parts for value, _ in part if isinstance(value, Text)]
        for text in texts:
            found = pts.attributes(found, text)
        if texts:
            return found
    return union((descendants(pts, v.ref) for v in found if isinstance(v, Instance)), Confidence.LIKELY)


ANY = "*"
"""Stands in a path for a name that only the run knows."""
POSITION = "#"
"""Stands in a path for the position in a list: any number."""
_DEEPEST = 10
_MOST = 800
"""More modules than this are not told apart by their names."""


class Named(NamedTuple):
    """A module and the name it has below another."""

    path: tuple[str, ...]
    value: Value


def paths_below(pts: PointsTo, ref: ClassRef) -> tuple[Named, ...]:
    """All modules below an instance with their names, itself first, containers included."""
    nothing: tuple[Named, ...] = ()
    return pts.ask(("paths below", ref), lambda: tuple(_walk(pts, ref)), nothing)


def paths_of_children(pts: PointsTo, ref: ClassRef) -> tuple[Named, ...]:
    """The children of an instance with their names."""
    return tuple(Named((name,), value) for name, values in _parts(pts, ref) for value in values)


def inside(group: Container) -> Iterator[Named]:
    """The values that a container holds, by key or position."""
    keys = group.keys if group.kind == "dict" else ()
    for number, item in enumerate(group.items):
        key = (keys[number] if number < len(keys) else None) or (ANY if group.kind == "dict" else POSITION)
        yield from (Named((key,), value) for value, _ in item)


def _walk(pts: PointsTo, ref: ClassRef) -> Iterator[Named]:
    count = 0
    pending: list[tuple[Named, frozenset[ClassRef]]] = [(Named((), Instance(ref)), frozenset())]
    while pending and count < _MOST:
        named, around = pending.pop()
        yield named
        count += 1
        if len(named.path) >= _DEEPEST:
            continue
        match named.value:
            case Instance(inner) if inner not in around:
                parts = [Named((name,), value) for name, values in _parts(pts, inner) for value in values]
                around = around | {inner}
            case Container():
                parts = [part for part in inside(named.value) if pts.holds_module(part.value)]
            case _:
                parts = []
        pending += [(Named((*named.path, *part.path), part.value), around) for part in reversed(parts)]


def _parts(pts: PointsTo, ref: ClassRef) -> Iterator[tuple[str, ValueSet]]:
    """The submodules that an instance holds itself, by attribute."""
    if pts.project.is_container(ref):
        yield POSITION, contents(pts, ref)
    stores = {n: s for part in pts.project.mro(ref) for n, s in pts.project.own_stores(part).items()}
    for name in sorted(stores):
        if not name.endswith("[]"):
            held = pts.attributes({Instance(ref): Confidence.CERTAIN}, name)
            yield name, {value: confidence for value, confidence in held.items() if pts.holds_module(value)}
    if not pts.project.is_container(ref):
        yield ANY, {v: t for v, t in contents(pts, ref).items() if pts.holds_module(v)}


@cache
def spelled(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path as the run may spell it, with some numbers for each position; nothing if a name is not known."""
    if ANY in path:
        return ()
    if POSITION not in path:
        return (".".join(path),)
    return tuple(
        ".".join(number if part == POSITION else part for part in path) for number in ("0", "1", "12")
    )
