"""Callbacks: functions passed to a callee that calls its parameter."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.calls.contexts import depends_on
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, CallSite, Expr
from dynamo_lint.index.walking import parts
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.values.arguments import argument_for, is_bound, is_settled
from dynamo_lint.values.model import Arguments, Context, FunctionValue, Value, ValueSet, freeze, union
from dynamo_lint.values.points_to import PointsTo


def callback_arguments(pts: PointsTo, callee: FunctionRef, call: Call, context: Context) -> Arguments:
    """The values that one call passes for those parameters of a method that the method calls, or passes on
    by name."""
    nothing: frozenset[str] = frozenset()
    names = pts.ask(("called parameters", callee), lambda: _called(pts, callee), nothing)
    if not names:
        return ()
    function = pts.project.function(callee)
    found = []
    for parameter in function.parameters:
        argument = argument_for(parameter, function, call) if parameter.name in names else None
        if argument is None or isinstance(argument, ir.Constant | ir.UnknownExpression):
            continue
        values: ValueSet = {v: t for v, t in pts.value(argument, context).items() if _runs(pts, v)}
        if values := pts.capped(values):
            found.append((parameter.name, freeze(union([values], Confidence.LIKELY))))
    return tuple(found)


def using(project: Project, where: FunctionRef, given: Arguments) -> list[CallSite]:
    """The calls in a function that run what it was handed, or hand it on."""
    names = [name for name, _ in given]
    return [
        site
        for site in project.function(where).calls
        if not site.eager and depends_on(project, parts(site.call), where, names)
    ]


def _called(pts: PointsTo, callee: FunctionRef) -> frozenset[str]:
    function = pts.project.function(callee)
    calls = [site.call for site in function.calls if not site.eager]
    handed_on = set(_forwarded_names(pts, calls))
    open_ones = (
        p for p in function.parameters[is_bound(function) :] if not is_settled(pts.project, p, callee)
    )
    return frozenset(
        parameter.name
        for parameter in open_ones
        if parameter.name in handed_on
        or any(depends_on(pts.project, (_root(call.function),), callee, (parameter.name,)) for call in calls)
    )


def _root(callee: Expr) -> Expr:
    """The name that is called, or whose method is: nothing of an expression that computes a tensor first."""
    match callee:
        case ir.Attribute(ir.Name() as owner):
            return owner
        case ir.Name() | ir.Subscript() | ir.Narrowed() | ir.Element():
            return callee
    return ir.UNKNOWN


def _forwarded_names(pts: PointsTo, calls: list[Call]) -> Iterator[str]:
    """The names that calls hand on to be called: as they were, or by a name that some forward calls."""
    called = {name for _, _, name in pts.project.named("calling given").get("forward", ())}
    for call in calls:
        for name, value in call.keywords:
            if name is not None and isinstance(value, ir.Name) and (name == value.id or name in called):
                yield value.id
        for value in call.arguments:
            if isinstance(value, ir.Name) and value.id in called:
                yield value.id


def _runs(pts: PointsTo, value: Value) -> bool:
    return isinstance(value, FunctionValue) or pts.holds_module(value)
