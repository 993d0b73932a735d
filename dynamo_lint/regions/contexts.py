"""One level of call context: what this very call passes for the parameters that a function gives back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Call, Expr, Function
from dynamo_lint.index.walking import parts, walk
from dynamo_lint.program.refs import ClassRef, External, FunctionRef, Tier
from dynamo_lint.regions import settings
from dynamo_lint.regions.abstract import heirs_that_run
from dynamo_lint.regions.leftoff import leaves_out
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.receivers import seen_by
from dynamo_lint.regions.registries import METHODS
from dynamo_lint.regions.values import (
    EMPTY,
    FunctionValue,
    Given,
    Instance,
    Key,
    Scope,
    Value,
    Values,
    freeze,
    union,
)
from dynamo_lint.values.arguments import argument_for, is_settled
from dynamo_lint.values.points_to import Evaluation


def given(ev: Evaluation, ref: FunctionRef, call: Call, scope: Scope) -> Given:
    """The values of the arguments that what the function returns depends on.

    Nothing inside a call that is already looked at in context: one level tells factories apart, more would
    never end.
    """
    if scope.given:
        return ()
    function = ev.project.function(ref)
    nothing: frozenset[str] = frozenset()
    names = ev.ask(("returned names", ref), lambda: _returned_names(ev.project, ref), nothing)
    if not names:
        return ()
    found = []
    for parameter in function.parameters[1 if _bound(ev, function, ref) else 0 :]:
        if parameter.name not in names:
            continue
        argument = argument_for(parameter, function, call)
        if argument is not None and not isinstance(argument, facts.Unknown):
            values = ev.before(argument, scope, call) or _of_configuration(argument)
            found.append((parameter.name, freeze(union([values], Tier.LIKELY))))
    return tuple(found)


def without_others(ev: Evaluation, found: Values, ref: FunctionRef, call: Call, scope: Scope) -> Values:
    """What a wrapper gives back to one call: none of the functions that only other calls hand it.

    What it keeps of one function, in an object or in a table, is not what it keeps of another.
    """
    strange: set[Value] = {
        value for value in found if isinstance(value, FunctionValue) and not value.ref.stands_in(ref)
    }
    if not strange:
        return found
    function = ev.project.function(ref)
    for parameter in function.parameters[1 if _bound(ev, function, ref) else 0 :]:
        argument = argument_for(parameter, function, call)
        if argument is None or isinstance(argument, facts.Constant):
            continue
        strange -= ev.before(argument, scope, call).keys()
        if strange and not ev.project.locals_of(ref)[parameter.name].bound:
            others = strange & ev.value(facts.Name(parameter.name), Scope(ref)).keys()
            found = {value: tier for value, tier in found.items() if value not in others}
    return found


def _of_configuration(argument: Expr) -> Values:
    """What is passed on unknown under a key of something: `build(cfg.model)`."""
    name = settings.key_of(argument)
    return {Key(name): Tier.LIKELY} if name is not None else EMPTY


def bound(ev: Evaluation, callee: Value, call: Call, scope: Scope) -> tuple[Value, ...]:
    """What a call runs: `Base.method(self, …)` runs the method on the instances that may be passed first."""
    match callee:
        case FunctionValue(ref, None) if call.arguments:
            owner = ev.project.function(ref).owner
            if owner is None or ev.project.method_kind(ref) != "method":
                return (callee,)
            base = ClassRef(ref.path, owner)
            first = ev.value(call.arguments[0], scope)
            found = (v.ref for v in first if isinstance(v, Instance) and base in ev.project.mro(v.ref))
            return tuple(FunctionValue(ref, receiver) for receiver in found) or (callee,)
    return (callee,)


def by_call(
    ev: Evaluation, where: FunctionRef, receiver: ClassRef | None, asked: Sequence[Expr], line: int
) -> Iterator[Scope]:
    """The scope of a function as each single call makes it, as far as its annotations leave that open.

    Only what the expressions asked for come from is told, and only of calls that run the line: not those that
    leave off what turns it on.
    """
    function = ev.project.function(where)
    opened = [
        p
        for p in function.parameters
        if depends_on(asked, function, {p.name}) and not is_settled(ev.project, p, where)
    ]
    for caller, site in ev.call_sites(where):
        if leaves_out(ev.project, where, site.call, line):
            continue
        for seen in _seen_by_all(ev.project, Scope(where, receiver), caller, site.call):
            passed = ((p.name, ev.capped(ev.passed_by(p, where, seen, site))) for p in opened)
            given = tuple((name, freeze(union([values], Tier.LIKELY))) for name, values in passed if values)
            if given:
                yield Scope(where, receiver, given)


def _seen_by_all(project: Project, scope: Scope, caller: Scope, call: Call) -> Iterator[Scope]:
    """Where a call stands, for each class that runs the method around it if `self` is in what it passes.

    But `self.prepare(net)` is for the class that has this `prepare`.
    """
    yield seen_by(project, scope, caller, call)
    own = project.self_name(caller.function)
    match call.function:
        case facts.Attribute(facts.Name(name)) if name == own:
            return
    if own and depends_on(parts(call)[1:], project.function(caller.function), {own}):
        yield from (Scope(caller.function, heir) for heir in heirs_that_run(project, caller.function))


def _bound(ev: Evaluation, function: Function, ref: FunctionRef) -> bool:
    return function.owner is not None and ev.project.method_kind(ref) != "staticmethod"


def _returned_names(project: Project, ref: FunctionRef) -> frozenset[str]:
    """The parameters that a function gives back, whole or in part, through its local names."""
    function = project.function(ref)
    found: set[str] = set()
    pending = list(function.returns)
    while pending:
        for name in _names(project, ref, pending.pop()):
            if name not in found:
                found.add(name)
                local = project.locals_of(ref).get(name)
                pending += local.bound if local is not None else ()
    return frozenset(found.intersection(parameter.name for parameter in function.parameters))


def _names(project: Project, ref: FunctionRef, expr: Expr) -> set[str]:
    match expr:
        case facts.Name(name):
            return {name}
        case facts.Attribute(value) | facts.Element(value) | facts.Narrowed(value):
            return _names(project, ref, value)
        case facts.Subscript(value, index):
            return _names(project, ref, value) | _names(project, ref, index)
        case facts.Call(function, arguments):
            parts: tuple[Expr, ...] = (function,)
            symbols = project.symbols(function, ref.path, ref.key)
            library = symbols and all(isinstance(symbol, External) for symbol in symbols)
            if library or (isinstance(function, facts.Attribute) and function.name in METHODS):
                parts += arguments  # library code may pass them on; our own is one level too deep
        case facts.Choice(parts) | facts.Display(_, parts):
            pass
        case _:
            return set()
    return {name for part in parts for name in _names(project, ref, part)}


def comes_back(project: Project, where: FunctionRef, compiled: Expr, value: Value) -> bool:
    """Whether a helper would compile a closure of its own that its callers hand to it again.

    `step = compile_later(step)` gives a closure of the helper, which is handed on and not compiled.
    """
    if not isinstance(value, FunctionValue) or value.ref.path != where.path:
        return False
    outermost = where.key.partition(".<locals>.")[0]
    if not isinstance(compiled, facts.Name) or not value.ref.key.startswith(f"{outermost}.<locals>."):
        return False
    home = project.home_of(compiled.id, where)
    local = project.locals_of(home).get(compiled.id)
    if local is None or any(isinstance(p, facts.Definition) for value in local.bound for p in walk(value)):
        return False  # `f = (lambda x: x, lambda x: -x)[i]` names closures of its own
    function = project.function(home)
    return depends_on((compiled,), function, {parameter.name for parameter in function.parameters})


def depends_on(asked: Iterable[Expr], function: Function, names: Iterable[str | None]) -> bool:
    """Whether what expressions name comes from some names, through the local variables of a function."""
    pending = list(asked)
    seen: set[str] = set()
    while pending:
        match pending.pop():
            case facts.Name(name) if name in names:
                return True
            case facts.Name(name) if name not in seen:
                seen.add(name)
                pending += [binding.value for binding in function.bindings if binding.name == name]
            case expr:
                pending += parts(expr)
    return False
