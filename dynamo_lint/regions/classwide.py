"""What is put on a class itself, `cls._only = cls()`, or into a table in its body, `cls.known[n] = Net`."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.facts import Attribute, Constant, Expr
from dynamo_lint.program.refs import ClassRef, FunctionRef, Symbol, Tier
from dynamo_lint.regions import choices, displays
from dynamo_lint.regions.itempath import key_of, nested
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    FunctionValue,
    Group,
    Scope,
    Value,
    Values,
    at_best,
    stored,
    union,
)
from dynamo_lint.values.points_to import Evaluation

_FEW = 8
"""A table of more classes than this that are no modules, backends or families, mixes all that these hold."""


def set_on_class(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What functions store under a name that the body of the class binds to None, to be filled later."""
    project = ev.project
    bound = project.class_bindings(ref).get(name, ())
    if not any(binding.value == Constant(None) for binding in bound):
        return EMPTY
    parts = []
    for where, store in project.stores_of(name):
        own = project.is_self(store.owner, where)
        if own and project.method_kind(where) not in ("classmethod", "staticmethod"):
            continue  # on an instance
        if ref in _holders(project, store.owner, where):
            parts.append(ev.value(store.value, Scope(where, project.owner(where))))
    return union(parts, Tier.LIKELY)


def put_into_table(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What methods and other code put into a table that stands in the body of a class.

    Such tables hold the state of a program as well: of what is kept there, only what makes something counts.
    """
    return ev.ask(("put into table", ref, name), lambda: _put_there(ev, ref, name), EMPTY)


def _put_there(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    rows = [
        (key, {v: tier for v, tier in displays.put_by(ev, where, value).items() if _makes(v)})
        for where, key, value in _put(ev.project, ref, name)
    ]
    held = union(values for _, values in rows)
    others = [v for v in held if not isinstance(v, ClassValue) or not ev.project.is_module(v.ref)]
    if not held or len(others) > _FEW:
        return EMPTY
    choices.note(ev.project, held)  # which of them is taken, only the run knows
    return at_best(stored(rows), Tier.LIKELY)


def _put(project: Project, ref: ClassRef, name: str) -> Iterator[tuple[FunctionRef, str | None, Expr]]:
    """What is put into the table: where that stands, under which literal key, and the value."""
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
    if isinstance(value, Group):
        return any(item for item in value.items) and all(_makes(v) for item in value.items for v, _ in item)
    return isinstance(value, ClassValue | FunctionValue)
