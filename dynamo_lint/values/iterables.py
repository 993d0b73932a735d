"""Iteration: the results of `zip`, `map` and `chain`, and of `__iter__` and `__getitem__` of classes."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Attribute, Call, Expr, Name
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import ClassRef, Confidence
from dynamo_lint.values import records
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    ClassValue,
    Container,
    Context,
    FunctionValue,
    Instance,
    Slot,
    Value,
    ValueSet,
    each,
    elements,
    freeze,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.solver import FARTHER

NAMES = frozenset(
    {*(f"builtins.{name}" for name in ("enumerate", "zip", "next", "map", "filter", "sum"))}
    | {*(f"itertools.{name}" for name in ("chain", "chain.from_iterable", "islice", "zip_longest"))}
)
PASSING = frozenset(name.rpartition(".")[2] for name in NAMES) - {"map", "sum"}
"""Last names of those that give nothing but what they are given."""


def of_call(pts: PointsTo, name: str, call: Call, context: Context) -> ValueSet:
    """Return the values of a call of one of them; the name is without the package."""

    def inside(source: Expr) -> ValueSet:
        return pts.elements(pts.value(source, context))

    match name, call.arguments:
        case "enumerate", (source, *_):
            return each({Container("tuple", (Slot(), freeze(inside(source)))): Confidence.CERTAIN})
        case "zip", (ir.Element(rows),):  # `zip(*rows)`
            return each(_columns(pts.value(rows, context)))
        case "zip" | "zip_longest", sources:
            return each(
                {Container("tuple", tuple(freeze(inside(one)) for one in sources)): Confidence.CERTAIN}
            )
        case "next", (source, *_):
            return inside(source)
        case "islice", (source, *_):
            return each(inside(source))
        case "chain", sources:  # `*rows` gives the rows
            return each(union(inside(one) for one in sources))
        case ("chain.from_iterable", (rows,)) | ("sum", (rows, ir.Display())):
            return each(pts.elements(inside(rows)))
        case "filter", (_, source):
            return each(inside(source))
        case "map", (function, *_):
            return each(pts.value(Call(function, line=call.line), context))
    return {}


def _columns(rows: ValueSet) -> ValueSet:
    """The values at one place of every row, as of the lists that a model keeps about its layers."""
    return {
        row._replace(items=tuple(freeze(elements(dict(item))) for item in row.items)): confidence
        for row, confidence in rows.items()
        if isinstance(row, Container)
    }


def of_object(pts: PointsTo, ref: ClassRef) -> ValueSet | None:
    """The values that the `__iter__` of a class gives one by one; None if it has none."""
    given = _kept(pts, ref, "__iter__")
    if given is None:
        return None
    opened: set[ClassRef] = pts.project.memo.setdefault("iterated over", set())  # type: ignore[assignment]
    if ref in opened:  # two classes that give each other to iterate over
        return EMPTY
    opened.add(ref)
    itself = Instance(ref) in given  # `return self`
    others = {v: confidence for v, confidence in given.items() if v != Instance(ref)}
    found = union([pts.elements(others), (_kept(pts, ref, "__next__") or EMPTY) if itself else EMPTY])
    opened.remove(ref)
    return found


def item_of(pts: PointsTo, ref: ClassRef, index: object) -> ValueSet | None:
    """The values of an item: a field of a record, or what its `__getitem__` gives; None if neither."""
    if (field := records.field_of(pts.project, ref, index)) is not None:
        return pts.attributes({Instance(ref): Confidence.CERTAIN}, field)
    return None if isinstance(index, str) else _kept(pts, ref, "__getitem__")


def _kept(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet | None:
    """The values that a special method gives of what the object holds, and None if there is no such method.

    A data set makes what it gives, one by one, and a configuration gives any attribute: neither holds it.
    """
    method = pts.project.method(ref, name)
    if method is None:
        return None
    itself = Name(pts.project.self_name(method) or "")
    for part in (part for value in pts.project.function(method).returns for part in walk(value)):
        match part:
            case Call(Name("getattr")):
                return EMPTY
            case Call(Attribute(owner)) if owner == itself:
                return EMPTY
    given = pts.ask_within(("kept", method, ref), lambda: pts.returns(method, ref), EMPTY, FARTHER)
    return {value: confidence for value, confidence in given.items() if _is_ours(value)}


def _is_ours(value: Value) -> bool:
    """Whether a value leads to code of the project: a row of tensors does not."""
    if isinstance(value, Container):
        return any(_is_ours(inner) for item in value.items for inner, _ in item)
    return isinstance(value, Instance | ClassValue | FunctionValue | AnonymousModule)
