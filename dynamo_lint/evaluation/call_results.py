"""The result of a call: constructors, factories, containers, and library calls that pass things on."""

from __future__ import annotations

import re

from dynamo_lint import knowledge
from dynamo_lint.calls import construct, contexts, keywords
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
from dynamo_lint.models.drivers import MODES
from dynamo_lint.models.instantiation import BUILDERS, DESCRIPTIONS, LAZY_CALLS, built, built_by_project
from dynamo_lint.models.passing import COLLECTIONS, passed_through
from dynamo_lint.models.wrappers import run_by
from dynamo_lint.program.classes import SELF_RETURNING
from dynamo_lint.program.hierarchy import ALTERNATIVES, subclasses
from dynamo_lint.program.refs import COMPILE, ClassRef, Confidence, ExternalSymbol, File
from dynamo_lint.values import alternatives, containers, iterables, module_tree, records, registries
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

_CONTEXTS = frozenset(ExternalSymbol(dotted) for dotted, mode in MODES.items() if mode.manager)
"""Contexts whose instances decorate functions too: `torch.no_grad()(model.forward)`."""
_SCRIPTING = knowledge.names("scripts")
_SET_UPS = knowledge.names("prepares") | knowledge.names("unwraps")
_IS_CLASS = "inspect.isclass"
_IMPORT = "builtins.__import__"
"""Gives the very module only if it is told that something is wanted from it."""
_ENGINE = knowledge.names("engine")
"""Gives, before other things, an engine that stands for the model it is given, also when it is compiled."""


def of_call(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The values a call may return."""
    method = call.function
    if isinstance(method, Call) and call.arguments:
        around = pts.project.symbols(method.function, context.function.path, context.function.key)
        if not _CONTEXTS.isdisjoint(around):
            return pts.value(call.arguments[0], context)
    if not isinstance(method, ir.Attribute):
        found = _of_callees(pts, pts.value(method, context), call, context)
        if len(found) > 1 and alternatives.picks(pts.project, method, context.function):
            alternatives.note(pts.project, found)
        return library_registries.remade(pts, found, call, context)
    # The owner is evaluated once: twice for each link of a chain of calls would double with every link.
    owners = pts.value(method.value, context)
    callees = pts.attributes(owners, method.name)
    registered = (
        library_registries.built(pts, call, method, owners, context)
        if method.name in registries.REGISTRY_METHODS
        else {}
    )
    # The code of a registry mixes what all registries of its class hold.
    found = registered or _of_callees(pts, callees, call, context)
    if len(callees) > 1 and alternatives.is_overridden(pts.project, callees):
        alternatives.note(pts.project, found)
    found = union([found, _of_method(pts, method, owners, call, context, resolved=bool(callees))])
    return library_registries.remade(pts, found, call, context)


def _of_callees(pts: PointsTo, callees: ValueSet, call: Call, context: Context) -> ValueSet:
    parts = [
        at_best(_of_callee(pts, bound, call, context), confidence)
        for callee, confidence in callees.items()
        for bound in contexts.bind_receiver(pts, callee, call, context)
    ]
    return union(parts)


def _of_callee(pts: PointsTo, callee: Value, call: Call, context: Context) -> ValueSet:
    match callee:
        case ClassValue(ref) if ref.name in LAZY_CALLS and (first := _first(call)) is not None:
            return pts.value(first, context)
        case ClassValue(ref):
            if later := partial_object(pts, ref, call, context):
                return later
            made = construct.constructed_values(pts, ref, call, context)
            if (kind := containers.kind_of(pts.project, ref)) is None:
                return made
            return union([made, containers.of_modules(pts, kind, _first(call), call, context)])
        case FunctionValue(ref, receiver):
            if own := built_by_project(pts, ref, call, context):
                return own
            found = contexts.without_others(
                pts,
                pts.returns(
                    ref,
                    receiver,
                    contexts.bind_arguments(pts, ref, call, context),
                    contexts.written_out(pts.project, ref, call, context),
                ),
                ref,
                call,
                context,
            )
            if any(isinstance(value, ConfigKey) for value in found):
                return {
                    value: confidence
                    for value, confidence in found.items()
                    if not isinstance(value, ConfigKey)
                }
            return found
        case ExternalSymbol(dotted) | Compiled(dotted):
            return _of_external(pts, dotted, call, context)
        case Container(records.CLASS, _, names):
            return records.named_tuple(pts, names, call, context)
        case Instance(ref) if not pts.project.is_module(ref):  # what a module gives is no module
            method = pts.project.method(ref, "__call__")
            return _of_callee(pts, FunctionValue(method, ref), call, context) if method is not None else EMPTY
    return EMPTY


def _of_external(pts: PointsTo, dotted: str, call: Call, context: Context) -> ValueSet:
    first = _first(call)
    last = dotted.rpartition(".")[2]
    if dotted in knowledge.names("disable"):
        return EMPTY
    if dotted == COMPILE and first is None:
        return {ExternalSymbol(COMPILE): Confidence.CERTAIN}
    if dotted == "typing.cast" and len(call.arguments) == 2:
        return typed(pts.project, call.arguments[0], context)
    if through := passed_through(dotted, call.arguments, first):
        passed = union(pts.value(one, context) for one in through)
        return compiled(passed, context.function.path, call.line) if dotted == COMPILE else passed
    if dotted in _SCRIPTING and first is not None:
        return {
            v: confidence
            for v, confidence in pts.value(first, context).items()
            if isinstance(v, FunctionValue)
        }
    if dotted in _ENGINE:
        model = dict(call.keywords).get("model", next(iter(call.arguments[1:]), ir.UNKNOWN))
        return {Container("tuple", (freeze(pts.value(model, context)),)): Confidence.LIKELY}
    if dotted in BUILDERS:
        description = first or dict(call.keywords).get("config")
        return built(pts, description, context) if description is not None else EMPTY
    whole = dotted == _IMPORT and ("fromlist" in dict(call.keywords) or len(call.arguments) > 3)
    if (dotted in LOCATORS or whole) and first is not None:
        names = union([pts.value(first, context), words_in_config(pts, first, context)])
        meant = located(pts, names, context.function.path)
        return meant or classes_in_config(pts, first, context)
    if dotted == "types.MethodType" and len(call.arguments) == 2:
        return _bound_to(pts, pts.before(call.arguments[0], context, call), call.arguments[1], context)
    if entry_points.is_lookup(dotted):
        return entry_points.entry_points(pts, call, context)
    if dotted == entry_points.POINT:
        return entry_points.entry_point(pts, call, context)
    if dotted in DESCRIPTIONS and first is not None:
        return pts.value(first, context)
    if dotted.startswith("torch.nn.") and last in MODULE_CONTAINERS:
        return containers.of_modules(pts, MODULE_CONTAINERS[last], first, call, context)
    if last in COLLECTIONS and first is not None and call.arguments:
        return records.copied(last, pts.value(first, context))
    if last in ("dict", "OrderedDict") and call.keywords:
        return containers.keyed(pts, call, context)
    if (record := records.of_library(pts, dotted, call, context)) is not None:
        return record
    if dotted == module_namespace.MEMBERS and first is not None:
        only = ExternalSymbol(_IS_CLASS) in pts.value(next(iter(call.arguments[1:]), ir.UNKNOWN), context)
        return module_namespace.members(pts, pts.value(first, context), only_classes=only)
    if dotted in records.FIELDS:
        return _default(pts, call, context)
    if dotted == "torch.nn.Module":
        return {AnonymousModule(context.function.path, call.line): Confidence.CERTAIN}
    if dotted == "functools.reduce" and call.arguments[:1] == (ir.Name("getattr"),):
        return module_tree.submodule_along(pts, call.arguments[1:], context)
    if dotted in iterables.NAMES:
        return iterables.of_call(
            pts, dotted.removeprefix("builtins.").removeprefix("itertools."), call, context
        )
    if not dotted.startswith("builtins."):
        made: ValueSet = (
            {ExternalInstance(dotted): Confidence.CERTAIN}
            if last[:1].isupper() or dotted in LOADERS
            else EMPTY
        )
        if not made and (registered := library_registries.created_by_library(pts, dotted, call, context)):
            return registered
        if last.endswith(library_registries.CLASS):
            return {**made, LibraryRegistry(context.function.path, call.line): Confidence.CERTAIN}
        return union([made, run_by(pts, dotted, call, first, context)]) if made else made
    return _of_builtin(pts, last, call, context)


def _default(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The default of a declared field: `field(default_factory=Part)`."""
    name, value = next((row for row in call.keywords if row[0] in records.DEFAULTS), ("", ir.UNKNOWN))
    found = pts.value(value, context)
    return found if name == "default" else _of_callees(pts, found, Call(value), context)


def _of_builtin(pts: PointsTo, name: str, call: Call, context: Context) -> ValueSet:
    match name, call.arguments:
        case "super", _:
            return _parent(pts, context)
        case "globals", ():
            return {File(context.function.path): Confidence.CERTAIN}
        case "eval", (source, *_):
            return _evaluated(pts, source, context)
        case "vars", (owner,):
            return {
                v: confidence for v, confidence in pts.value(owner, context).items() if isinstance(v, File)
            }
        case "type", (value,):
            instances = pts.value(value, context).items()
            return {ClassValue(v.ref): confidence for v, confidence in instances if isinstance(v, Instance)}
        case "getattr", (owner, name_expr, *default):
            # The default is for when the attribute is missing; nothing says that it ever is.
            fallback = (pts.guessed(pts.value(d, context)) for d in default)
            return union(
                [named_attribute(pts, pts.value(owner, context), name_expr, context, owner), *fallback]
            )
    return EMPTY


def named_attribute(
    pts: PointsTo, owners: ValueSet, name: Expr, context: Context, owner: Expr = ir.UNKNOWN
) -> ValueSet:
    """`getattr(owner, name)`, by the texts that the name is known to be."""
    texts = {v.value: confidence for v, confidence in pts.value(name, context).items() if isinstance(v, Text)}
    if isinstance(name, ir.Name) and not texts:  # declared as `str`, it is followed nowhere else
        written = arguments.written_out(pts, context.function, name.id, strict=False) or ()
        texts = {text: Confidence.LIKELY for text in written if isinstance(text, str)}
    if isinstance(name, ir.Attribute):  # a configuration field: any text it is given anywhere
        texts |= {
            text: Confidence.LIKELY for text in pts.project.strings_passed_as(name.name) if text not in texts
        }
    if not texts and any(isinstance(owner, File) for owner in owners):
        texts = {
            word.value: confidence
            for word, confidence in words_in_config(pts, name, context).items()
            if isinstance(word, Text)
        }
    texts = spelled_out(pts, owners, texts)
    found = union(
        [at_best(pts.attributes(owners, text), confidence) for text, confidence in sorted(texts.items())]
    )
    if texts:
        return pts.capped(found or by_class_name(pts, owner, texts, context))
    if not owners and is_imported_by_name(pts, owner, context):
        return classes_in_config(pts, name, context)
    within = module_tree.children if pts.by_name else module_tree.contents
    inside = [within(pts, v.ref) for v in owners if isinstance(v, Instance)]
    files = [v.path for v in owners if isinstance(v, File)]
    here = context.function.path  # `globals()[name]` asks for what is imported, too
    models = union(
        offered(pts, at, imported=at == here) or module_namespace.listed_modules(pts, at) for at in files
    )
    alternatives.note(pts.project, models)
    return union([*inside, models], Confidence.LIKELY)


def _of_method(
    pts: PointsTo, method: ir.Attribute, owners: ValueSet, call: Call, context: Context, *, resolved: bool
) -> ValueSet:
    """Methods of values the project does not define them for: containers and `nn.Module` itself."""
    parts: list[ValueSet] = []
    for owner, confidence in owners.items():
        match owner:
            case Instance(ref) if not pts.project.method(ref, method.name):
                parts.append(union([_of_module_method(pts, ref, method.name, call, context)], confidence))
            case ClassValue(ref) | SuperProxy(_, ref) if method.name in ALTERNATIVES and not pts.attributes(
                {owner: confidence}, method.name
            ):
                parts.append(
                    {Instance(ref): max(confidence, Confidence.LIKELY)}
                    if pts.project.is_module(ref)
                    else EMPTY
                )
            case ClassValue(ref) if method.name == "__subclasses__":
                below: ValueSet = {
                    ClassValue(subclass): Confidence.LIKELY for subclass in subclasses(pts.project, ref)
                }
                parts.append(each(pts.capped(below)))
            case Container() if method.name in ("values", "copy", *SELF_RETURNING):
                parts.append({owner: confidence})
            case Container() if method.name in ("children", "modules"):
                parts.append({owner: confidence})
            case Container() if method.name in ("items", "named_children", "named_modules"):
                parts.append(containers.pairs(elements({owner: confidence})))
            case Container() if method.name in keywords.TAKING or method.name == "popleft":
                parts.append(elements({owner: confidence}))
            case EntryPoint(held) if method.name in entry_points.LOADING:
                parts.append(union([dict(held)], confidence))
            case File() if method.name in keywords.TAKING and call.arguments:  # `globals().get(name)`
                parts.append(
                    union(
                        [named_attribute(pts, {owner: confidence}, call.arguments[0], context)],
                        Confidence.LIKELY,
                    )
                )
            case File() if method.name in module_namespace.LISTING:
                parts.append(module_namespace.members(pts, {owner: confidence}, named=method.name == "items"))
            case ClassValue() if method.name in records.VALIDATING and not resolved:
                parts.append(records.validated_instances({owner: max(confidence, Confidence.LIKELY)}))
            case Text(text) if method.name in SPLITTERS:
                parts.append(at_best(parts_of(text, method.name, call), confidence))
            case Text(text) if method.name == "format":
                parts.append(worded(pts.project, text, context.function.path))
            case FunctionValue() if method.name == "__get__" and call.arguments:
                parts.append(_bound_to(pts, {owner: confidence}, call.arguments[0], context))
            case ExternalInstance() if method.name in records.PARSERS:
                parts.append({AnonymousModule(context.function.path, call.line): confidence})
            case ExternalInstance() | AnonymousModule() if method.name in SELF_RETURNING:
                parts.append({owner: confidence})
            case ExternalInstance("torch.nn.Module") if method.name in ("children", "modules"):
                parts.append(each({owner: Confidence.POSSIBLE}))
            case ExternalInstance("torch.nn.Module") if method.name in ("named_children", "named_modules"):
                parts.append(containers.pairs({owner: Confidence.POSSIBLE}))
    if not resolved and not parts and method.name in _SET_UPS and call.arguments:
        # fabric.setup(model, optimizer), accelerator.prepare(model): what went in comes out, in order.
        passed = [pts.value(argument, context) for argument in call.arguments]
        whole = Container("tuple", tuple(freeze(p) for p in passed))
        parts.append(union([passed[0], {whole: Confidence.CERTAIN}], Confidence.LIKELY))
    return union(parts)


def _bound_to(pts: PointsTo, functions: ValueSet, instance: Expr, context: Context) -> ValueSet:
    """Functions that are made methods of an instance: in a loop over modules, each method that of its own."""
    owners: list[ClassRef | None] = [v.ref for v in pts.value(instance, context) if isinstance(v, Instance)]
    having: dict[ClassRef, list[ClassRef | None]] = {}
    for owner in owners:
        for part in pts.project.mro(owner) if owner is not None else ():
            having.setdefault(part, []).append(owner)
    found: dict[Value, Confidence] = {}
    for function, confidence in functions.items():
        if isinstance(function, FunctionValue):
            own = pts.project.owner(function.ref)
            for owner in (own and having.get(own)) or owners or [function.receiver]:
                found[function._replace(receiver=owner)] = confidence
    return found


def _of_module_method(pts: PointsTo, ref: ClassRef, name: str, call: Call, context: Context) -> ValueSet:
    if not pts.project.is_module(ref):
        return _built(pts, ref)
    if name in SELF_RETURNING:
        return {Instance(ref): Confidence.CERTAIN}
    if name in ("children", "named_children"):
        found = module_tree.children(pts, ref)
    elif name in ("modules", "named_modules"):
        found = module_tree.descendants(pts, ref)
    elif name == "get_submodule" and call.arguments:
        texts = [v.value for v in pts.value(call.arguments[0], context) if isinstance(v, Text)]
        return union(module_tree.submodule_at(pts, ref, text) for text in texts)
    else:
        return EMPTY
    return containers.pairs(found) if name.startswith("named_") else each(found)


def _built(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """An unknown method of a configuration builds what it configures."""
    built = configured_by(pts.project, ref)
    return {Instance(built): Confidence.LIKELY} if built is not None else EMPTY


def _parent(pts: PointsTo, context: Context) -> ValueSet:
    owner = pts.project.owner(context.function)
    if owner is None:
        return EMPTY
    return {SuperProxy(owner, context.receiver or owner): Confidence.CERTAIN}


_FIRST = ("model", "module", "modules", "func", "encoder_layer", "decoder_layer")
"""By which keyword libraries take what they wrap."""


def _first(call: Call) -> Expr | None:
    if call.arguments:
        first = call.arguments[0]
        return None if isinstance(first, ir.Element) else first
    return next((value for name, value in call.keywords if name in _FIRST), None)


_SOURCE = re.compile(r"(?P<name>\*|[A-Za-z_][\w.]*)(?P<call>\(.*\))?", re.DOTALL)
"""A dotted name, or `*` for one that only the run knows, and what it may be called with."""


def _evaluated(pts: PointsTo, source: Expr, context: Context) -> ValueSet:
    """The values of `eval(source)`, for the strings that the source is known to be."""
    texts = {v.value for v in pts.value(source, context) if isinstance(v, Text)}
    if isinstance(source, ir.Attribute) and not texts:  # a configuration field: any text it is given anywhere
        texts = set(pts.project.strings_passed_as(source.name))
    found = (_of_source(pts, text, context) for text in sorted(texts or {"*"}))
    return pts.capped(union(found, Confidence.LIKELY))


def _of_source(pts: PointsTo, text: str, context: Context) -> ValueSet:
    source = _SOURCE.fullmatch(text.strip())
    if source is None:
        return EMPTY
    here, names = File(context.function.path), source["name"].split(".")
    if names == ["*"]:
        found = offered(pts, here.path, imported=True)
        alternatives.note(pts.project, found)
    else:
        found = pts.attributes({here: Confidence.CERTAIN}, names[0])
        for name in names[1:]:
            found = pts.attributes(found, name)
    return union(_called(pts, value, context) for value in found) if source["call"] else found


def _called(pts: PointsTo, value: Value, context: Context) -> ValueSet:
    match value:
        case ClassValue(ref):
            return {Instance(ref): Confidence.LIKELY}
        case FunctionValue(ref, receiver) if ref != context.function:
            return pts.returns(ref, receiver)
    return EMPTY
