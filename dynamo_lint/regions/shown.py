"""Attributes that a constructor sets on or off: which instances pass a test of one, and what then runs."""

from __future__ import annotations

from dynamo_lint.index.facts import (
    Binding,
    Constant,
    Definition,
    Display,
    Element,
    Expr,
    Function,
    Name,
    Narrowed,
    Store,
)
from dynamo_lint.index.flags import tests_flag
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.having import is_known, is_set_by_methods, may_have
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import Group, Instance, Scope, Value, Values, freeze
from dynamo_lint.values.points_to import Evaluation

MODE = "training"
"""What `train()` and `eval()` set."""

Shown = tuple[tuple[str, bool], ...]
"""Attributes of a module that are on, or off, wherever a site compiles it."""


def by_flag(ev: Evaluation, values: Values, types: Expr, holds: bool) -> Values:
    """The values whose attribute is on, or off: likely where several may pass and nothing tells."""
    verdicts = {value: _truth(ev, value, types) for value in values}
    left = {value for value in values if verdicts[value] in (None, holds)}
    several = sum(isinstance(value, Instance) for value in values) > 1
    return {
        _inside(ev, value, types, holds): max(tier, Tier.LIKELY)
        if several and verdicts[value] is None
        else tier
        for value, tier in values.items()
        if value in left
    }


def _inside(ev: Evaluation, value: Value, types: Expr, holds: bool) -> Value:
    """A container of those that pass of what it holds: it has no such attribute itself."""
    if not isinstance(value, Group):
        return value
    return value._replace(items=tuple(freeze(by_flag(ev, dict(one), types, holds)) for one in value.items))


def shown_of(compiled: Expr) -> Shown:
    """What the tests around a site show of the attributes of what it compiles."""
    found: list[tuple[str, bool]] = []
    while isinstance(compiled, Narrowed):
        if tests_flag(compiled.types):
            found.append((_name(compiled.types), compiled.holds))
        compiled = compiled.value
    return tuple(found)


def contradicts(project: Project, shown: Shown, ref: ClassRef, function: Function, line: int) -> bool:
    """Whether a line of a method does not run on instances of a class of which that much is known."""
    return any(
        name == flag and on is not holds and first <= line <= last and stays(project, ref, name)
        for first, last, flag, holds in function.flags
        for name, on in shown
    )


def _truth(ev: Evaluation, value: Value, types: Expr) -> bool | None:
    """Whether an attribute of an instance is on, as far as its class tells."""
    if not isinstance(value, Instance):
        return None
    project, name = ev.project, _name(types)
    order = project.mro(value.ref)
    if any(key == name for part in order for key, _ in project.class_(part).annotations):
        return None
    if not may_have(project, value, name):
        default = types.items[1:] if isinstance(types, Display) else ()
        sure = default and is_known(project, value.ref) and not project.stores_of(name)
        return bool(default[0].value) if sure and isinstance(default[0], Constant) else None
    if not stays(project, value.ref, name):
        return None
    body = next((found for part in order if (found := project.class_bindings(part).get(name))), [])
    held = [binding.value for binding in body]
    _, stores = bound_and_stored(project, value.ref, name)
    truths = {_is_on(one) for one in held}
    for where, store in stores:
        on = _is_on(store.value)
        truths.add(_is_given(ev, Scope(where, value.ref), store.value) if on is None else on)
    return truths.pop() if len(truths) == 1 else None


def _is_given(ev: Evaluation, scope: Scope, value: Expr) -> bool | None:
    """True for what a constructor cannot be called without, where all that it is given are objects."""
    local = ev.project.locals_of(scope.function).get(value.id) if isinstance(value, Name) else None
    if local is None or local.parameter is None or local.parameter.default is not None or local.bound:
        return None
    found = ev.value(value, scope)
    return True if found and all(isinstance(one, Instance) for one in found) else None


def _is_on(value: Expr) -> bool | None:
    """Whether a literal is true: a constant, or a list of something."""
    match value:
        case Constant(literal):
            return bool(literal)
        case Display("list" | "tuple" | "set" | "dict", items) if not any(
            isinstance(i, Element) for i in items
        ):
            return bool(items)
    return None


def bound_and_stored(
    project: Project, ref: ClassRef, name: str
) -> tuple[list[Binding], list[tuple[FunctionRef, Store]]]:
    """What the bodies of a class and its bases bind to an attribute, and what their methods store in it."""
    order = project.mro(ref)
    bound = [one for part in order for one in project.class_bindings(part).get(name, ())]
    return bound, [one for part in order for one in project.own_stores(part).get(name, ())]


def stays(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether class bodies and constructors set an attribute, and nothing else does or computes it."""
    bound, _ = bound_and_stored(project, ref, name)
    if name == MODE or any(isinstance(one.value, Definition) for one in bound):
        return False
    own = is_set_by_methods(project, ref, name)
    return bool(own or bound) and all(at.key.endswith(".__init__") for at, _ in project.stores_of(name))


def _name(types: Expr) -> str:
    first = types.items[0] if isinstance(types, Display) else None
    return first.value if isinstance(first, Constant) and isinstance(first.value, str) else ""
