"""Narrowing: what `isinstance` and a comparison with a text leave of the values of a name."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.conditions.constructor import by_flag
from dynamo_lint.conditions.has_attribute import by_attributes
from dynamo_lint.index.conditions import attributes_in, compares_strings, tests_attributes, tests_flag
from dynamo_lint.index.ir import Attribute, Choice, Constant, Display, Expr, Name, Narrowed, Subscript
from dynamo_lint.program.refs import Confidence
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.classes import field_arguments, is_instance_of
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    FunctionValue,
    Instance,
    Slot,
    Text,
    Value,
    ValueSet,
    union,
)
from dynamo_lint.values.points_to import PointsTo


def narrow(pts: PointsTo, values: ValueSet, types: Expr, holds: bool, context: Context) -> ValueSet:
    """The values that are instances of the types, or those that are not; types may be given by name."""
    if tests_attributes(types):
        return by_attributes(pts.project, values, attributes_in(types), holds)
    if tests_flag(types):
        return by_flag(pts, values, types, holds)
    if compares_strings(types):
        return _of_text(values, types, holds)
    match types:
        case Subscript(container, index) if compares_strings(index):
            return _beside(pts, values, pts.value(container, context), compared_strings(index), holds)
        case Name("type"):
            return {
                v: confidence for v, confidence in values.items() if not isinstance(v, ClassValue) or holds
            }
        case Name("tuple"):
            return {v: confidence for v, confidence in values.items() if _may_be_tuple(pts, v, holds)}
    names = _class_names(types)
    if names:
        return _by_name(pts, values, names, holds)
    wanted = typed(pts.project, types, context) or _listed(pts, types, context)
    if not wanted:
        return values
    if not holds:
        return {
            value: confidence
            for value, confidence in values.items()
            if not is_instance_of(pts, value, wanted)
        }
    inside = {value: confidence for value, confidence in values.items() if _may_be(pts, value, wanted)}
    known = [value.ref for value in inside if isinstance(value, Instance)]
    # The test itself proves an instance of the type, unless flow has only ever shown subclasses of it.
    proven: ValueSet = {
        value: confidence
        for value, confidence in wanted.items()
        if isinstance(value, Instance)
        and (value.ref in known or not any(value.ref in pts.project.mro(ref) for ref in known))
    }
    return union([proven, inside]) or wanted


def _listed(pts: PointsTo, types: Expr, context: Context) -> ValueSet:
    """Instances of the classes that a variable lists, `BLOCKS = (Block, Layer)`, or is, if it is a module's;
    none if it holds anything else."""
    if not isinstance(types, Name | Attribute):
        return EMPTY
    lists = pts.value(types, context)
    held: list[Value] = [v for v in lists if isinstance(v, ClassValue) and pts.project.is_module(v.ref)]
    held += [
        inner for group in lists if isinstance(group, Container) for item in group.items for inner, _ in item
    ]
    known = all(v in held or (isinstance(v, Container) and all(v.items)) for v in lists)
    if not known or not all(isinstance(inner, ClassValue) for inner in held):
        return EMPTY
    return {Instance(inner.ref): Confidence.LIKELY for inner in held if isinstance(inner, ClassValue)}


def compared_strings(types: Expr) -> frozenset[str]:
    """The texts that a test compares with."""
    options = types.options if isinstance(types, Choice) else (types,)
    return frozenset(name for option in options for name in _class_names(option))


def _of_text(values: ValueSet, types: Expr, holds: bool) -> ValueSet:
    texts: ValueSet = {Text(text): Confidence.CERTAIN for text in sorted(compared_strings(types))}
    return (
        texts if holds else {value: confidence for value, confidence in values.items() if value not in texts}
    )


def by_key(owners: ValueSet, index: Expr) -> ValueSet | None:
    """The values that a test of the key leaves of containers with known keys, if there is one."""
    wanted: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    while isinstance(index, Narrowed):
        if compares_strings(index.types):
            texts = compared_strings(index.types)
            if index.holds:
                wanted = texts if wanted is None else wanted & texts
            else:
                denied |= texts
        index = index.value
    if wanted is None and not denied:
        return None
    return union(
        union([dict(item)], confidence)
        for group, confidence in owners.items()
        for key, item in _keyed(group)
        if key is None or (key not in denied and (wanted is None or key in wanted))
    )


def is_keyed(value: Value) -> bool:
    """Whether a value is a container whose keys are known."""
    return isinstance(value, Container) and any(value.keys)


def _keyed(value: Value) -> Iterator[tuple[str | None, Slot]]:
    """The keys of a container with what it holds there; nothing of other values."""
    if isinstance(value, Container) and any(value.keys):
        yield from zip(value.keys, value.items, strict=False)


def _beside(
    pts: PointsTo, values: ValueSet, owners: ValueSet, texts: frozenset[str], holds: bool
) -> ValueSet:
    """The values that stand beside some of the keys in a loop over keys and values."""
    if not all(is_keyed(owner) for owner in owners):
        named = [pts.attributes(owners, text) for text in texts]
        asked = union(named)
        # A child of which nothing is known may be any, and an object may hold the same under another name.
        return (
            {v: confidence for v, confidence in values.items() if v in asked}
            if holds and all(named)
            else values
        )
    if holds:
        asked = union(dict(item) for owner in owners for key, item in _keyed(owner) if key in texts)
        return {value: confidence for value, confidence in values.items() if value in asked}
    others = {
        value for owner in owners for key, item in _keyed(owner) if key not in texts for value, _ in item
    }
    return {value: confidence for value, confidence in values.items() if value in others}


def _class_names(types: Expr) -> frozenset[str]:
    items = types.items if isinstance(types, Display) else ()
    return frozenset(str(item.value) for item in items if isinstance(item, Constant))


def _by_name(pts: PointsTo, values: ValueSet, names: frozenset[str], holds: bool) -> ValueSet:
    """`type(x).__name__ == "Block"`: of a module that nothing is known of, the modules of that name."""
    kept: ValueSet = {
        value: confidence
        for value, confidence in values.items()
        if not isinstance(value, Instance) or (value.ref.name in names) is holds
    }
    if not holds or any(isinstance(value, Instance) for value in kept):
        return kept
    named = (ref for ref in pts.project.classes() if ref.name in names and pts.project.is_module(ref))
    return pts.capped({Instance(ref): Confidence.LIKELY for ref in named})


def _may_be(pts: PointsTo, value: Value, types: ValueSet) -> bool:
    """Whether a value passes the test; of a value from outside the project nothing is known.

    A list, or a `ModuleList`, is no instance of a class of the project that is no container itself.
    """
    if isinstance(value, Container):
        ours = [one.ref for one in types if isinstance(one, Instance)]
        plain = len(ours) == len(types) and not any(map(pts.project.is_container, ours))
        return value.kind != "tuple" and not plain
    return is_instance_of(pts, value, types) if isinstance(value, Instance) else True


def _may_be_tuple(pts: PointsTo, value: Value, holds: bool) -> bool:
    """Whether a value may pass `isinstance(x, tuple)`, or fail it."""
    is_tuple = isinstance(value, Container) and value.kind == "tuple"
    return (is_tuple or not pts.holds_module(value)) if holds else not is_tuple


def by_text(pts: PointsTo, owners: ValueSet, index: Expr, context: Context) -> ValueSet:
    """The values that containers hold under an index that is known to be one of some texts.

    If it may be others too, any class or method of a table may be meant; another function says less.
    """
    names = pts.value(index, context)
    texts = [name.value for name in names if isinstance(name, Text)]
    if not texts or len(texts) < len(names):
        return EMPTY
    found = union(pts.item(owners, text) for text in texts)
    if not is_open(pts, index, context):
        return found
    rows = pts.item(owners, None)
    others: ValueSet = {
        v: confidence for v, confidence in rows.items() if isinstance(v, ClassValue) or _is_method(v)
    }
    return union([found, union([others], Confidence.LIKELY)])


def _is_method(value: Value) -> bool:
    return isinstance(value, FunctionValue) and value.receiver is not None


def is_open(pts: PointsTo, index: Expr, context: Context) -> bool:
    """Whether a name or an attribute may be other texts too: it also holds what only the run knows."""
    bound = [(one, at) for value, at in _bound(pts, index, context) for one in _options(value)]
    # A question, for it may depend on itself: `key = NEXT[key]`.
    return pts.ask(("open", context, index), lambda: not all(pts.value(v, at) for v, at in bound), False)


def _options(value: Expr) -> Iterator[Expr]:
    """The options of a value, constants apart: `"ifrnn" if fed else config.kind` is known only in part."""
    if not isinstance(value, Choice):
        yield value
        return
    yield from (one for part in value.options if not isinstance(part, Constant) for one in _options(part))


def _bound(pts: PointsTo, index: Expr, context: Context) -> Iterator[tuple[Expr, Context]]:
    match index:
        case Name(name):
            local = pts.project.locals_of(context.function).get(name)
            if local is not None and local.parameter is None:
                yield from ((value, context) for value in local.bound)
        case Attribute(owner, name) if pts.project.is_self(owner, context.function):
            holder = context.receiver or pts.project.owner(context.function)
            for part in pts.project.mro(holder) if holder is not None else ():
                for where, store in pts.project.own_stores(part).get(name, ()):
                    yield store.value, Context(where, holder)
        case Attribute(owner, name):
            for value in pts.value(owner, context):
                if isinstance(value, Instance):
                    yield from field_arguments(pts, value.ref, value.ref, name)
