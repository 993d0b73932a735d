"""Which values a test leaves: `isinstance(x, A)`, or of a loop over keys `key == "head"`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.facts import Attribute, Choice, Constant, Display, Expr, Name, Narrowed, Subscript
from dynamo_lint.index.flags import tests_flag
from dynamo_lint.index.having import attributes_in, tests_attributes
from dynamo_lint.index.narrowing import lists_texts
from dynamo_lint.program.refs import Tier
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.fielded import made_with
from dynamo_lint.regions.having import by_attributes
from dynamo_lint.regions.shown import by_flag
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    Foreign,
    FunctionValue,
    Group,
    Held,
    Instance,
    Scope,
    Text,
    Value,
    Values,
    union,
)
from dynamo_lint.values.points_to import Evaluation

_MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})


def narrow(ev: Evaluation, values: Values, types: Expr, holds: bool, scope: Scope) -> Values:
    """The values that are instances of the types, or those that are not; types may be given by name."""
    if tests_attributes(types):
        return by_attributes(ev.project, values, attributes_in(types), holds)
    if tests_flag(types):
        return by_flag(ev, values, types, holds)
    if lists_texts(types):
        return _of_text(values, types, holds)
    match types:
        case Subscript(container, index) if lists_texts(index):
            return _beside(ev, values, ev.value(container, scope), texts_in(index), holds)
        case Name("type"):
            return {v: tier for v, tier in values.items() if not isinstance(v, ClassValue) or holds}
        case Name("tuple"):
            return {v: tier for v, tier in values.items() if _may_be_tuple(ev, v, holds)}
    names = _class_names(types)
    if names:
        return _by_name(ev, values, names, holds)
    wanted = typed(ev.project, types, scope) or _listed(ev, types, scope)
    if not wanted:
        return values
    if not holds:
        return {value: tier for value, tier in values.items() if not is_one_of(ev, value, wanted)}
    inside = {value: tier for value, tier in values.items() if _may_be(ev, value, wanted)}
    known = [value.ref for value in inside if isinstance(value, Instance)]
    # The test itself proves an instance of the type, unless flow has only ever shown heirs of it.
    proven: Values = {
        value: tier
        for value, tier in wanted.items()
        if isinstance(value, Instance)
        and (value.ref in known or not any(value.ref in ev.project.mro(ref) for ref in known))
    }
    return union([proven, inside]) or wanted


def _listed(ev: Evaluation, types: Expr, scope: Scope) -> Values:
    """Instances of the classes that a variable lists, `BLOCKS = (Block, Layer)`, or is, if it is a module's;
    none if it holds anything else."""
    if not isinstance(types, Name | Attribute):
        return EMPTY
    lists = ev.value(types, scope)
    held: list[Value] = [v for v in lists if isinstance(v, ClassValue) and ev.project.is_module(v.ref)]
    held += [
        inner for group in lists if isinstance(group, Group) for item in group.items for inner, _ in item
    ]
    known = all(v in held or (isinstance(v, Group) and all(v.items)) for v in lists)
    if not known or not all(isinstance(inner, ClassValue) for inner in held):
        return EMPTY
    return {Instance(inner.ref): Tier.LIKELY for inner in held if isinstance(inner, ClassValue)}


def texts_in(types: Expr) -> frozenset[str]:
    """The texts that a test compares with."""
    options = types.options if isinstance(types, Choice) else (types,)
    return frozenset(name for option in options for name in _class_names(option))


def _of_text(values: Values, types: Expr, holds: bool) -> Values:
    texts: Values = {Text(text): Tier.CERTAIN for text in sorted(texts_in(types))}
    return texts if holds else {value: tier for value, tier in values.items() if value not in texts}


def by_key(owners: Values, index: Expr) -> Values | None:
    """What a test of the key leaves of containers with known keys; None if there is no such test."""
    wanted: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    while isinstance(index, Narrowed):
        if lists_texts(index.types):
            texts = texts_in(index.types)
            if index.holds:
                wanted = texts if wanted is None else wanted & texts
            else:
                denied |= texts
        index = index.value
    if wanted is None and not denied:
        return None
    return union(
        union([dict(item)], tier)
        for group, tier in owners.items()
        for key, item in _keyed(group)
        if key is None or (key not in denied and (wanted is None or key in wanted))
    )


def is_keyed(value: Value) -> bool:
    """Whether a value is a container whose keys are known."""
    return isinstance(value, Group) and any(value.keys)


def _keyed(value: Value) -> Iterator[tuple[str | None, Held]]:
    """The keys of a container with what it holds there; nothing of other values."""
    if isinstance(value, Group) and any(value.keys):
        yield from zip(value.keys, value.items, strict=False)


def _beside(ev: Evaluation, values: Values, owners: Values, texts: frozenset[str], holds: bool) -> Values:
    """The values that stand beside some of the keys in a loop over keys and values."""
    if not all(is_keyed(owner) for owner in owners):
        named = [ev.attributes(owners, text) for text in texts]
        asked = union(named)
        # A child of which nothing is known may be any, and an object may hold the same under another name.
        return {v: tier for v, tier in values.items() if v in asked} if holds and all(named) else values
    if holds:
        asked = union(dict(item) for owner in owners for key, item in _keyed(owner) if key in texts)
        return {value: tier for value, tier in values.items() if value in asked}
    others = {
        value for owner in owners for key, item in _keyed(owner) if key not in texts for value, _ in item
    }
    return {value: tier for value, tier in values.items() if value in others}


def _class_names(types: Expr) -> frozenset[str]:
    items = types.items if isinstance(types, Display) else ()
    return frozenset(str(item.value) for item in items if isinstance(item, Constant))


def _by_name(ev: Evaluation, values: Values, names: frozenset[str], holds: bool) -> Values:
    """`type(x).__name__ == "Block"`: of a module that nothing is known of, the modules of that name."""
    kept: Values = {
        value: tier
        for value, tier in values.items()
        if not isinstance(value, Instance) or (value.ref.name in names) is holds
    }
    if not holds or any(isinstance(value, Instance) for value in kept):
        return kept
    named = (ref for ref in ev.project.classes() if ref.name in names and ev.project.is_module(ref))
    return ev.capped({Instance(ref): Tier.LIKELY for ref in named})


def is_one_of(ev: Evaluation, value: Value, types: Values) -> bool:
    """Whether a value is an instance of one of the types, given as instances of them."""
    if value in types:
        return True
    if not isinstance(value, Instance):
        return False
    order = ev.project.mro(value.ref)
    bases = ev.project.external_bases(value.ref)
    for one in types:
        match one:
            case Instance(ref) if ref in order:
                return True
            case Foreign(dotted) if dotted in bases or (
                dotted in _MODULES and ev.project.is_module(value.ref)
            ):
                return True
    return False


def _may_be(ev: Evaluation, value: Value, types: Values) -> bool:
    """Whether a value passes the test; of a value from outside the project nothing is known."""
    if isinstance(value, Group):
        return value.kind != "tuple"
    return is_one_of(ev, value, types) if isinstance(value, Instance) else True


def _may_be_tuple(ev: Evaluation, value: Value, holds: bool) -> bool:
    """Whether a value may pass `isinstance(x, tuple)`, or fail it."""
    is_tuple = isinstance(value, Group) and value.kind == "tuple"
    return (is_tuple or not ev.holds_module(value)) if holds else not is_tuple


def by_text(ev: Evaluation, owners: Values, index: Expr, scope: Scope) -> Values:
    """What containers hold under an index that is known to be one of some texts.

    If it may be others too, any class or method of a table may be meant; another function says less.
    """
    names = ev.value(index, scope)
    texts = [name.value for name in names if isinstance(name, Text)]
    if not texts or len(texts) < len(names):
        return EMPTY
    found = union(ev.item(owners, text) for text in texts)
    if not _is_open(ev, index, scope):
        return found
    rows = ev.item(owners, None)
    others: Values = {v: tier for v, tier in rows.items() if isinstance(v, ClassValue) or _is_method(v)}
    return union([found, union([others], Tier.LIKELY)])


def _is_method(value: Value) -> bool:
    return isinstance(value, FunctionValue) and value.receiver is not None


def _is_open(ev: Evaluation, index: Expr, scope: Scope) -> bool:
    """Whether a name or an attribute may be other texts too: it also holds what only the run knows."""
    bound = [(one, at) for value, at in _bound(ev, index, scope) for one in _options(value)]
    # A question, for it may depend on itself: `key = NEXT[key]`.
    return ev.ask(("open", scope, index), lambda: not all(ev.value(v, at) for v, at in bound), False)


def _options(value: Expr) -> Iterator[Expr]:
    """What a value may be: `"ifrnn" if fed else config.kind` is known only in part."""
    if not isinstance(value, Choice):
        yield value
        return
    yield from (one for part in value.options if not isinstance(part, Constant) for one in _options(part))


def _bound(ev: Evaluation, index: Expr, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    match index:
        case Name(name):
            local = ev.project.locals_of(scope.function).get(name)
            if local is not None and local.parameter is None:
                yield from ((value, scope) for value in local.bound)
        case Attribute(owner, name) if ev.project.is_self(owner, scope.function):
            holder = scope.receiver or ev.project.owner(scope.function)
            for part in ev.project.mro(holder) if holder is not None else ():
                for where, store in ev.project.own_stores(part).get(name, ()):
                    yield store.value, Scope(where, holder)
        case Attribute(owner, name):
            for value in ev.value(owner, scope):
                if isinstance(value, Instance):
                    yield from made_with(ev, value.ref, value.ref, name)
