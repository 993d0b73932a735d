"""Attributes of classes: enumerations, dataclass fields, and stores on a class object."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dynamo_lint import knowledge
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Constant, Definition, Expr
from dynamo_lint.program import hierarchy
from dynamo_lint.program.item_path import key_of, nested
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Symbol
from dynamo_lint.values import alternatives, containers
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    at_best,
    stored,
    union,
)
from dynamo_lint.values.points_to import PointsTo


def is_enumeration(project: Project, ref: ClassRef) -> bool:
    """Whether instances of a class are its members (enum)."""
    return any(base.startswith("enum.") for base in project.external_bases(ref))


def enumeration_values(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """The `value` of a member that only the run knows."""
    class_ = pts.project.class_(ref)
    outer = Context(FunctionRef(ref.path, class_.outer or MODULE_KEY))
    found = union(
        (pts.value(one.value, outer) for one in class_.bindings if not isinstance(one.value, Definition)),
        Confidence.LIKELY,
    )
    alternatives.note(pts.project, found)
    return found


def field_arguments(
    pts: PointsTo, part: ClassRef, ref: ClassRef, name: str
) -> Iterator[tuple[Expr, Context]]:
    """The values passed for a field that `part`, a base of the class or itself, declares, each with where."""
    if pts.project.method(ref, "__init__") is not None:
        return
    declared = [key for key, _ in pts.project.class_(part).annotations]
    position = declared.index(name) if name in declared else None
    made = (pts.constructions(one) for one in hierarchy.instantiated_as(pts.project, ref))
    for context, site in chain.from_iterable(made):
        given = next((value for key, value in site.call.keywords if key == name), None)
        if given is None and part == ref and position is not None and position < len(site.call.arguments):
            given = site.call.arguments[position]
        if given is not None:
            yield given, context


_FEW = 8
"""A table of more classes than this that are no modules, backends or families, mixes all that these hold."""


def set_on_class(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """The values that functions store under a name that the body of the class binds to None at first."""
    bound = pts.project.class_bindings(ref).get(name, ())
    if not any(binding.value == Constant(None) for binding in bound):
        return EMPTY
    return pts.ask(("set on class", ref, name), lambda: _stored_on(pts, ref, name), EMPTY)


def _stored_on(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    project = pts.project
    parts = []
    for where, store in project.stores_of(name):
        own = project.is_self(store.owner, where)
        if own and project.method_kind(where) not in ("classmethod", "staticmethod"):
            continue  # on an instance
        if ref in _holders(project, store.owner, where):
            parts.append(pts.value(store.value, Context(where, project.owner(where))))
    return union(parts, Confidence.LIKELY)


def put_into_table(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """The values that methods and other code put into a table that stands in the body of a class.

    Such tables hold the state of a program as well: of what is kept there, only what makes something counts.
    """
    return pts.ask(("put into table", ref, name), lambda: _put_there(pts, ref, name), EMPTY)


def _put_there(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    rows = [
        (key, {v: confidence for v, confidence in containers.put_by(pts, where, value).items() if _makes(v)})
        for where, key, value in _put(pts.project, ref, name)
    ]
    held = union(values for _, values in rows)
    others = [v for v in held if not isinstance(v, ClassValue) or not pts.project.is_module(v.ref)]
    if not held or len(others) > _FEW:
        return EMPTY
    alternatives.note(pts.project, held)  # which of them is taken, only the run knows
    return at_best(stored(rows), Confidence.LIKELY)


def _put(project: Project, ref: ClassRef, name: str) -> Iterator[tuple[FunctionRef, str | None, Expr]]:
    """The stores into the table: where each stands, under which literal key, and the value."""
    for where, item in project.items_stored(name):
        store = nested(item) or item
        match store.owner:
            case Attribute(holder, called) if called == name and ref in _holders(project, holder, where):
                yield where, key_of(store), store.value


def _holders(project: Project, expr: Expr, where: FunctionRef) -> tuple[Symbol, ...]:
    """The classes whose own attributes an expression leads to: one that it names, or those of `self`."""
    owner = project.owner(where) if project.is_self(expr, where) else None
    return project.symbols(expr, where.path, where.key) if owner is None else project.mro(owner)


def _makes(value: Value) -> bool:
    """Whether a value is what a registry holds: classes and functions, also below names of sorts."""
    if isinstance(value, Container):
        return any(item for item in value.items) and all(_makes(v) for item in value.items for v, _ in item)
    return isinstance(value, ClassValue | FunctionValue)


_MODULE_TYPES = knowledge.names("module")


def is_instance_of(pts: PointsTo, value: Value, types: ValueSet) -> bool:
    """Whether a value is an instance of one of the types, given as instances of them."""
    if value in types:
        return True
    if not isinstance(value, Instance):
        return False
    order = pts.project.mro(value.ref)
    bases = pts.project.external_bases(value.ref)
    for one in types:
        match one:
            case Instance(ref) if ref in order:
                return True
            case ExternalInstance(dotted) if dotted in bases or (
                dotted in _MODULE_TYPES and pts.project.is_module(value.ref)
            ):
                return True
    return False
