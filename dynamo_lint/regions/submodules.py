"""The modules below a module: what it holds by name, what it holds by position, and all that these hold."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, Expr
from dynamo_lint.program.refs import ClassRef, Tier
from dynamo_lint.regions.values import EMPTY, Group, Instance, Scope, Text, Value, Values, elements, union
from dynamo_lint.values.points_to import Evaluation


def contents(ev: Evaluation, ref: ClassRef) -> Values:
    """What an instance holds without a name of its own: `self.append(…)`, `self.add_module(name, …)`."""
    return ev.ask(("contents", ref), lambda: _contents(ev, ref), EMPTY)


def _contents(ev: Evaluation, ref: ClassRef) -> Values:
    parts = [
        ev.value(store.value, Scope(where, ref))
        for part in ev.project.mro(ref)
        for where, store in ev.project.own_stores(part).get(ITEM, ())
    ]
    init = ev.project.method(ref, "__init__") if ev.project.is_container(ref) else None
    if init is not None:
        for site in ev.project.function(init).calls:
            if isinstance(site.call.function, facts.Attribute) and site.call.function.name == "__init__":
                scope = Scope(init, ref)
                given = union(ev.value(argument, scope) for argument in site.call.arguments)
                parts += [{v: t for v, t in given.items() if isinstance(v, Instance)}, elements(given)]
    return union(parts)


def children(ev: Evaluation, ref: ClassRef) -> Values:
    """The submodules an instance holds in its attributes: instances, and containers as they are."""
    return ev.ask(("children", ref), lambda: _children(ev, ref), EMPTY)


def _children(ev: Evaluation, ref: ClassRef) -> Values:
    names = {n for part in ev.project.mro(ref) for n in ev.project.own_stores(part) if not n.endswith("[]")}
    held = union(ev.attributes({Instance(ref): Tier.CERTAIN}, name) for name in sorted(names))
    held = union([held, contents(ev, ref)])
    return {v: tier for v, tier in held.items() if ev.holds_module(v)}


def descendants(ev: Evaluation, ref: ClassRef) -> Values:
    """All submodules below an instance, itself included: what `.modules()` yields."""
    return ev.ask(("descendants", ref), lambda: _descendants(ev, ref), EMPTY)


def _descendants(ev: Evaluation, ref: ClassRef) -> Values:
    found: dict[Value, Tier] = {}
    pending: list[tuple[Value, Tier]] = [(Instance(ref), Tier.LIKELY)]
    while pending:
        value, tier = pending.pop()
        if value in found:
            continue
        found[value] = tier
        match value:
            case Instance(inner):
                pending += [(v, max(tier, t)) for v, t in children(ev, inner).items()]
            case Group():
                pending += [
                    (v, max(tier, t)) for v, t in elements({value: tier}).items() if ev.holds_module(v)
                ]
    return found


def below(ev: Evaluation, ref: ClassRef, path: str) -> Values:
    """The module that a path names below another: `"encoder.norm"`."""
    found: Values = {Instance(ref): Tier.CERTAIN}
    for part in path.split("."):
        found = ev.attributes(found, part)
    return found


def along(ev: Evaluation, path: Sequence[Expr], scope: Scope) -> Values:
    """What `reduce(getattr, path.split("."), model)` finds: any module below, if nothing tells the path."""
    if len(path) != 2:
        return EMPTY
    names, start = path
    found = ev.value(start, scope)
    for known in ev.value(names, scope):
        parts = known.items if isinstance(known, Group) else ()
        texts = [value.value for part in parts for value, _ in part if isinstance(value, Text)]
        for text in texts:
            found = ev.attributes(found, text)
        if texts:
            return found
    return union((descendants(ev, v.ref) for v in found if isinstance(v, Instance)), Tier.LIKELY)
