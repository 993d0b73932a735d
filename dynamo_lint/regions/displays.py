"""What displays hold: lists, comprehensions, dictionaries that take in others, and what is put in later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from dynamo_lint.index.facts import MODULE_KEY, Display, Element, Expr, Name
from dynamo_lint.index.walking import untested, walk
from dynamo_lint.program.refs import FunctionRef, Tier
from dynamo_lint.regions import choices
from dynamo_lint.regions.receivers import each_heir
from dynamo_lint.regions.values import EMPTY, Group, Scope, Values, at_best, freeze, stored, union
from dynamo_lint.values.points_to import Evaluation


def of_display(
    ev: Evaluation, kind: str, items: tuple[Expr, ...], keys: tuple[str | None, ...], scope: Scope
) -> Values:
    """The container that a display or a comprehension makes."""
    takes_in = any(isinstance(item, Element) for item in items)
    if kind == "dict" and takes_in:
        return stored(_rows(ev, items, keys, scope))
    parts = [ev.value(item, scope) for item in items]
    if takes_in:
        kind, parts = "each", [union(parts)]
    # A container of nothing we follow is not worth carrying around.
    if not any(parts) and kind != "tuple":
        return EMPTY
    return {Group(kind, tuple(freeze(part) for part in parts), keys): Tier.CERTAIN}


def _rows(
    ev: Evaluation, items: tuple[Expr, ...], keys: tuple[str | None, ...], scope: Scope
) -> Iterator[tuple[str | None, Values]]:
    for key, item in zip(keys, items, strict=True):
        if not isinstance(item, Element):
            yield key, ev.value(item, scope)
            continue
        for other, tier in ev.value(item.iterable, scope).items():
            if isinstance(other, Group):
                known = zip_longest(other.keys, other.items)
                yield from ((name, at_best(dict(held), tier)) for name, held in known)


def put_by(ev: Evaluation, where: FunctionRef, value: Expr) -> Values:
    """What a function puts into a table; one that runs for each heir of its class puts them all there."""
    heirs = each_heir(ev.project, value, where)
    if heirs:
        choices.note(ev.project, heirs)
    return heirs or ev.value(value, Scope(where, ev.project.owner(where)))


def of_itself(bound: Sequence[Expr], name: str, found: Values) -> Values:
    """What a name holds that is put into a list if it is none yet: `models = [models]`."""
    for value in bound:
        if isinstance(value, Display) and value.kind in ("list", "tuple") and len(value.items) == 1:
            inner = untested(value.items[0])
            single: Values = {one: tier for one, tier in found.items() if not isinstance(one, Group)}
            if inner == Name(name) and single:
                return union([found, {Group(value.kind, (freeze(single),)): Tier.CERTAIN}])
    return found


def set_by_functions(ev: Evaluation, name: str, scope: Scope) -> Values:
    """What functions bind to a global name of their file out of names of their own: `model = given`."""
    project = ev.project
    stores = project.set_in(scope.function.path).get(name, ()) if scope.function.key == MODULE_KEY else ()
    parts = []
    for where, value in stores:
        own = project.locals_of(where)
        if any(isinstance(part, Name) and part.id in own for part in walk(value)):
            parts.append(ev.value(value, Scope(where, project.owner(where))))
    return union(parts, Tier.LIKELY)
