"""What `self` and `cls` are, and which annotations mean something else for each class that inherits them."""

from __future__ import annotations

from dynamo_lint.index.facts import Expr, Name, Parameter
from dynamo_lint.index.walking import walk
from dynamo_lint.regions.abstract import heirs
from dynamo_lint.regions.annotations import nested
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import EMPTY, ClassValue, Instance, Scope, Values


def receiver(project: Project, parameter: Parameter, scope: Scope) -> Values:
    """What the first parameter of a method is: an instance of its class, or the class itself."""
    function = project.function(scope.function)
    if function.owner is None or function.parameters[0] is not parameter:
        return EMPTY
    kind = project.method_kind(scope.function)
    if kind == "staticmethod":
        return EMPTY
    ref = scope.receiver or ClassRef(scope.function.path, function.owner)
    return {ClassValue(ref) if kind == "classmethod" else Instance(ref): Tier.CERTAIN}


def each_heir(project: Project, value: Expr, where: FunctionRef) -> Values:
    """The classes that `__init_subclass__` puts into a table: it runs for each one below its own.

    Only where the class itself is the value. What else it does with one is not what it does with another.
    """
    function = project.function(where)
    owner = project.owner(where)
    if owner is None or not function.qualname.endswith(".__init_subclass__"):
        return EMPTY
    if not function.parameters or value != Name(function.parameters[0].name):
        return EMPTY
    return {ClassValue(heir): Tier.LIKELY for heir in heirs(project, owner)}


def names_own(project: Project, parameter: Parameter, scope: Scope) -> bool:
    """Whether a parameter is annotated with a class inside that of `self`: an heir may have its own."""
    return parameter.annotation is not None and any(
        nested(project, part, scope.receiver) for part in walk(parameter.annotation)
    )
