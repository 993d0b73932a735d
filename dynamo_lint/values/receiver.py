"""The binding of `self` and `cls`: which classes a method runs for, seen from its caller."""

from __future__ import annotations

from dynamo_lint.index.ir import Attribute, Call, Expr, Name, Parameter
from dynamo_lint.index.walking import walk
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.annotations import nested
from dynamo_lint.values.model import EMPTY, ClassValue, Context, Instance, ValueSet


def receiver(project: Project, parameter: Parameter, context: Context) -> ValueSet:
    """Return the value of the first parameter of a method: an instance of its class, or the class itself."""
    function = project.function(context.function)
    if function.owner is None or function.parameters[0] is not parameter:
        return EMPTY
    kind = project.method_kind(context.function)
    if kind == "staticmethod":
        return EMPTY
    ref = context.receiver or ClassRef(context.function.path, function.owner)
    return {ClassValue(ref) if kind == "classmethod" else Instance(ref): Confidence.CERTAIN}


def may_run_for(project: Project, context: Context, caller: Context, call: Call) -> bool:
    """Whether a call may run a method for what `self` is there: a sibling's `super().method()` does not.

    That of a mixin does, if some class has both.
    """
    owner, own = project.owner(caller.function), context.receiver
    if owner is None or own is None or not _passes_to_super(call):
        return True
    if owner in project.mro(own) or own in project.mro(owner):
        return True
    return any(owner in project.mro(subclass) for subclass in subclasses(project, own))


def seen_by(project: Project, context: Context, caller: Context, call: Call) -> Context:
    """Where a call stands, as the class sees it whose method it runs: `self` of a base is its own there.

    `self.prepare(net)` of a trainer whose subclass has its own `prepare` passes what that one makes as `net`.
    """
    own, above = context.receiver or project.owner(context.function), project.owner(caller.function)
    if own is None or above is None or above == own or above not in project.mro(own):
        return caller
    match call.function:
        case Attribute(value, _) if project.is_self(value, caller.function):
            return caller._replace(receiver=own)
    return caller


def depends_on_class(project: Project, parameter: Parameter, context: Context) -> bool:
    """Whether what a parameter holds depends on what `self` is, beyond the calls that pass it.

    A subclass may have its own of a class that annotates it, and passes others by `super().__init__(…)`.
    """
    if context.receiver is None:
        return False
    if _names_own(project, parameter, context):
        return True
    owner, name = project.owner(context.function), context.function.key.rpartition(".")[2]
    return owner is not None and owner != context.receiver and _is_passed_to_super(project, owner, name)


def _is_passed_to_super(project: Project, owner: ClassRef, name: str) -> bool:
    """Whether some class below one hands over to its method by `super()`."""
    key = ("handed up", owner, name)
    if key not in project.memo:
        own = (project.method(subclass, name) for subclass in subclasses(project, owner))
        project.memo[key] = any(
            _passes_to_super(site.call, name)
            for ref in own
            if ref is not None and project.owner(ref) != owner
            for site in project.function(ref).calls
        )
    return bool(project.memo[key])


def _passes_to_super(call: Call, name: str | None = None) -> bool:
    """Whether a call is `super().name(…)`."""
    match call.function:
        case Attribute(Call(Name("super")), method):
            return name is None or method == name
    return False


def each_subclass(project: Project, value: Expr, where: FunctionRef) -> ValueSet:
    """The classes that `__init_subclass__` puts into a table: it runs for each one below its own.

    Only where the class itself is the value. What else it does with one is not what it does with another.
    """
    function = project.function(where)
    owner = project.owner(where)
    if owner is None or not function.qualname.endswith(".__init_subclass__"):
        return EMPTY
    if not function.parameters or value != Name(function.parameters[0].name):
        return EMPTY
    return {ClassValue(subclass): Confidence.LIKELY for subclass in subclasses(project, owner)}


def _names_own(project: Project, parameter: Parameter, context: Context) -> bool:
    """Whether a parameter is annotated with a class inside that of `self`: a subclass may have its own."""
    return parameter.annotation is not None and any(
        nested(project, part, context.receiver) for part in walk(parameter.annotation)
    )
