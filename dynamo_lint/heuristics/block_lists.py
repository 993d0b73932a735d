"""A guess: block lists of a library's model, by their attribute names."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Attribute, Expr
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.program.static_bindings import maker_of
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import EMPTY, Container, Context, Instance, ValueSet, at_best, union
from dynamo_lint.values.points_to import PointsTo

_MOST = 8
"""A family with more classes is that of a library."""
_DEEPEST = 4


def identified(pts: PointsTo, attribute: Attribute, context: Context) -> ValueSet:
    """The lists of modules that `unknown.name` is, if all classes with one of that name are of one family.

    Only for what callers hand in: what a library makes has parts of its own.
    """
    if not _is_parameter(pts, attribute.value, context):
        return EMPTY
    nothing: ValueSet = EMPTY
    return pts.far().ask(("identified", attribute.name), lambda: _lists(pts.far(), attribute.name), nothing)


def _lists(pts: PointsTo, name: str) -> ValueSet:
    """The values that the one family of modules with a list under a name holds there."""
    owners = {
        owner
        for where, store in pts.project.stores_of(name)
        if pts.project.is_self(store.owner, where)
        if (owner := pts.project.owner(where)) is not None and pts.project.is_module(owner)
    }
    held = {owner: pts.attributes({Instance(owner): Confidence.CERTAIN}, name) for owner in sorted(owners)}
    lists: dict[ClassRef, ValueSet] = {
        owner: {v: t for v, t in values.items() if isinstance(v, Container) and pts.holds_module(v)}
        for owner, values in held.items()
    }
    families = [owner for owner, groups in lists.items() if groups]
    if not families or not _is_one_family(pts, families):
        return EMPTY
    return at_best(union(lists[owner] for owner in families), Confidence.LIKELY)


def _is_one_family(pts: PointsTo, owners: list[ClassRef]) -> bool:
    """Whether the classes derive from one of them, and are few."""
    first = [one for one in owners if all(one in pts.project.mro(other) for other in owners)]
    return bool(first) and len(subclasses(pts.project, first[0])) < _MOST


def _is_parameter(pts: PointsTo, owner: Expr, context: Context, depth: int = 0) -> bool:
    """Whether an expression is a parameter, or part of one, and no caller passes what a library made."""
    while isinstance(owner, Attribute):
        owner = owner.value
    if not isinstance(owner, ir.Name) or depth > _DEEPEST:
        return False
    local = pts.project.locals_of(context.function).get(owner.id)
    if local is None:
        return False
    if local.parameter is None:
        return all(
            isinstance(value, Attribute) and _is_parameter(pts, value, context, depth + 1)
            for value in local.bound
        )
    function = pts.project.function(context.function)
    if local.bound or owner.id == pts.project.self_name(context.function):
        return False
    return not any(
        given is not None and _is_of_library(pts, given, caller.function)
        for caller, site in pts.far().call_sites(context.function)
        for given in (argument_for(local.parameter, function, site.call),)
    )


def _is_of_library(pts: PointsTo, given: Expr, where: FunctionRef) -> bool:
    return maker_of(pts.project, where, given) is not None
