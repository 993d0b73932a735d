"""What `named_modules()` calls the modules below a module: by attributes, keys and positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.program.refs import ClassRef, Tier
from dynamo_lint.regions import submodules
from dynamo_lint.regions.values import Group, Instance, Value, Values
from dynamo_lint.values.points_to import Evaluation

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


def below(ev: Evaluation, ref: ClassRef) -> tuple[Named, ...]:
    """All modules below an instance with their names, itself first, containers included."""
    nothing: tuple[Named, ...] = ()
    return ev.ask(("paths below", ref), lambda: tuple(_walk(ev, ref)), nothing)


def right_below(ev: Evaluation, ref: ClassRef) -> tuple[Named, ...]:
    """The children of an instance with their names."""
    return tuple(Named((name,), value) for name, values in _parts(ev, ref) for value in values)


def inside(group: Group) -> Iterator[Named]:
    """What a container holds, by key or position."""
    keys = group.keys if group.kind == "dict" else ()
    for number, item in enumerate(group.items):
        key = (keys[number] if number < len(keys) else None) or (ANY if group.kind == "dict" else POSITION)
        yield from (Named((key,), value) for value, _ in item)


def _walk(ev: Evaluation, ref: ClassRef) -> Iterator[Named]:
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
                parts = [Named((name,), value) for name, values in _parts(ev, inner) for value in values]
                around = around | {inner}
            case Group():
                parts = [part for part in inside(named.value) if ev.holds_module(part.value)]
            case _:
                parts = []
        pending += [(Named((*named.path, *part.path), part.value), around) for part in reversed(parts)]


def _parts(ev: Evaluation, ref: ClassRef) -> Iterator[tuple[str, Values]]:
    """The submodules that an instance holds itself, by attribute."""
    if ev.project.is_container(ref):
        yield POSITION, submodules.contents(ev, ref)
    stores = {n: s for part in ev.project.mro(ref) for n, s in ev.project.own_stores(part).items()}
    for name in sorted(stores):
        if not name.endswith("[]"):
            held = ev.attributes({Instance(ref): Tier.CERTAIN}, name)
            yield name, {value: tier for value, tier in held.items() if ev.holds_module(value)}
    if not ev.project.is_container(ref):
        yield ANY, {v: t for v, t in submodules.contents(ev, ref).items() if ev.holds_module(v)}


def spelled(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path as the run may spell it, with some numbers for each position; nothing if a name is not known."""
    if ANY in path:
        return ()
    if POSITION not in path:
        return (".".join(path),)
    return tuple(
        ".".join(number if part == POSITION else part for part in path) for number in ("0", "1", "12")
    )
