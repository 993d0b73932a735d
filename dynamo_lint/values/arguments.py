"""The binding of arguments to parameters, and what an annotation settles about a parameter by itself."""

from __future__ import annotations

from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Expr, Function, Parameter
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.hierarchy import is_protocol
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.values.annotations import is_plain, typed
from dynamo_lint.values.model import ClassValue, Container, Context, Instance, Value

ENOUGH = 24
"""So many calls with different values make a generic slot: more of them would say nothing new."""


def is_bound(function: Function) -> bool:
    """Whether the first parameter of a function is its instance or class."""
    static = any(terminal_name(decorator) == "staticmethod" for decorator in function.decorators)
    return function.owner is not None and not static


def is_settled(project: Project, parameter: Parameter, function: FunctionRef) -> bool:
    """Whether the annotation of a parameter says by itself what the parameter holds."""
    outer = Context(FunctionRef(function.path, project.function(function).outer or MODULE_KEY))
    if parameter.annotation is None:
        return False
    if is_plain(project, parameter.annotation, outer):
        return True
    return any(names_ours(project, v) for v in typed(project, parameter.annotation, outer))


def argument_for(parameter: Parameter, function: Function, call: ir.Call) -> Expr | None:
    """The expression a call passes for a parameter, by keyword or by position; None if it passes none."""
    for keyword, value in call.keywords:
        if keyword == parameter.name:
            return value
    if parameter.kind != "positional":
        return None
    position = function.parameters.index(parameter) - is_bound(function)
    if not 0 <= position < len(call.arguments):
        return None
    if any(isinstance(argument, ir.Element) for argument in call.arguments[: position + 1]):
        return None
    return call.arguments[position]


def is_partial_call(project: Project, caller: Context, site: CallSite) -> bool:
    """Whether a call stands for a `partial`, which is called in unknown places, and any number of times."""
    return any(
        one.call.line == site.call.line
        and one.call.arguments[:1]
        and one.call.arguments[0] is site.call.function
        for one in project.function(caller.function).calls
    )


def as_given(function: Function, expr: Expr) -> Parameter | None:
    """The parameter that an expression is, if the function never binds the name to anything else."""
    parameter = next((p for p in function.parameters if ir.Name(p.name) == expr), None)
    if parameter is None or any(binding.name == parameter.name for binding in function.bindings):
        return None
    return parameter


def is_first(parameter: Parameter, function: Function) -> bool:
    """Whether a parameter is the first that a call gives: that of a method comes after `self`."""
    position = int(is_bound(function))
    return len(function.parameters) > position and function.parameters[position] is parameter


def names_ours(project: Project, value: Value) -> bool:
    """Whether an annotation names a class of the project; a protocol only says what any class may have."""
    if isinstance(value, Container):
        return any(names_ours(project, inner) for item in value.items for inner, _ in item)
    return isinstance(value, Instance | ClassValue) and not is_protocol(project, value.ref)
