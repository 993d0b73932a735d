"""What a call gives back: constructors, factories, containers, and library calls that pass things on."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Call, Expr
from dynamo_lint.program.refs import COMPILE, DISABLERS, ClassRef, External, File, Tier
from dynamo_lint.regions import (
    based,
    choices,
    containers,
    contexts,
    entrypoints,
    iterables,
    keywords,
    listing,
    newly,
    picked,
    records,
    registries,
    submodules,
)
from dynamo_lint.regions.abstract import ALTERNATIVES, heirs
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.builders import BUILDERS, DESCRIPTIONS, LAZY_CALL, built, built_by_own
from dynamo_lint.regions.compiling import compiled
from dynamo_lint.regions.containers import MODULE_CONTAINERS
from dynamo_lint.regions.delayed import delayed
from dynamo_lint.regions.factories import offered
from dynamo_lint.regions.flow import configured_by
from dynamo_lint.regions.modules import SELF_RETURNING
from dynamo_lint.regions.outside import run_by
from dynamo_lint.regions.passing import COLLECTIONS, passed_through
from dynamo_lint.regions.settings import named_in_settings, said
from dynamo_lint.regions.texts import (
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
from dynamo_lint.regions.values import (
    EMPTY,
    Bare,
    ClassValue,
    Compiled,
    Foreign,
    FunctionValue,
    Group,
    Instance,
    Kept,
    Key,
    Loadable,
    Parent,
    Scope,
    Text,
    Value,
    Values,
    at_best,
    each,
    elements,
    freeze,
    union,
)
from dynamo_lint.values.points_to import Evaluation

_CONTEXTS = frozenset(
    External(f"torch.{name}")
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


def of_call(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """The values a call may return."""
    method = call.function
    if isinstance(method, Call) and call.arguments:
        around = ev.project.symbols(method.function, scope.function.path, scope.function.key)
        if not _CONTEXTS.isdisjoint(around):
            return ev.value(call.arguments[0], scope)
    if not isinstance(method, facts.Attribute):
        found = _of_callees(ev, ev.value(method, scope), call, scope)
        if len(found) > 1 and choices.picks(ev.project, method, scope.function):
            choices.note(ev.project, found)
        return registries.remade(ev, found, call, scope)
    # The owner is evaluated once: twice for each link of a chain of calls would double with every link.
    owners = ev.value(method.value, scope)
    callees = ev.attributes(owners, method.name)
    registered = (
        registries.built(ev, call, method, owners, scope) if method.name in registries.METHODS else {}
    )
    # The code of a registry mixes what all registries of its class hold.
    found = registered or _of_callees(ev, callees, call, scope)
    if len(callees) > 1 and choices.is_overridden(ev.project, callees):
        choices.note(ev.project, found)
    found = union([found, _of_method(ev, method, owners, call, scope, resolved=bool(callees))])
    return registries.remade(ev, found, call, scope)


def _of_callees(ev: Evaluation, callees: Values, call: Call, scope: Scope) -> Values:
    parts = [
        at_best(_of_callee(ev, bound, call, scope), tier)
        for callee, tier in callees.items()
        for bound in contexts.bound(ev, callee, call, scope)
    ]
    return union(parts)


def _of_callee(ev: Evaluation, callee: Value, call: Call, scope: Scope) -> Values:
    match callee:
        case ClassValue(ref) if ref.name == LAZY_CALL and (first := _first(call)) is not None:
            return ev.value(first, scope)
        case ClassValue(ref):
            if later := delayed(ev, ref, call, scope):
                return later
            made = newly.made(ev, ref, call, scope)
            if (kind := containers.kind_of(ev.project, ref)) is None:
                return made
            return union([made, containers.of_modules(ev, kind, _first(call), call, scope)])
        case FunctionValue(ref, receiver):
            if own := built_by_own(ev, ref, call, scope):
                return own
            found = contexts.without_others(
                ev, ev.returns(ref, receiver, contexts.given(ev, ref, call, scope)), ref, call, scope
            )
            if any(isinstance(value, Key) for value in found):
                return {value: tier for value, tier in found.items() if not isinstance(value, Key)}
            return found
        case External(dotted) | Compiled(dotted):
            return _of_external(ev, dotted, call, scope)
        case Group(records.CLASS, _, names):
            return records.made(ev, names, call, scope)
        case Instance(ref) if not ev.project.is_module(ref):  # what a module gives is no module
            method = ev.project.method(ref, "__call__")
            return _of_callee(ev, FunctionValue(method, ref), call, scope) if method is not None else EMPTY
    return EMPTY


def _of_external(ev: Evaluation, dotted: str, call: Call, scope: Scope) -> Values:
    first = _first(call)
    last = dotted.rpartition(".")[2]
    if dotted in DISABLERS:
        return EMPTY
    if dotted == COMPILE and first is None:
        return {External(COMPILE): Tier.CERTAIN}
    if dotted == "typing.cast" and len(call.arguments) == 2:
        return typed(ev.project, call.arguments[0], scope)
    if through := passed_through(dotted, call.arguments, first):
        passed = union(ev.value(one, scope) for one in through)
        return compiled(passed, scope.function.path, call.line) if dotted == COMPILE else passed
    if dotted in _SCRIPTING and first is not None:
        return {v: tier for v, tier in ev.value(first, scope).items() if isinstance(v, FunctionValue)}
    if dotted == _ENGINE:
        model = dict(call.keywords).get("model", next(iter(call.arguments[1:]), facts.UNKNOWN))
        return {Group("tuple", (freeze(ev.value(model, scope)),)): Tier.LIKELY}
    if dotted in BUILDERS:
        description = first or dict(call.keywords).get("config")
        return built(ev, description, scope) if description is not None else EMPTY
    whole = dotted == _IMPORT and ("fromlist" in dict(call.keywords) or len(call.arguments) > 3)
    if (dotted in LOCATORS or whole) and first is not None:
        names = union([ev.value(first, scope), said(ev, first, scope)])
        meant = located(ev, names, scope.function.path)
        return meant or named_in_settings(ev, first, scope)
    if dotted == "types.MethodType" and len(call.arguments) == 2:
        return _bound_to(ev, ev.before(call.arguments[0], scope, call), call.arguments[1], scope)
    if entrypoints.finds(dotted):
        return entrypoints.found(ev, call, scope)
    if dotted == entrypoints.POINT:
        return entrypoints.made(ev, call, scope)
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
    if dotted == listing.MEMBERS and first is not None:
        only = External(_IS_CLASS) in ev.value(next(iter(call.arguments[1:]), facts.UNKNOWN), scope)
        return listing.members(ev, ev.value(first, scope), only_classes=only)
    if dotted in records.FIELDS:
        return _default(ev, call, scope)
    if dotted == "torch.nn.Module":
        return {Bare(scope.function.path, call.line): Tier.CERTAIN}
    if dotted == "functools.reduce" and call.arguments[:1] == (facts.Name("getattr"),):
        return submodules.along(ev, call.arguments[1:], scope)
    if dotted in iterables.NAMES:
        return iterables.of_call(ev, dotted.removeprefix("builtins.").removeprefix("itertools."), call, scope)
    if not dotted.startswith("builtins."):
        made: Values = {Foreign(dotted): Tier.CERTAIN} if last[:1].isupper() or dotted in LOADERS else EMPTY
        if not made and (registered := registries.made_by_library(ev, dotted, call, scope)):
            return registered
        if last.endswith(registries.CLASS):
            return {**made, Kept(scope.function.path, call.line): Tier.CERTAIN}
        return union([made, run_by(ev, dotted, call, first, scope)]) if made else made
    return _of_builtin(ev, last, call, scope)


def _default(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """What a declared field holds unless it is given something: `field(default_factory=Part)`."""
    name, value = next((row for row in call.keywords if row[0] in records.DEFAULTS), ("", facts.UNKNOWN))
    found = ev.value(value, scope)
    return found if name == "default" else _of_callees(ev, found, Call(value), scope)


def _of_builtin(ev: Evaluation, name: str, call: Call, scope: Scope) -> Values:
    match name, call.arguments:
        case "super", _:
            return _parent(ev, scope)
        case "globals", ():
            return {File(scope.function.path): Tier.CERTAIN}
        case "vars", (owner,):
            return {v: tier for v, tier in ev.value(owner, scope).items() if isinstance(v, File)}
        case "type", (_, facts.Display("tuple", bases), _):
            return based.made(ev, bases, scope)
        case "type", (value,):
            instances = ev.value(value, scope).items()
            return {ClassValue(v.ref): tier for v, tier in instances if isinstance(v, Instance)}
        case "getattr", (owner, name_expr, *default):
            # The default is for when the attribute is missing; nothing says that it ever is.
            fallback = (ev.guessed(ev.value(d, scope)) for d in default)
            return union([named(ev, ev.value(owner, scope), name_expr, scope, owner), *fallback])
    return EMPTY


def named(ev: Evaluation, owners: Values, name: Expr, scope: Scope, owner: Expr = facts.UNKNOWN) -> Values:
    """`getattr(owner, name)`, by the texts that the name is known to be."""
    texts = {v.value: tier for v, tier in ev.value(name, scope).items() if isinstance(v, Text)}
    if isinstance(name, facts.Name) and not texts:  # declared as `str`, it is followed nowhere else
        written = picked.written_out(ev, scope.function, name.id, strict=False) or ()
        texts = {text: Tier.LIKELY for text in written if isinstance(text, str)}
    if isinstance(name, facts.Attribute):  # a configuration field: any text it is given anywhere
        texts |= {text: Tier.LIKELY for text in ev.project.texts_of(name.name) if text not in texts}
    if not texts and any(isinstance(owner, File) for owner in owners):
        texts = {word.value: tier for word, tier in said(ev, name, scope).items() if isinstance(word, Text)}
    texts = spelled_out(ev, owners, texts)
    found = union([at_best(ev.attributes(owners, text), tier) for text, tier in sorted(texts.items())])
    if texts:
        return ev.capped(found or by_class_name(ev, owner, texts, scope))
    if not owners and is_imported_by_name(ev, owner, scope):
        return named_in_settings(ev, name, scope)
    within = submodules.children if ev.hanging else submodules.contents
    inside = [within(ev, v.ref) for v in owners if isinstance(v, Instance)]
    files = [v.path for v in owners if isinstance(v, File)]
    here = scope.function.path  # `globals()[name]` asks for what is imported, too
    models = union(offered(ev, at, imported=at == here) or listing.modules_of(ev, at) for at in files)
    choices.note(ev.project, models)
    return union([*inside, models], Tier.LIKELY)


def _of_method(
    ev: Evaluation, method: facts.Attribute, owners: Values, call: Call, scope: Scope, *, resolved: bool
) -> Values:
    """Methods of values the project does not define them for: containers and `nn.Module` itself."""
    parts: list[Values] = []
    for owner, tier in owners.items():
        match owner:
            case Instance(ref) if not ev.project.method(ref, method.name):
                parts.append(union([_of_module_method(ev, ref, method.name, call, scope)], tier))
            case ClassValue(ref) | Parent(_, ref) if method.name in ALTERNATIVES and not ev.attributes(
                {owner: tier}, method.name
            ):
                parts.append({Instance(ref): max(tier, Tier.LIKELY)} if ev.project.is_module(ref) else EMPTY)
            case ClassValue(ref) if method.name == "__subclasses__":
                below: Values = {ClassValue(heir): Tier.LIKELY for heir in heirs(ev.project, ref)}
                parts.append(each(ev.capped(below)))
            case Group() if method.name in ("values", "copy", *SELF_RETURNING):
                parts.append({owner: tier})
            case Group() if method.name in ("children", "modules"):
                parts.append({owner: tier})
            case Group() if method.name in ("items", "named_children", "named_modules"):
                parts.append(containers.pairs(elements({owner: tier})))
            case Group() if method.name in keywords.TAKING or method.name == "popleft":
                parts.append(elements({owner: tier}))
            case Loadable(held) if method.name in entrypoints.LOADING:
                parts.append(union([dict(held)], tier))
            case File() if method.name in keywords.TAKING and call.arguments:  # `globals().get(name)`
                parts.append(union([named(ev, {owner: tier}, call.arguments[0], scope)], Tier.LIKELY))
            case File() if method.name in listing.LISTING:
                parts.append(listing.members(ev, {owner: tier}, named=method.name == "items"))
            case ClassValue() if method.name in records.VALIDATING and not resolved:
                parts.append(records.instances({owner: max(tier, Tier.LIKELY)}))
            case Text(text) if method.name in SPLITTERS:
                parts.append(at_best(parts_of(text, method.name, call), tier))
            case Text(text) if method.name == "format":
                parts.append(worded(ev.project, text, scope.function.path))
            case FunctionValue() if method.name == "__get__" and call.arguments:
                parts.append(_bound_to(ev, {owner: tier}, call.arguments[0], scope))
            case Foreign() if method.name in records.PARSERS:
                parts.append({Bare(scope.function.path, call.line): tier})
            case Foreign() | Bare() if method.name in SELF_RETURNING:
                parts.append({owner: tier})
            case Foreign("torch.nn.Module") if method.name in ("children", "modules"):
                parts.append(each({owner: Tier.ASSUMED}))
            case Foreign("torch.nn.Module") if method.name in ("named_children", "named_modules"):
                parts.append(containers.pairs({owner: Tier.ASSUMED}))
    if not resolved and not parts and method.name in _SET_UPS and call.arguments:
        # fabric.setup(model, optimizer), accelerator.prepare(model): what went in comes out, in order.
        passed = [ev.value(argument, scope) for argument in call.arguments]
        whole = Group("tuple", tuple(freeze(p) for p in passed))
        parts.append(union([passed[0], {whole: Tier.CERTAIN}], Tier.LIKELY))
    return union(parts)


def _bound_to(ev: Evaluation, functions: Values, instance: Expr, scope: Scope) -> Values:
    """Functions that are made methods of an instance: in a loop over modules, each method that of its own."""
    owners: list[ClassRef | None] = [v.ref for v in ev.value(instance, scope) if isinstance(v, Instance)]
    having: dict[ClassRef, list[ClassRef | None]] = {}
    for owner in owners:
        for part in ev.project.mro(owner) if owner is not None else ():
            having.setdefault(part, []).append(owner)
    found: dict[Value, Tier] = {}
    for function, tier in functions.items():
        if isinstance(function, FunctionValue):
            own = ev.project.owner(function.ref)
            for owner in (own and having.get(own)) or owners or [function.receiver]:
                found[function._replace(receiver=owner)] = tier
    return found


def _of_module_method(ev: Evaluation, ref: ClassRef, name: str, call: Call, scope: Scope) -> Values:
    if not ev.project.is_module(ref):
        return _built(ev, ref)
    if name in SELF_RETURNING:
        return {Instance(ref): Tier.CERTAIN}
    if name in ("children", "named_children"):
        found = submodules.children(ev, ref)
    elif name in ("modules", "named_modules"):
        found = submodules.descendants(ev, ref)
    elif name == "get_submodule" and call.arguments:
        texts = [v.value for v in ev.value(call.arguments[0], scope) if isinstance(v, Text)]
        return union(submodules.below(ev, ref, text) for text in texts)
    else:
        return EMPTY
    return containers.pairs(found) if name.startswith("named_") else each(found)


def _built(ev: Evaluation, ref: ClassRef) -> Values:
    """An unknown method of a configuration builds what it configures."""
    built = configured_by(ev.project, ref)
    return {Instance(built): Tier.LIKELY} if built is not None else EMPTY


def _parent(ev: Evaluation, scope: Scope) -> Values:
    owner = ev.project.owner(scope.function)
    if owner is None:
        return EMPTY
    return {Parent(owner, scope.receiver or owner): Tier.CERTAIN}


_FIRST = ("model", "module", "modules", "func", "encoder_layer", "decoder_layer")
"""By which keyword libraries take what they wrap."""


def _first(call: Call) -> Expr | None:
    if call.arguments:
        first = call.arguments[0]
        return None if isinstance(first, facts.Element) else first
    return next((value for name, value in call.keywords if name in _FIRST), None)
