"""The values of a parameter: annotations, defaults, and what calls and decorations pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dynamo_lint.calls import compiled_calls, decorators, hooks, keywords, sites
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Function, Parameter
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.models import config, hosts, library_registries
from dynamo_lint.program.names import LAMBDA, names_for
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef, Symbol
from dynamo_lint.values import alternatives, registries
from dynamo_lint.values.annotations import as_overridden, is_plain, typed
from dynamo_lint.values.arguments import ENOUGH, argument_for, is_first, names_ours
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    at_best,
    union,
)
from dynamo_lint.values.points_to import PointsTo, Sites
from dynamo_lint.values.receiver import may_run_for, receiver, seen_by

_MAX_CALL_SITES = 200
"""Calls of one name that are evaluated to see what they call."""


def parameter_values(pts: PointsTo, parameter: Parameter, context: Context, direct: bool) -> ValueSet:
    """The values that a parameter may hold; `direct` if its own function asks, not one nested in it."""
    function = pts.project.function(context.function)
    if own := receiver(pts.project, parameter, context):
        return own
    outer = Context(FunctionRef(context.function.path, function.outer or MODULE_KEY))
    if parameter.annotation is not None and is_plain(pts.project, parameter.annotation, outer):
        return EMPTY  # a tensor or a number: nothing that could lead on
    inside = Context(outer.function, context.receiver or pts.project.owner(context.function))
    declared = typed(pts.project, parameter.annotation, inside) if parameter.annotation is not None else EMPTY
    known = any(names_ours(pts.project, v) for v in declared)
    if known and not function.qualname.endswith("__init__"):
        return declared
    # What is injected into a constructor need not be what its annotation says.
    default = pts.value(parameter.default, outer) if parameter.default is not None else EMPTY
    passed = at_best(_passed(pts, parameter, context), Confidence.LIKELY)
    first = direct and is_first(parameter, function)
    more = (
        [decorators.decorated_by(pts, function, context), _bound_to(pts, function, context)] if first else []
    )
    if function.qualname.rpartition(".")[2].startswith("register"):
        alternatives.note(pts.project, passed)  # a table is filled with it
    if direct:
        more.append(hosts.passed_by_library(pts, parameter, context))
    slot = context.function, parameter.name
    found = pts.capped(union([default, passed, *more]), slot) or as_overridden(
        pts.project, parameter, context.function
    )
    if known:
        declared, meant = standing_for(pts.project, declared, found)
        found = {v: t for v, t in found.items() if v in meant or pts.holds_module(v)}
    return union([declared, found])


def _passed(pts: PointsTo, parameter: Parameter, context: Context) -> ValueSet:
    """The values that the call sites of the function pass for one parameter."""
    found: ValueSet = EMPTY
    registering = hooks.registers(pts.project.function(context.function))
    told = 0
    for caller, site in sites.sites_passing(pts, parameter, context.function):
        if not may_run_for(pts.project, context, caller, site.call):
            continue
        passed = pts.passed_by(
            parameter, context.function, seen_by(pts.project, context, caller, site.call), site
        )
        if registering and hooks.is_for_now(pts, caller.function):
            passed = pts.guessed(passed)
        # Once, though one of a table; functions are each meant, as the rows of a table are.
        told += not passed.keys() <= found.keys() and not all(isinstance(v, FunctionValue) for v in passed)
        found = union([found, passed])
        if told > ENOUGH:
            break
    return found


def passed_by(
    pts: PointsTo, parameter: Parameter, function: FunctionRef, caller: Context, site: CallSite
) -> ValueSet:
    """The values that one call of a function passes for a parameter."""
    called = pts.project.function(function)
    if parameter.kind in ("kwarg", "vararg"):
        return keywords.rest(pts, parameter, called, caller, site.call)
    given = argument_for(parameter, called, site.call)
    if given is None:
        if not pts.project.files[caller.function.path].is_code:
            return config.of_group(pts, caller.function.path, parameter.name)
        return keywords.unpacked(pts, parameter.name, caller, site.call)
    values = pts.before(given, caller, site.call)
    other_name = terminal_name(site.call.function) != called.qualname.rpartition(".")[2]
    return _paired(pts, values, function) if values and other_name else values


def call_sites(pts: PointsTo, ref: FunctionRef) -> Sites:
    """The calls in the project that run a function, directly or by constructing its class."""
    nothing: Sites = ()
    return pts.ask(("sites", ref), lambda: _call_sites(pts, ref), nothing)


def constructions(pts: PointsTo, ref: ClassRef) -> Sites:
    """The calls in the project that construct a class by its name or an alias of it."""

    def compute() -> Sites:
        own = sites.by_owner(pts.project, [ref])
        told = library_registries.configured(pts, [ref])
        return (*told, *_calls_to(pts, ref.name, {ref}), *sites.running(pts, {ref}), *own)

    nothing: Sites = ()
    return pts.ask(("constructions", ref), compute, nothing)


def _call_sites(pts: PointsTo, ref: FunctionRef) -> Sites:
    names, constructed = _called(pts.project, ref)
    wanted: set[ClassRef | FunctionRef] = {ref, *constructed}
    found = dict.fromkeys(library_registries.configured(pts, _in_order(wanted)))
    found |= dict.fromkeys(registries.building(pts.project, _in_order(wanted)))
    for called in sorted(names):
        found |= dict.fromkeys(_calls_to(pts, called, wanted))
    found |= dict.fromkeys(sites.by_owner(pts.project, constructed))
    return tuple(found | dict.fromkeys(sites.running(pts, wanted)))


def _called(project: Project, ref: FunctionRef) -> tuple[set[str], list[ClassRef]]:
    """The names that a function is called by, and the classes that it constructs."""
    function = project.function(ref)
    if function.outer is None:
        return set(), []  # a module: nobody calls it, and any file has one
    name = function.qualname.rpartition(".")[2]
    if name == LAMBDA:
        around = project.function(FunctionRef(ref.path, function.outer))
        return set(names_for(ir.Definition(ref.key), around)), []
    constructed = project.classes_with_init(ref) if name == "__init__" else []
    return {
        name,
        *(subclass.name for subclass in constructed),
        *compiled_calls.held_as(project, ref),
    }, constructed


def _calls_to(
    pts: PointsTo, name: str, wanted: set[ClassRef | FunctionRef]
) -> list[tuple[Context, CallSite]]:
    project = pts.project
    described = project.named("described").get(name)
    found = list(config.completed(pts, _in_order(wanted))) if described else []
    names = {name, *project.aliases_of(name)}
    for called in sorted(names.union(sites.compiled_as(project, name))):
        told, rest = _by_definition(project, called)
        for ref in _in_order(wanted & told.keys()):
            found += told[ref]
        if called == "__init__":  # super().__init__() of a class that has the constructor from a base
            by_constructor = _by_constructor(project)
            known = _in_order(wanted & by_constructor.keys())
            rest = [call for ref in known for call in by_constructor[ref]]
        means = compiled_calls.overridden(project, name, wanted) if called == name else None
        for caller, site in rest[:_MAX_CALL_SITES]:
            runs = _callees(pts, caller, site)
            if not runs.isdisjoint(wanted) or (means is not None and runs <= means):
                found.append((caller, site))
    return found


def _in_order(refs: Iterable[ClassRef | FunctionRef]) -> list[ClassRef | FunctionRef]:
    return sorted(refs, key=lambda ref: (ref.path, ref.key))  # a set is walked in another order in each run


def _callees(pts: PointsTo, caller: Context, site: CallSite) -> frozenset[ClassRef | FunctionRef | None]:
    """The functions that a call runs; None for whatever is not of the project."""

    def compute() -> tuple[CallSite, frozenset[ClassRef | FunctionRef | None]]:
        values = pts.value(site.call.function, caller)
        found = {getattr(value, "ref", None) for value in values}
        return site, frozenset(found.union(compiled_calls.compilers(pts.project, values)))

    # The site is kept with the answer: once it is gone, another may get its identity.
    return pts.part(("callees", caller, id(site)), compute)[1]


def possible_calls(project: Project, ref: FunctionRef) -> list[tuple[Context, CallSite]]:
    """The calls among which those of a function are found, also by constructing its class."""
    names, constructed = _called(project, ref)
    wanted: list[Symbol] = [ref, *constructed]
    found: _Sites = list(sites.by_owner(project, constructed))
    for subclass in names:
        aliases = {subclass, *project.aliases_of(subclass)}
        for called in aliases.union(sites.compiled_as(project, subclass)):
            told, rest = _by_definition(project, called)
            found += _by_constructor(project).get(ref, ()) if called == "__init__" else rest
            for one in wanted:
                found += told.get(one, ())
    unsaid = sites.unnamed_calls(project)
    return found + [(at, site) for at, site, fixed in unsaid if not (fixed and fixed.isdisjoint(wanted))]


_Sites = list[tuple[Context, CallSite]]


def _by_definition(project: Project, called: str) -> tuple[dict[Symbol, _Sites], _Sites]:
    """The calls of a name by the definitions that it is bound to there, and those where that is not known.

    Bindings tell for most calls, also of a name that a project uses a thousand times; only the rest has to
    be evaluated.
    """
    key = ("calls by definition", called)
    if key not in project.memo:
        told: dict[Symbol, _Sites] = defaultdict(list)
        rest: _Sites = []
        for where, site in (*project.calls_of(called), *project.named("described").get(called, ())):
            symbols = project.symbols(site.call.function, where.path, where.key)
            called_in = (Context(where, project.owner(where)), site)
            for symbol in symbols:
                told[symbol].append(called_in)
            if not symbols:
                rest.append(called_in)
        project.memo[key] = (dict(told), rest)
    return project.memo[key]  # type: ignore[return-value]


def _by_constructor(project: Project) -> dict[ClassRef | FunctionRef, _Sites]:
    """The calls `….__init__(…)` that bindings do not tell, by the constructors that their class may mean."""
    key = "calls by constructor"
    if key not in project.memo:
        table: dict[ClassRef | FunctionRef, _Sites] = defaultdict(list)
        inits: dict[ClassRef, set[FunctionRef]] = {}
        for caller, site in _by_definition(project, "__init__")[1]:
            owner = caller.receiver
            if owner is None:
                continue
            if owner not in inits:
                methods = (project.method(part, "__init__") for part in project.mro(owner))
                inits[owner] = {init for init in methods if init is not None}
            for init in inits[owner]:
                table[init].append((caller, site))
        project.memo[key] = dict(table)
    return project.memo[key]  # type: ignore[return-value]


def _bound_to(pts: PointsTo, function: Function, context: Context) -> ValueSet:
    """The instances that a function outside any class is made a method of: `MethodType(function, model)`,
    `Model.forward = function`."""
    if function.owner is not None:
        return EMPTY
    found: list[ValueSet] = []
    name = function.qualname.rpartition(".")[2]
    for attribute in sorted(pts.project.aliases_of(name)):
        for where, store in pts.project.stores_of(attribute):
            value = store.value
            if not isinstance(value, ir.Name) or value.id != name:
                continue
            if FunctionValue(context.function) in pts.value(value, Context(where)):
                held = pts.value(store.owner, Context(where, pts.project.owner(where)))
                found.append({Instance(v.ref): Confidence.LIKELY for v in held if isinstance(v, ClassValue)})
    for maker in ("MethodType", "__get__"):
        for where, site in pts.project.calls_of(maker):
            callee, arguments = site.call.function, site.call.arguments
            if maker == "__get__" and isinstance(callee, ir.Attribute):
                arguments = (callee.value, *arguments)
            caller = Context(where, pts.project.owner(where))
            if len(arguments) > 1 and any(
                getattr(v, "ref", None) == context.function for v in pts.value(arguments[0], caller)
            ):
                found.append(pts.value(arguments[1], caller))
    return union(found, Confidence.LIKELY)


def _paired(pts: PointsTo, values: ValueSet, function: FunctionRef) -> ValueSet:
    """The values less instances of classes that no registry pairs with the function.

    `Spec(model=Llama, parallelize=parallelize_llama)` says which model `spec.parallelize(model)` gets.
    """
    nothing: frozenset[ClassRef] = frozenset()
    mine = pts.ask(("rows", function), lambda: _row(pts, function), nothing)
    if not mine:
        return values
    return {
        v: confidence
        for v, confidence in values.items()
        if not isinstance(v, Instance) or not mine.isdisjoint(pts.project.mro(v.ref))
        if not isinstance(v, Container) or not pts.holds_module(v)
    }


def _row(pts: PointsTo, function: FunctionRef) -> frozenset[ClassRef]:
    """The classes that stand in one registry row with a function."""
    name = function.key.rpartition(".")[2]
    found: set[ClassRef] = set()
    for where, site in pts.project.passed_on(name):
        context = Context(where, pts.project.owner(where))
        if any(
            isinstance(v, FunctionValue) and v.ref == function
            for _, value in site.call.keywords
            for v in pts.value(value, context)
        ):
            found |= _classes_in(pts, site.call, context)
    return frozenset(found)


def _classes_in(pts: PointsTo, call: ir.Call, context: Context) -> set[ClassRef]:
    """The modules that a call names, by their classes or by configurations nested in them."""
    found: set[ClassRef] = set()
    for argument in arguments_of(call):
        if isinstance(argument, ir.Name | ir.Attribute):
            for value in pts.value(argument, context):
                match value:
                    case ClassValue(ref):
                        found.add(ref)
                    case Instance(ref) if (configured := configured_by(pts.project, ref)) is not None:
                        found.add(configured)
    return {ref for ref in found if pts.project.is_module(ref)}


def configured_by(project: Project, ref: ClassRef) -> ClassRef | None:
    """The class that a `Config` nested in it configures."""
    outer, _, inner = ref.key.rpartition(".")
    configures = inner.endswith(("Config", "Options", "Args", "Params"))
    return ClassRef(ref.path, outer) if configures and outer in project.files[ref.path].classes else None


def standing_for(project: Project, declared: ValueSet, given: ValueSet) -> tuple[ValueSet, set[Value]]:
    """The declared values, and those given for them of subclasses of a class that is never instantiated.

    Such a class stands for them: that there is one of itself, made by other means, is no more than likely.
    """
    bases = {v.ref for v in declared if isinstance(v, Instance) and not project.calls_of(v.ref.name)}
    below: set[Value] = {
        v for v in given if isinstance(v, Instance) and not bases.isdisjoint(project.mro(v.ref)[1:])
    }
    if below:
        left = {v: max(t, Confidence.LIKELY) for v, t in declared.items() if getattr(v, "ref", None) in bases}
        declared = {**declared, **left}
    return declared, below
