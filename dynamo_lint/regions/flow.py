"""What flows into a parameter: annotations, defaults, and what calls and decorations pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import MODULE_KEY, CallSite, Expr, Function, Parameter
from dynamo_lint.regions.annotations import is_plain, typed
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    FunctionValue,
    Group,
    Instance,
    Scope,
    Value,
    Values,
    union,
)

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_ENOUGH = 24
"""So many different values make a generic slot: more of them would say nothing new."""
_MAX_CALL_SITES = 200
"""Per name; a parameter that is passed more often than this is known well enough by then."""

Called = tuple[tuple[Scope, CallSite], ...]


def of_parameter(ev: Evaluation, parameter: Parameter, scope: Scope, direct: bool) -> Values:
    """What a parameter may hold; `direct` if its own function asks, not one nested in it."""
    function = ev.project.function(scope.function)
    is_method = function.owner is not None
    kind = ev.project.method_kind(scope.function) if is_method else "staticmethod"
    if is_method and function.parameters[0] is parameter and kind != "staticmethod":
        ref = scope.receiver or ClassRef(scope.function.path, function.owner or "")
        return {ClassValue(ref) if kind == "classmethod" else Instance(ref): Tier.CERTAIN}
    outer = Scope(FunctionRef(scope.function.path, function.outer or MODULE_KEY))
    if parameter.annotation is not None and is_plain(ev.project, parameter.annotation, outer):
        return EMPTY  # a tensor or a number: nothing that could lead on
    declared = typed(ev.project, parameter.annotation, outer) if parameter.annotation is not None else EMPTY
    known = any(_names_ours(v) for v in declared)
    if known and not function.qualname.endswith("__init__"):
        return declared
    # What is injected into a constructor need not be what its annotation says.
    default = ev.value(parameter.default, outer) if parameter.default is not None else EMPTY
    passed = union([_passed(ev, parameter, function, scope)], Tier.LIKELY)
    decorated = _decorated(ev, function, scope) if direct and _is_first(parameter, function) else EMPTY
    found = ev.capped(union([default, passed, decorated]))
    if known:
        found = {v: t for v, t in found.items() if ev.holds_module(v)}
    return union([declared, found])


def _names_ours(value: Value) -> bool:
    """Whether an annotation names a class of the project."""
    if isinstance(value, Group):
        return any(_names_ours(inner) for item in value.items for inner, _ in item)
    return isinstance(value, Instance | ClassValue)


def _passed(ev: Evaluation, parameter: Parameter, function: Function, scope: Scope) -> Values:
    """What the call sites of the function pass for one parameter."""
    found: Values = EMPTY
    name = function.qualname.rpartition(".")[2]
    for caller, site in call_sites(ev, scope.function):
        given = argument_for(parameter, function, site.call)
        if given is None:
            continue
        values = ev.value(given, caller)
        if values and terminal_name(site.call.function) != name:
            values = _paired(ev, values, scope.function)
        found = union([found, values])
        if len(found) > _ENOUGH:
            break
    return found


def argument_for(parameter: Parameter, function: Function, call: facts.Call) -> Expr | None:
    """The expression a call passes for a parameter, by keyword or by position; None if it passes none."""
    for keyword, value in call.keywords:
        if keyword == parameter.name:
            return value
    if parameter.kind != "positional":
        return None
    static = any(terminal_name(decorator) == "staticmethod" for decorator in function.decorators)
    bound = function.owner is not None and not static
    position = function.parameters.index(parameter) - (1 if bound else 0)
    if not 0 <= position < len(call.arguments):
        return None
    if any(isinstance(argument, facts.Element) for argument in call.arguments[: position + 1]):
        return None
    return call.arguments[position]


# --- who calls a function -------------------------------------------------------------------------------


def call_sites(ev: Evaluation, ref: FunctionRef) -> Called:
    """The calls in the project that run a function, directly or by constructing its class."""
    nothing: Called = ()
    return ev.ask(("sites", ref), lambda: _call_sites(ev, ref), nothing)


def constructions(ev: Evaluation, ref: ClassRef) -> Called:
    """The calls in the project that construct a class by its name or an alias of it."""

    def compute() -> Called:
        return tuple(_calls_to(ev, ref.name, {ref}))

    nothing: Called = ()
    return ev.ask(("constructions", ref), compute, nothing)


def _call_sites(ev: Evaluation, ref: FunctionRef) -> Called:
    project = ev.project
    function = project.function(ref)
    name = function.qualname.rpartition(".")[2]
    constructed = project.classes_with_init(ref) if name == "__init__" else []
    wanted: set[ClassRef | FunctionRef] = {ref, *constructed}
    found: dict[tuple[Scope, CallSite], None] = {}
    for called in sorted({name, *(heir.name for heir in constructed)}):
        found |= dict.fromkeys(_calls_to(ev, called, wanted))
    return tuple(found)


def _calls_to(ev: Evaluation, name: str, wanted: set[ClassRef | FunctionRef]) -> list[tuple[Scope, CallSite]]:
    project = ev.project
    found = []
    for called in sorted({name, *project.aliases_of(name)}):
        for where, site in project.calls_of(called)[:_MAX_CALL_SITES]:
            owner = project.owner(where)
            if called == "__init__" and (owner is None or wanted.isdisjoint(_inits(ev, owner))):
                continue  # super().__init__() of an unrelated class
            caller = Scope(where, owner)
            callees = ev.value(site.call.function, caller)
            if any(getattr(value, "ref", None) in wanted for value in callees):
                found.append((caller, site))
    return found


def _inits(ev: Evaluation, ref: ClassRef) -> frozenset[FunctionRef]:
    """The constructors that a class and its bases bring along."""

    def compute() -> frozenset[FunctionRef]:
        found = (ev.project.method(part, "__init__") for part in ev.project.mro(ref))
        return frozenset(init for init in found if init is not None)

    nothing: frozenset[FunctionRef] = frozenset()
    return ev.ask(("inits", ref), compute, nothing)


# --- decorations ----------------------------------------------------------------------------------------


def _is_first(parameter: Parameter, function: Function) -> bool:
    return bool(function.parameters) and function.parameters[0] is parameter


def _decorated(ev: Evaluation, function: Function, scope: Scope) -> Values:
    """The functions and classes that the function decorates: it is called with each of them."""
    names = {function.qualname.rpartition(".")[2]}
    if function.outer not in (None, MODULE_KEY):  # `@factory(…)` calls the function that it returns
        outer = ev.project.files[scope.function.path].functions[function.outer or MODULE_KEY]
        names.add(outer.qualname.rpartition(".")[2])
    found: dict[Value, Tier] = {}
    for name in sorted(names):
        for ref, decorator in ev.project.decorated_with(name)[:_MAX_CALL_SITES]:
            project = ev.project
            definition = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
            where = Scope(FunctionRef(ref.path, definition.outer or MODULE_KEY))
            if any(getattr(v, "ref", None) == scope.function for v in ev.value(decorator, where)):
                found[FunctionValue(ref) if isinstance(ref, FunctionRef) else ClassValue(ref)] = Tier.CERTAIN
    return found


# --- registry rows --------------------------------------------------------------------------------------


def _paired(ev: Evaluation, values: Values, function: FunctionRef) -> Values:
    """The values less instances of classes that no registry pairs with the function.

    `Spec(model=Llama, parallelize=parallelize_llama)` says which model `spec.parallelize(model)` gets.
    """
    nothing: frozenset[ClassRef] = frozenset()
    mine = ev.ask(("rows", function), lambda: _row(ev, function), nothing)
    if not mine:
        return values
    return {
        v: tier
        for v, tier in values.items()
        if not isinstance(v, Instance) or not mine.isdisjoint(ev.project.mro(v.ref))
        if not isinstance(v, Group) or not ev.holds_module(v)
    }


def _row(ev: Evaluation, function: FunctionRef) -> frozenset[ClassRef]:
    """The classes that stand in one registry row with a function."""
    name = function.key.rpartition(".")[2]
    found: set[ClassRef] = set()
    for where, site in ev.project.passed_on(name):
        scope = Scope(where, ev.project.owner(where))
        if any(
            isinstance(v, FunctionValue) and v.ref == function
            for _, value in site.call.keywords
            for v in ev.value(value, scope)
        ):
            found |= _classes_in(ev, site.call, scope)
    return frozenset(found)


def _classes_in(ev: Evaluation, call: facts.Call, scope: Scope) -> set[ClassRef]:
    found: set[ClassRef] = set()
    for value in (*call.arguments, *(value for _, value in call.keywords)):
        if isinstance(value, facts.Name | facts.Attribute):
            found |= {
                v.ref
                for v in ev.value(value, scope)
                if isinstance(v, ClassValue) and ev.project.is_module(v.ref)
            }
    return found
