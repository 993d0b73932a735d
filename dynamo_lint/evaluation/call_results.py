"""The result of a call: constructors, factories, containers, and library calls that pass things on."""

from __future__ import annotations

from dynamo_lint.calls import construct, context, keywords
from dynamo_lint.calls.compiled_calls import compiled
from dynamo_lint.calls.construct import partial_object
from dynamo_lint.conditions import arguments
from dynamo_lint.evaluation.parameters import configured_by
from dynamo_lint.heuristics import module_namespace
from dynamo_lint.heuristics.module_namespace import offered
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, Expr
from dynamo_lint.models import entry_points, library_registries
from dynamo_lint.models.config import classes_in_config, words_in_config
from dynamo_lint.models.instantiation import BUILDERS, DESCRIPTIONS, LAZY_CALL, built, built_by_project
from dynamo_lint.models.passing import COLLECTIONS, passed_through
from dynamo_lint.models.wrappers import run_by
from dynamo_lint.program.classes import SELF_RETURNING
from dynamo_lint.program.hierarchy import ALTERNATIVES, subclasses
from dynamo_lint.program.refs import COMPILE, DISABLERS, ClassRef, Confidence, ExternalSymbol, File
from dynamo_lint.values import alternatives, classes, containers, iterables, module_tree, records, registries
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.containers import MODULE_CONTAINERS
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    ClassValue,
    Compiled,
    ConfigKey,
    Container,
    Context,
    EntryPoint,
    ExternalInstance,
    FunctionValue,
    Instance,
    LibraryRegistry,
    SuperProxy,
    Text,
    Value,
    ValueSet,
    at_best,
    each,
    elements,
    freeze,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.reflection import (
    LOADERS,
    LOCATORS,
    SPLITTERS,
    by_class_name,
    is_imported_by_name,
    located,
    parts_of,
    spelled_out,
    worded,
)

_CONTEXTS = frozenset(
    ExternalSymbol(f"torch.{name}")
    for name in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast", "amp.autocast")
)
"""Contexts whose instances decorate functions too: `torch.no_grad()(model.forward)`."""
_SCRIPTING = frozenset({"torch.jit.script", "torch.jit.trace"})
"""Dynamo runs the Python of a function so given, but nothing of a module (torch/jit/_script.py)."""
_SET_UPS = frozenset({"setup", "setup_module", "prepare", "prepare_model", "unwrap_model"})
_IS_CLASS = "inspect.isclass"
_IMPORT = "builtins.__import__"
"""Gives the very module only if it is told that something is wanted from it."""
_ENGINE = "deepspeed.initialize"
"""Gives, before other things, an engine that stands for the model it is given, also when it is compiled."""


def of_call(ev: PointsTo, call: Call, scope: Context) -> ValueSet:
    """The values a call may return."""
    method = call.function
    if isinstance(method, Call) and call.arguments:
        around = ev.project.symbols(method.function, scope.function.path, scope.function.key)
        if not _CONTEXTS.isdisjoint(around):
            return ev.value(call.arguments[0], scope)
    if not isinstance(method, ir.Attribute):
        found = _of_callees(ev, ev.value(method, scope), call, scope)
        if len(found) > 1 and alternatives.picks(ev.project, method, scope.function):
            alternatives.note(ev.project, found)
        return library_registries.remade(ev, found, call, scope)
    # The owner is evaluated once: twice for each link of a chain of calls would double with every link.
    owners = ev.value(method.value, scope)
    callees = ev.attributes(owners, method.name)
    registered = (
        library_registries.built(ev, call, method, owners, scope)
        if method.name in registries.REGISTRY_METHODS
        else {}
    )
    # The code of a registry mixes what all registries of its class hold.
    found = registered or _of_callees(ev, callees, call, scope)
    if len(callees) > 1 and alternatives.is_overridden(ev.project, callees):
        alternatives.note(ev.project, found)
    found = union([found, _of_method(ev, method, owners, call, scope, resolved=bool(callees))])
    return library_registries.remade(ev, found, call, scope)


def _of_callees(ev: PointsTo, callees: ValueSet, call: Call, scope: Context) -> ValueSet:
    parts = [
        at_best(_of_callee(ev, bound, call, scope), tier)
        for callee, tier in callees.items()
        for bound in context.bound(ev, callee, call, scope)
    ]
    return union(parts)


def _of_callee(ev: PointsTo, callee: Value, call: Call, scope: Context) -> ValueSet:
    match callee:
        case ClassValue(ref) if ref.name == LAZY_CALL and (first := _first(call)) is not None:
            return ev.value(first, scope)
        case ClassValue(ref):
            if later := partial_object(ev, ref, call, scope):
                return later
            made = construct.constructed_values(ev, ref, call, scope)
            if (kind := containers.kind_of(ev.project, ref)) is None:
                return made
            return union([made, containers.of_modules(ev, kind, _first(call), call, scope)])
        case FunctionValue(ref, receiver):
            if own := built_by_project(ev, ref, call, scope):
                return own
            found = context.without_others(
                ev, ev.returns(ref, receiver, context.given(ev, ref, call, scope)), ref, call, scope
            )
            if any(isinstance(value, ConfigKey) for value in found):
                return {value: tier for value, tier in found.items() if not isinstance(value, ConfigKey)}
            return found
        case ExternalSymbol(dotted) | Compiled(dotted):
            return _of_external(ev, dotted, call, scope)
        case Container(records.CLASS, _, names):
            return records.named_tuple(ev, names, call, scope)
        case Instance(ref) if not ev.project.is_module(ref):  # what a module gives is no module
            method = ev.project.method(ref, "__call__")
            return _of_callee(ev, FunctionValue(method, ref), call, scope) if method is not None else EMPTY
    return EMPTY


def _of_external(ev: PointsTo, dotted: str, call: Call, scope: Context) -> ValueSet:
    first = _first(call)
    last = dotted.rpartition(".")[2]
    if dotted in DISABLERS:
        return EMPTY
    if dotted == COMPILE and first is None:
        return {ExternalSymbol(COMPILE): Confidence.CERTAIN}
    if dotted == "typing.cast" and len(call.arguments) == 2:
        return typed(ev.project, call.arguments[0], scope)
    if through := passed_through(dotted, call.arguments, first):
        passed = union(ev.value(one, scope) for one in through)
        return compiled(passed, scope.function.path, call.line) if dotted == COMPILE else passed
    if dotted in _SCRIPTING and first is not None:
        return {v: tier for v, tier in ev.value(first, scope).items() if isinstance(v, FunctionValue)}
    if dotted == _ENGINE:
        model = dict(call.keywords).get("model", next(iter(call.arguments[1:]), ir.UNKNOWN))
        return {Container("tuple", (freeze(ev.value(model, scope)),)): Confidence.LIKELY}
    if dotted in BUILDERS:
        description = first or dict(call.keywords).get("config")
        return built(ev, description, scope) if description is not None else EMPTY
    whole = dotted == _IMPORT and ("fromlist" in dict(call.keywords) or len(call.arguments) > 3)
    if (dotted in LOCATORS or whole) and first is not None:
        names = union([ev.value(first, scope), words_in_config(ev, first, scope)])
        meant = located(ev, names, scope.function.path)
        return meant or classes_in_config(ev, first, scope)
    if dotted == "types.MethodType" and len(call.arguments) == 2:
        return _bound_to(ev, ev.before(call.arguments[0], scope, call), call.arguments[1], scope)
    if entry_points.is_lookup(dotted):
        return entry_points.entry_points(ev, call, scope)
    if dotted == entry_points.POINT:
        return entry_points.entry_point(ev, call, scope)
    if dotted in DESCRIPTIONS and first is not None:
        return ev.value(first, scope)
    if dotted.startswith("torch.nn.") and last in MODULE_CONTAINERS:
        return containers.of_modules(ev, MODULE_CONTAINERS[last], first, call, scope)
    if last in COLLECTIONS and first is not None and call.arguments:
        return records.copied(last, ev.value(first, scope))
    if last in ("dict", "OrderedDict") and call.keywords:
        return containers.keyed(ev, call, scope)
    if (record := records.of_library(ev, dotted, call, scope)) is not None:
        return record
    if dotted == module_namespace.MEMBERS and first is not None:
        only = ExternalSymbol(_IS_CLASS) in ev.value(next(iter(call.arguments[1:]), ir.UNKNOWN), scope)
        return module_namespace.members(ev, ev.value(first, scope), only_classes=only)
    if dotted in records.FIELDS:
        return _default(ev, call, scope)
    if dotted == "torch.nn.Module":
        return {AnonymousModule(scope.function.path, call.line): Confidence.CERTAIN}
    if dotted == "functools.reduce" and call.arguments[:1] == (ir.Name("getattr"),):
        return module_tree.submodule_along(ev, call.arguments[1:], scope)
    if dotted in iterables.NAMES:
        return iterables.of_call(ev, dotted.removeprefix("builtins.").removeprefix("itertools."), call, scope)
    if not dotted.startswith("builtins."):
        made: ValueSet = (
            {ExternalInstance(dotted): Confidence.CERTAIN}
            if last[:1].isupper() or dotted in LOADERS
            else EMPTY
        )
        if not made and (registered := library_registries.created_by_library(ev, dotted, call, scope)):
            return registered
        if last.endswith(library_registries.CLASS):
            return {**made, LibraryRegistry(scope.function.path, call.line): Confidence.CERTAIN}
        return union([made, run_by(ev, dotted, call, first, scope)]) if made else made
    return _of_builtin(ev, last, call, scope)


def _default(ev: PointsTo, call: Call, scope: Context) -> ValueSet:
    """What a declared field holds unless it is given something: `field(default_factory=Part)`."""
    name, value = next((row for row in call.keywords if row[0] in records.DEFAULTS), ("", ir.UNKNOWN))
    found = ev.value(value, scope)
    return found if name == "default" else _of_callees(ev, found, Call(value), scope)


def _of_builtin(ev: PointsTo, name: str, call: Call, scope: Context) -> ValueSet:
    match name, call.arguments:
        case "super", _:
            return _parent(ev, scope)
        case "globals", ():
            return {File(scope.function.path): Confidence.CERTAIN}
        case "vars", (owner,):
            return {v: tier for v, tier in ev.value(owner, scope).items() if isinstance(v, File)}
        case "type", (_, ir.Display("tuple", bases), _):
            return classes.class_from_type(ev, bases, scope)
        case "type", (value,):
            instances = ev.value(value, scope).items()
            return {ClassValue(v.ref): tier for v, tier in instances if isinstance(v, Instance)}
        case "getattr", (owner, name_expr, *default):
            # The default is for when the attribute is missing; nothing says that it ever is.
            fallback = (ev.guessed(ev.value(d, scope)) for d in default)
            return union([named_attribute(ev, ev.value(owner, scope), name_expr, scope, owner), *fallback])
    return EMPTY


def named_attribute(
    ev: PointsTo, owners: ValueSet, name: Expr, scope: Context, owner: Expr = ir.UNKNOWN
) -> ValueSet:
    """`getattr(owner, name)`, by the texts that the name is known to be."""
    texts = {v.value: tier for v, tier in ev.value(name, scope).items() if isinstance(v, Text)}
    if isinstance(name, ir.Name) and not texts:  # declared as `str`, it is followed nowhere else
        written = arguments.written_out(ev, scope.function, name.id, strict=False) or ()
        texts = {text: Confidence.LIKELY for text in written if isinstance(text, str)}
    if isinstance(name, ir.Attribute):  # a configuration field: any text it is given anywhere
        texts |= {
            text: Confidence.LIKELY for text in ev.project.strings_passed_as(name.name) if text not in texts
        }
    if not texts and any(isinstance(owner, File) for owner in owners):
        texts = {
            word.value: tier
            for word, tier in words_in_config(ev, name, scope).items()
            if isinstance(word, Text)
        }
    texts = spelled_out(ev, owners, texts)
    found = union([at_best(ev.attributes(owners, text), tier) for text, tier in sorted(texts.items())])
    if texts:
        return ev.capped(found or by_class_name(ev, owner, texts, scope))
    if not owners and is_imported_by_name(ev, owner, scope):
        return classes_in_config(ev, name, scope)
    within = module_tree.children if ev.by_name else module_tree.contents
    inside = [within(ev, v.ref) for v in owners if isinstance(v, Instance)]
    files = [v.path for v in owners if isinstance(v, File)]
    here = scope.function.path  # `globals()[name]` asks for what is imported, too
    models = union(
        offered(ev, at, imported=at == here) or module_namespace.listed_modules(ev, at) for at in files
    )
    alternatives.note(ev.project, models)
    return union([*inside, models], Confidence.LIKELY)


def _of_method(
    ev: PointsTo, method: ir.Attribute, owners: ValueSet, call: Call, scope: Context, *, resolved: bool
) -> ValueSet:
    """Methods of values the project does not define them for: containers and `nn.Module` itself."""
    parts: list[ValueSet] = []
    for owner, tier in owners.items():
        match owner:
            case Instance(ref) if not ev.project.method(ref, method.name):
                parts.append(union([_of_module_method(ev, ref, method.name, call, scope)], tier))
            case ClassValue(ref) | SuperProxy(_, ref) if method.name in ALTERNATIVES and not ev.attributes(
                {owner: tier}, method.name
            ):
                parts.append(
                    {Instance(ref): max(tier, Confidence.LIKELY)} if ev.project.is_module(ref) else EMPTY
                )
            case ClassValue(ref) if method.name == "__subclasses__":
                below: ValueSet = {
                    ClassValue(heir): Confidence.LIKELY for heir in subclasses(ev.project, ref)
                }
                parts.append(each(ev.capped(below)))
            case Container() if method.name in ("values", "copy", *SELF_RETURNING):
                parts.append({owner: tier})
            case Container() if method.name in ("children", "modules"):
                parts.append({owner: tier})
            case Container() if method.name in ("items", "named_children", "named_modules"):
                parts.append(containers.pairs(elements({owner: tier})))
            case Container() if method.name in keywords.TAKING or method.name == "popleft":
                parts.append(elements({owner: tier}))
            case EntryPoint(held) if method.name in entry_points.LOADING:
                parts.append(union([dict(held)], tier))
            case File() if method.name in keywords.TAKING and call.arguments:  # `globals().get(name)`
                parts.append(
                    union([named_attribute(ev, {owner: tier}, call.arguments[0], scope)], Confidence.LIKELY)
                )
            case File() if method.name in module_namespace.LISTING:
                parts.append(module_namespace.members(ev, {owner: tier}, named=method.name == "items"))
            case ClassValue() if method.name in records.VALIDATING and not resolved:
                parts.append(records.validated_instances({owner: max(tier, Confidence.LIKELY)}))
            case Text(text) if method.name in SPLITTERS:
                parts.append(at_best(parts_of(text, method.name, call), tier))
            case Text(text) if method.name == "format":
                parts.append(worded(ev.project, text, scope.function.path))
            case FunctionValue() if method.name == "__get__" and call.arguments:
                parts.append(_bound_to(ev, {owner: tier}, call.arguments[0], scope))
            case ExternalInstance() if method.name in records.PARSERS:
                parts.append({AnonymousModule(scope.function.path, call.line): tier})
            case ExternalInstance() | AnonymousModule() if method.name in SELF_RETURNING:
                parts.append({owner: tier})
            case ExternalInstance("torch.nn.Module") if method.name in ("children", "modules"):
                parts.append(each({owner: Confidence.ASSUMED}))
            case ExternalInstance("torch.nn.Module") if method.name in ("named_children", "named_modules"):
                parts.append(containers.pairs({owner: Confidence.ASSUMED}))
    if not resolved and not parts and method.name in _SET_UPS and call.arguments:
        # fabric.setup(model, optimizer), accelerator.prepare(model): what went in comes out, in order.
        passed = [ev.value(argument, scope) for argument in call.arguments]
        whole = Container("tuple", tuple(freeze(p) for p in passed))
        parts.append(union([passed[0], {whole: Confidence.CERTAIN}], Confidence.LIKELY))
    return union(parts)


def _bound_to(ev: PointsTo, functions: ValueSet, instance: Expr, scope: Context) -> ValueSet:
    """Functions that are made methods of an instance: in a loop over modules, each method that of its own."""
    owners: list[ClassRef | None] = [v.ref for v in ev.value(instance, scope) if isinstance(v, Instance)]
    having: dict[ClassRef, list[ClassRef | None]] = {}
    for owner in owners:
        for part in ev.project.mro(owner) if owner is not None else ():
            having.setdefault(part, []).append(owner)
    found: dict[Value, Confidence] = {}
    for function, tier in functions.items():
        if isinstance(function, FunctionValue):
            own = ev.project.owner(function.ref)
            for owner in (own and having.get(own)) or owners or [function.receiver]:
                found[function._replace(receiver=owner)] = tier
    return found


def _of_module_method(ev: PointsTo, ref: ClassRef, name: str, call: Call, scope: Context) -> ValueSet:
    if not ev.project.is_module(ref):
        return _built(ev, ref)
    if name in SELF_RETURNING:
        return {Instance(ref): Confidence.CERTAIN}
    if name in ("children", "named_children"):
        found = module_tree.children(ev, ref)
    elif name in ("modules", "named_modules"):
        found = module_tree.descendants(ev, ref)
    elif name == "get_submodule" and call.arguments:
        texts = [v.value for v in ev.value(call.arguments[0], scope) if isinstance(v, Text)]
        return union(module_tree.submodule_at(ev, ref, text) for text in texts)
    else:
        return EMPTY
    return containers.pairs(found) if name.startswith("named_") else each(found)


def _built(ev: PointsTo, ref: ClassRef) -> ValueSet:
    """An unknown method of a configuration builds what it configures."""
    built = configured_by(ev.project, ref)
    return {Instance(built): Confidence.LIKELY} if built is not None else EMPTY


def _parent(ev: PointsTo, scope: Context) -> ValueSet:
    owner = ev.project.owner(scope.function)
    if owner is None:
        return EMPTY
    return {SuperProxy(owner, scope.receiver or owner): Confidence.CERTAIN}


_FIRST = ("model", "module", "modules", "func", "encoder_layer", "decoder_layer")
"""By which keyword libraries take what they wrap."""


def _first(call: Call) -> Expr | None:
    if call.arguments:
        first = call.arguments[0]
        return None if isinstance(first, ir.Element) else first
    return next((value for name, value in call.keywords if name in _FIRST), None)
