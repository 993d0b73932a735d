"""Context sensitivity of one call site: what this very call, or this caller, passes for a parameter."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from typing import NamedTuple

from dynamo_lint.calls.sites import sites_passing
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, CallSite, Constant, Element, Expr, Function, Parameter
from dynamo_lint.index.walking import parts, walk
from dynamo_lint.program import names
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.values.arguments import argument_for, as_given, is_partial_call, is_settled
from dynamo_lint.values.model import (
    EMPTY,
    Arguments,
    ConfigKey,
    Context,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    Written,
    freeze,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.registries import REGISTRY_METHODS


class ByCaller(NamedTuple):
    """One module that one caller hands over."""

    caller: FunctionRef
    value: Value
    confidence: Confidence


def by_caller(pts: PointsTo, where: FunctionRef, called: Expr, known: ValueSet) -> tuple[ByCaller, ...]:
    """The modules that callers of a function hand it as what it calls there, beside those that are known."""
    function = pts.project.function(where)
    parameter = as_given(function, called)
    if parameter is None or is_settled(pts.project, parameter, where):
        return ()
    nothing: tuple[ByCaller, ...] = ()
    found = pts.ask(
        ("by caller", where, parameter.name),
        lambda: tuple(
            ByCaller(caller.function, value, max(confidence, Confidence.LIKELY))
            for caller, site in pts.call_sites(where)
            if not site.eager
            for value, confidence in pts.capped(pts.passed_by(parameter, where, caller, site)).items()
            if isinstance(value, Instance)
            and confidence < Confidence.POSSIBLE
            and pts.project.is_module(value.ref)
        ),
        nothing,
    )
    return tuple(one for one in found if known.get(one.value, Confidence.POSSIBLE) > Confidence.LIKELY)


def bind_arguments(pts: PointsTo, ref: FunctionRef, call: Call, context: Context) -> Arguments:
    """The values of the arguments that what the function returns depends on.

    Inside a call that is already looked at in context, only of a function that calls nothing for what it
    gives: one level tells factories apart, more would never end.
    """
    function = pts.project.function(ref)
    if context.given and not _hands_back(pts.project, ref):
        return ()
    nothing: frozenset[str] = frozenset()
    names = pts.ask(("returned names", ref), lambda: _returned_names(pts.project, ref), nothing)
    if not names:
        return ()
    found = []
    for parameter in function.parameters[1 if _bound(pts, function, ref) else 0 :]:
        if parameter.name not in names:
            continue
        argument = argument_for(parameter, function, call)
        if argument is not None and not isinstance(argument, ir.UnknownExpression):
            values = pts.before(argument, context, call) or _of_configuration(argument)
            found.append((parameter.name, freeze(union([values], Confidence.LIKELY))))
    return tuple(found)


def written_out(project: Project, ref: FunctionRef, call: Call, context: Context) -> Written:
    """The texts and members of enumerations that a call writes out for what the function tests.

    `build(Kind.NORM)` never gives what `if kind == Kind.ATTENTION` returns.
    """
    function = project.function(ref)
    names = {name for _, _, name, wanted in function.picked if isinstance(wanted[0], str)}
    found = []
    for parameter in function.parameters if names else ():
        if parameter.name not in names or project.locals_of(ref)[parameter.name].bound:
            continue
        match argument_for(parameter, function, call):
            case Constant(str() as text):
                found.append((parameter.name, text))
            case ir.Attribute(ir.Name(owner) | ir.Attribute(_, owner), name) if owner[:1].isupper():
                found.append((parameter.name, f"{owner}.{name}"))
            case ir.Name(name):
                found += [(parameter.name, text) for known, text in context.written if known == name]
    return tuple(found)


def without_others(
    pts: PointsTo, found: ValueSet, ref: FunctionRef, call: Call, context: Context
) -> ValueSet:
    """The values that a wrapper gives back to one call: none of the functions that only other calls hand it.

    What it keeps of one function, in an object or in a table, is not what it keeps of another.
    """
    strange: set[Value] = {
        value for value in found if isinstance(value, FunctionValue) and not value.ref.stands_in(ref)
    }
    if not strange:
        return found
    function = pts.project.function(ref)
    for parameter in function.parameters[1 if _bound(pts, function, ref) else 0 :]:
        argument = argument_for(parameter, function, call)
        if argument is None or isinstance(argument, ir.Constant):
            continue
        strange -= pts.before(argument, context, call).keys()
        if strange and not pts.project.locals_of(ref)[parameter.name].bound:
            others = strange & pts.value(ir.Name(parameter.name), Context(ref)).keys()
            found = {value: confidence for value, confidence in found.items() if value not in others}
    return found


def _of_configuration(argument: Expr) -> ValueSet:
    """The configuration key that an argument takes, which is passed on unknown: `build(cfg.model)`."""
    name = names.key_taken(argument)
    return {ConfigKey(name): Confidence.LIKELY} if name is not None else EMPTY


def bind_receiver(pts: PointsTo, callee: Value, call: Call, context: Context) -> tuple[Value, ...]:
    """The functions that a call runs: `Base.method(self, …)` runs the method on the instances that may be
    passed first."""
    match callee:
        case FunctionValue(ref, None) if call.arguments:
            owner = pts.project.function(ref).owner
            if owner is None or pts.project.method_kind(ref) != "method":
                return (callee,)
            base = ClassRef(ref.path, owner)
            first = pts.value(call.arguments[0], context)
            found = (v.ref for v in first if isinstance(v, Instance) and base in pts.project.mro(v.ref))
            return tuple(FunctionValue(ref, receiver) for receiver in found) or (callee,)
    return (callee,)


def _bound(pts: PointsTo, function: Function, ref: FunctionRef) -> bool:
    return function.owner is not None and pts.project.method_kind(ref) != "staticmethod"


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


def _hands_back(project: Project, ref: FunctionRef) -> bool:
    """Whether what a function gives comes from its parameters by name alone, not from other calls."""
    function = project.function(ref)
    known = project.locals_of(ref)
    bound = (value for name in _returned_names(project, ref) for value in known[name].bound)
    values = (*function.returns, *bound)
    return bool(function.returns) and not any(isinstance(one, Call) for v in values for one in walk(v))


def _names(project: Project, ref: FunctionRef, expr: Expr) -> set[str]:
    match expr:
        case ir.Name(name):
            return {name}
        case ir.Attribute(value) | ir.Element(value) | ir.Narrowed(value):
            return _names(project, ref, value)
        case ir.Subscript(value, index):
            return _names(project, ref, value) | _names(project, ref, index)
        case ir.Call(function, arguments):
            parts: tuple[Expr, ...] = (function,)
            symbols = project.symbols(function, ref.path, ref.key)
            library = symbols and all(isinstance(symbol, ExternalSymbol) for symbol in symbols)
            if library or (isinstance(function, ir.Attribute) and function.name in REGISTRY_METHODS):
                parts += arguments  # library code may pass them on; our own is one level too deep
        case ir.Choice(parts) | ir.Display(_, parts):
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
    if not isinstance(compiled, ir.Name) or not value.ref.key.startswith(f"{outermost}.<locals>."):
        return False
    home = project.home_of(compiled.id, where)
    local = project.locals_of(home).get(compiled.id)
    if local is None or any(isinstance(p, ir.Definition) for value in local.bound for p in walk(value)):
        return False  # `f = (lambda x: x, lambda x: -x)[i]` names closures of its own
    given = {parameter.name for parameter in project.function(home).parameters}
    return depends_on(project, (compiled,), home, given)


def depends_on(
    project: Project, asked: Iterable[Expr], where: FunctionRef, names: Container[str | None]
) -> bool:
    """Whether what expressions name comes from some names, through the local variables of a function.

    `super()` comes from `self`.
    """
    pending = list(asked)
    seen: set[str] = set()
    while pending:
        match pending.pop():
            case ir.Name(name) if name in names:
                return True
            case ir.Call(ir.Name("super"), ()) if project.self_name(where) in names:
                return True
            case ir.Name(name) if name not in seen:
                seen.add(name)
                pending += [binding.value for binding in project.bindings_of(where).get(name, ())]
            case expr:
                pending += parts(expr)
    return False


Origins = Mapping[Value, tuple[FunctionRef, ...]]
_NONE = Constant(None)
_DEEPEST = 6
"""A value that is passed on further than this counts as put in there."""


def origins(
    pts: PointsTo,
    where: FunctionRef,
    parameter: Parameter,
    entered: Collection[FunctionRef],
    *,
    kept: bool = False,
) -> Origins:
    """The functions whose calls bring each value, none of them where nothing but eager code does.

    A caller that only passes on what it is given itself is asked in turn, but for those that eager code
    enters with anything. What comes from elsewhere, as from a default, has no entry; nor has what is bound
    beforehand (`partial(step, loss=f)`), which is there whoever makes the call; and so it is with what a
    closure keeps, unless it is called where it is made: `checkpointed(self.block)(x)`.
    """
    return _origins(pts, where, parameter, entered, (), kept=kept)


def _origins(
    pts: PointsTo,
    where: FunctionRef,
    parameter: Parameter,
    entered: Collection[FunctionRef],
    above: tuple[FunctionRef, ...],
    *,
    kept: bool = False,
) -> Origins:
    found: dict[Value, dict[FunctionRef, None]] = {}
    anything: dict[FunctionRef, None] = {}
    bound: set[Value] = set()
    for caller, site in sites_passing(pts, parameter, where):
        given = argument_for(parameter, pts.project.function(where), site.call)
        if caller.function == where and given == ir.Name(parameter.name):
            continue  # it calls itself with what it was given: others have brought that
        values = pts.passed_by(parameter, where, caller, site)
        later = kept and not _is_called_at_once(pts.project.function(caller.function), site)
        if later or is_partial_call(pts.project, caller, site):
            bound.update(values)
            continue
        passed_on = as_given(pts.project.function(caller.function), given) if given is not None else None
        followed = caller.function not in (*entered, where, *above) and not _is_run_unnamed(caller.function)
        before: Origins = {}
        if passed_on is not None and followed and len(above) < _DEEPEST:
            before = _origins(pts, caller.function, passed_on, entered, (*above, where))
        for value in values:
            sources = found.setdefault(value, {})
            if not site.eager:
                sources.update(dict.fromkeys(before.get(value, (caller.function,))))
        if given not in (None, _NONE) and not site.eager and not any(map(_is_ours, values)):
            anything[caller.function] = None  # it is not known what this one hands over
    return {value: tuple(sources | anything) for value, sources in found.items() if value not in bound}


def _is_called_at_once(caller: Function, site: CallSite) -> bool:
    """Whether what a call gives is called in the same expression, so that nobody else has it."""
    return any(other.call.function == site.call for other in caller.calls)


def _is_ours(value: Value) -> bool:
    return isinstance(value, Instance | FunctionValue)


def givers(
    pts: PointsTo, where: FunctionRef, parameter: Parameter, entered: Collection[FunctionRef]
) -> tuple[FunctionRef, ...] | None:
    """The functions whose calls give a parameter that is None by default anything; None if that is open."""
    if parameter.default != _NONE or where in entered or _is_run_unnamed(where) or not pts.call_sites(where):
        return None
    found: dict[FunctionRef, None] = {}
    pending, seen = [(where, parameter)], {where}
    while pending:
        asked, wanted = pending.pop()
        sites = pts.call_sites(asked)
        if not sites or asked in entered or _is_run_unnamed(asked):
            found[asked] = None  # by any caller
        function = pts.project.function(asked)
        for caller, site in sites:
            given = argument_for(wanted, function, site.call)
            if given not in (None, _NONE) and is_partial_call(pts.project, caller, site):
                return None
            if site.eager or given == _NONE or (given is None and _is_plain(site.call)):
                continue
            passed_on = as_given(pts.project.function(caller.function), given) if given is not None else None
            if passed_on is None or passed_on.default != _NONE:
                found[caller.function] = None
            elif caller.function not in seen:
                seen.add(caller.function)
                pending.append((caller.function, passed_on))
    return tuple(found)


def _is_run_unnamed(ref: FunctionRef) -> bool:
    """Whether calls of an object run a method, so that most of them do not name it."""
    return ref.key.endswith((".forward", ".__call__"))


def _is_plain(call: Call) -> bool:
    """Whether a call passes nothing but what it names."""
    starred = any(isinstance(argument, Element) for argument in call.arguments)
    return not starred and all(name is not None for name, _ in call.keywords)
