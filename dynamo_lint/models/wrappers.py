"""Library objects that run the modules they are made with, or that are put into them later."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.calls.hooks import FORWARD_HOOKS
from dynamo_lint.index.ir import Attribute, Call, CallSite, Element, Expr, Name, Narrowed, Store, Subscript
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of, itself
from dynamo_lint.program.classes import inherits_code
from dynamo_lint.program.deferred_calls import SPECS
from dynamo_lint.program.project import ZOOS
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    flattened,
    functions_in,
    union,
)
from dynamo_lint.values.module_tree import children
from dynamo_lint.values.points_to import PointsTo

_WRAPPERS = ("Module", "Wrapper", "Parallel")
"""What classes of libraries end in whose instances call what they are given first: `TensorDictModule(f)`."""
_CHAIN = "Sequential"
"""What classes of libraries end in whose instances call all they are given: `TensorDictSequential(a, b)`."""
_RUNNING = ("torchrl.modules.", "torchrl.objectives.")
"""Libraries whose policies and losses call every network that they are given, by whichever keyword."""
UNWRAPPING = frozenset({"unwrap_model", "extract_model_from_parallel"})
"""Functions of accelerate and transformers that give back the module inside of a DDP or the like."""
_STACKS = ("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder")
"""What calls copies of the layer that it is given first (torch/nn/modules/transformer.py)."""
_NO_LAYERS = re.compile(r"loss|criteri|metric|optim|callback|schedul", re.IGNORECASE)
"""What parameters are called that judge or train a model: no forward runs what they are given."""


def wraps(dotted: str) -> bool:
    """Whether an instance of a library's class calls what it is given."""
    return dotted in _STACKS or (dotted.endswith((*_WRAPPERS, _CHAIN)) and not dotted.startswith("torch.nn."))


def run_by(ev: PointsTo, dotted: str, call: Call, first: Expr | None, scope: Context) -> ValueSet:
    """What of ours an object of a library runs that a call makes; `first` is what it is made with first."""
    handlers = _handlers(ev, call, scope)
    if dotted.startswith("deepspeed.") and dotted.rpartition(".")[2] in SPECS:
        return union([handlers, _specified(ev, SPECS[dotted.rpartition(".")[2]], call, scope)])
    if dotted.startswith(ZOOS) and not wraps(dotted):
        made = [_modules_built_from(ev, values) for values in _given(ev, call, scope)]
        return union([handlers, *made], Confidence.LIKELY)
    if dotted.endswith(_CHAIN) or dotted.startswith(_RUNNING):
        return union([handlers, composing(ev, call, scope)], Confidence.LIKELY)
    return union([handlers, _wrapped(ev, call, first, scope)]) if wraps(dotted) else handlers


def _wrapped(ev: PointsTo, call: Call, first: Expr | None, scope: Context) -> ValueSet:
    """What a wrapper calls when it is called: what it is given first, and the layers of a list."""
    given = ev.value(first, scope) if first is not None else EMPTY
    alone: ValueSet = {v: t for v, t in given.items() if isinstance(v, FunctionValue) or _is_ours(ev, v)}
    return union([alone, *(_layers(ev, values) for values in _given(ev, call, scope))], Confidence.LIKELY)


def _specified(ev: PointsTo, position: int, call: Call, scope: Context) -> ValueSet:
    """The layer that a description stands for, `LayerSpec(Block, dim)`, and what is called in its place."""
    classes = [ev.value(given, scope) for given in call.arguments[position : position + 1]]
    made: ValueSet = {
        Instance(v.ref): tier for v, tier in union(classes).items() if isinstance(v, ClassValue)
    }
    instead = [ev.value(value, scope) for name, value in call.keywords if name == "forward_fn"]
    return union([made, functions_in(union(instead))], Confidence.LIKELY)


def _handlers(ev: PointsTo, call: Call, scope: Context) -> ValueSet:
    """What an object of a library is made with, for it to call: `Attention(processor=Mine())`."""
    found: dict[Value, Confidence] = {}
    for given in arguments_of(call):
        if isinstance(given, Call):
            for symbol in ev.project.symbols(given.function, scope.function.path, scope.function.key):
                if isinstance(symbol, ClassRef) and ev.project.method(symbol, "__call__") is not None:
                    found |= {} if ev.project.is_module(symbol) else {Instance(symbol): Confidence.LIKELY}
    return found


def composing(ev: PointsTo, call: Call, scope: Context) -> ValueSet:
    """The modules that a call hands a library's constructor, or their classes, and the layers of lists."""
    given = list(_given(ev, call, scope))
    alone: list[ValueSet] = [{v: t for v, t in values.items() if _is_ours(ev, v)} for values in given]
    alone += [_modules_built_from(ev, values) for values in given]
    # Of what one parameter may get, one runs; of the layers in a list, all do, however many they are.
    return union([ev.capped(union(alone)), *(_layers(ev, values) for values in given)], Confidence.LIKELY)


def _modules_built_from(ev: PointsTo, values: ValueSet) -> ValueSet:
    """The modules that a library makes of classes it is handed: `ResNet(Block, [2, 2])`."""
    classes = {v: tier for v, tier in values.items() if isinstance(v, ClassValue)}
    return {Instance(v.ref): tier for v, tier in classes.items() if ev.project.is_module(v.ref)}


def _given(ev: PointsTo, call: Call, scope: Context) -> Iterator[ValueSet]:
    """What a call passes, piece by piece, but for what judges or trains a model."""
    yield from (ev.value(argument, scope) for argument in call.arguments)
    for name, value in call.keywords:
        if name is not None and not _NO_LAYERS.search(name):
            yield ev.value(value, scope)
        for held in ev.value(value, scope) if name is None else ():
            if isinstance(held, Container):
                rows = zip(held.keys, held.items, strict=False)
                yield from (dict(item) for key, item in rows if key is None or not _NO_LAYERS.search(key))


def _layers(ev: PointsTo, values: ValueSet) -> ValueSet:
    """What lists hold that a forward runs one after the other: functions too."""
    found: list[ValueSet] = []
    for value, tier in values.items():
        if isinstance(value, Container) and value.kind != "dict":
            inner = union((dict(item) for item in value.items), tier)
            found.append({v: t for v, t in inner.items() if isinstance(v, FunctionValue) or _is_ours(ev, v)})
            found.append(_layers(ev, inner))
    return union(found)


def _is_ours(ev: PointsTo, value: Value) -> bool:
    return isinstance(value, Instance) and ev.holds_module(value)


_MOST = 60
"""Places that one module is followed to."""
_DEEPEST = 4
_WHOLE = ("forward", "__call__")
_PROCESSORS = ("set_attn_processor", "set_processor")
"""How modules of diffusers are given what they call (diffusers/models/attention_processor.py)."""
PROCESSOR = "processor"
_MOVING = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16", "requires_grad_"})
_Place = tuple[Context, Expr]


def put_into_library(ev: PointsTo, target: Expr, scope: Context) -> ValueSet:
    """Our modules and functions that are put into the object that an expression names, as likely."""
    if isinstance(target, Attribute) and target.name in _WHOLE:
        target = target.value
    pending, seen = [((scope, target), True)], {(scope, target)}
    found = [_patched(ev, ev.value(target, scope))]
    while pending:
        place, rises = pending.pop()
        found.append(_put_into(ev, place))
        # What others hand to a helper that is handed the object here is none of it.
        around = _same(ev, place, rises)
        for other, may_rise in [*around, *((one, False) for one in _parameters_receiving(ev, place))]:
            if other not in seen and len(seen) < _MOST:
                seen.add(other)
                pending.append((other, may_rise))
    return union(found, Confidence.LIKELY)


def _put_into(ev: PointsTo, place: _Place) -> ValueSet:
    scope = place[0]
    function = ev.project.function(scope.function)
    found = [_ours(ev, store, scope) for store in function.stores if _leads(ev, store.owner, place)]
    for site in function.calls:
        match site.call:
            case Call(Name("setattr"), (owner, _, value)) if _leads(ev, owner, place):
                found.append(_modules(ev, ev.value(value, scope)))
            case Call(Attribute(owner, name), (value, *_)) if name in _PROCESSORS:
                if _leads(ev, owner, place):
                    found.append(_called(ev, ev.value(value, scope)))
            case Call(Attribute(owner, name), (value, *_)) if name in FORWARD_HOOKS:
                if _leads(ev, owner, place):
                    found.append(functions_in(ev.value(value, scope)))
    return union(found)


def _patched(ev: PointsTo, values: ValueSet) -> ValueSet:
    """What is put in the place of the `forward` of a library's class: `Transformer.forward = mine`."""
    classes = {ExternalSymbol(value.dotted) for value in values if isinstance(value, ExternalInstance)}
    found: list[ValueSet] = []
    for where, store in ev.project.stores_of("forward") if classes else ():
        scope = Context(where, ev.project.owner(where))
        if not classes.isdisjoint(ev.value(store.owner, scope)):
            found.append(functions_in(ev.value(store.value, scope)))
    return union(found)


def _ours(ev: PointsTo, store: Store, scope: Context) -> ValueSet:
    values = ev.value(store.value, scope)
    if store.name in _WHOLE:
        return functions_in(values)
    return _called(ev, values) if store.name == PROCESSOR else _modules(ev, values)


def _modules(ev: PointsTo, values: ValueSet) -> ValueSet:
    return {v: t for v, t in flattened(values).items() if isinstance(v, Instance) and ev.holds_module(v)}


def _called(ev: PointsTo, values: ValueSet) -> ValueSet:
    objects = {v: t for v, t in flattened(values).items() if isinstance(v, Instance)}
    return {v: t for v, t in objects.items() if ev.project.method(v.ref, "__call__") or ev.holds_module(v)}


def _leads(ev: PointsTo, expr: Expr, place: _Place, depth: int = 0) -> bool:
    """Whether an expression names the object, a part of it, or an element of what it gives."""
    scope, target = place
    while expr != target:
        match expr:
            case Attribute(inner) | Subscript(inner) | Element(inner) | Narrowed(inner):
                expr = inner
            case Call(Name("enumerate" | "list" | "dict" | "reversed" | "getattr"), (inner, *_)):
                expr = inner
            case Call(Attribute(inner)):
                expr = inner
            case Name(name) if depth < _DEEPEST:
                local = ev.project.locals_of(scope.function).get(name)
                bound = local.bound if local is not None and local.parameter is None else ()
                return any(_leads(ev, value, place, depth + 1) for value in bound if value != expr)
            case _:
                return False
    return True


def _same(ev: PointsTo, place: _Place, rises: bool) -> Iterator[tuple[_Place, bool]]:
    """Other names of the object, and whether to ask who hands it to them."""
    scope, target = place
    base, path = _split(target)
    if path and ev.project.is_self(base, scope.function):
        yield from _in_class(ev, path, scope)
        return
    local = ev.project.locals_of(scope.function).get(base.id) if isinstance(base, Name) else None
    if local is None:
        return
    for value in (itself(one, _MOVING) for one in local.bound):
        yield from (((at, _join(one, path)), up and rises) for (at, one), up in _origin(ev, value, scope))
        if path and isinstance(value, Call):  # `Pipeline.from_pretrained(…, transformer=model)`
            made = (one for key, one in value.keywords if key == path[0])
            yield from (((scope, _join(one, path[1:])), rises) for one in made)
    if local.parameter is not None and rises:
        given = ev.given_to(local.parameter, scope.function)
        yield from (((caller, _join(one, path)), True) for caller, one in given)


def _parameters_receiving(ev: PointsTo, place: _Place) -> Iterator[_Place]:
    """The parameters that calls hand the object to, by itself or within one that has it."""
    scope, target = place
    for site in ev.project.function(scope.function).calls:
        given = arguments_of(site.call)
        for whole, path in _wholes(target):
            for ref in _run(ev, site, scope) if whole in given else ():
                function = ev.project.function(ref)
                for parameter in function.parameters:
                    if argument_for(parameter, function, site.call) == whole:
                        yield Context(ref, ev.project.owner(ref)), _join(Name(parameter.name), path)


def _run(ev: PointsTo, site: CallSite, scope: Context) -> list[FunctionRef]:
    where = scope.function
    symbols: tuple[Symbol, ...] = ev.project.symbols(site.call.function, where.path, where.key)
    if not symbols and not ev.project.is_known(terminal_name(site.call.function) or ""):
        return []
    values: list[Value | Symbol] = [*symbols] or [*ev.value(site.call.function, scope)]
    return [
        v if isinstance(v, FunctionRef) else v.ref
        for v in values
        if isinstance(v, FunctionRef | FunctionValue)
    ]


def _origin(ev: PointsTo, value: Expr, scope: Context) -> Iterator[tuple[_Place, bool]]:
    """Where what a name is bound to comes from: another name, or a function of ours that gives it back."""
    if isinstance(value, Name | Attribute):
        yield (scope, value), True
    for ref in _run(ev, CallSite(value), scope) if isinstance(value, Call) else ():
        at = Context(ref, ev.project.owner(ref))
        yield from (((at, one), False) for one in ev.project.function(ref).returns if isinstance(one, Name))


def _in_class(ev: PointsTo, path: tuple[str, ...], scope: Context) -> Iterator[tuple[_Place, bool]]:
    """The methods of a class that name the same attribute, and what they store there."""
    holder = scope.receiver or ev.project.owner(scope.function)
    for part in ev.project.mro(holder) if holder is not None else ():
        for where, store in ev.project.own_stores(part).get(path[0], ()):
            origins = _origin(ev, itself(store.value, _MOVING), Context(where, holder))
            yield from (((at, _join(one, path[1:])), up) for (at, one), up in origins)
        for key in ev.project.files[part.path].functions:
            where = FunctionRef(part.path, key)
            if ev.project.owner(where) == part and (own := ev.project.self_name(where)) is not None:
                yield (Context(where, holder), _join(Name(own), path)), True


def _split(target: Expr) -> tuple[Expr, tuple[str, ...]]:
    """`a.b.c` as what it begins with and the attributes behind that."""
    path: list[str] = []
    while isinstance(target, Attribute):
        path.insert(0, target.name)
        target = target.value
    return target, tuple(path)


def _wholes(target: Expr) -> Iterator[tuple[Expr, tuple[str, ...]]]:
    path: tuple[str, ...] = ()
    yield target, path
    while isinstance(target, Attribute):
        path, target = (target.name, *path), target.value
        yield target, path


def _join(base: Expr, path: tuple[str, ...]) -> Expr:
    for name in path:
        base = Attribute(base, name)
    return base


_WITHOUT_FORWARD = ("ModuleList", "ModuleDict", "LightningModule", "DataModule")
"""Classes of libraries that leave the forward to others, or have no use for one."""


def wrapped_modules(ev: PointsTo, ref: ClassRef) -> ValueSet:
    """Our modules and layers that a library's forward runs of a class of ours that has no forward itself.

    Which of them it runs is only known to the library, so they are likely at best.
    """
    return ev.ask(("composed", ref), lambda: _wrapped_modules(ev, ref), EMPTY)


def _wrapped_modules(ev: PointsTo, ref: ClassRef) -> ValueSet:
    bases = ev.project.external_bases(ref)
    if not inherits_code(ev.project, ref) or any(base.endswith(_WITHOUT_FORWARD) for base in bases):
        return EMPTY
    handed = [composing(ev, call, scope) for call, scope in _constructions(ev, ref)]
    if ev.project.is_container(ref):  # a Sequential runs whatever is put into it
        handed.append(children(ev, ref))
    return union(handed, Confidence.LIKELY)


def processors(ev: PointsTo, ref: ClassRef) -> list[ClassRef]:
    """What a class of ours gives the library's parts of it to run: `block.attn.processor = Processor()`.

    A module of diffusers calls it (diffusers/models/attention_processor.py: Attention.forward).
    """
    project = ev.project
    if not inherits_code(project, ref):
        return []
    inits = {init for part in project.mro(ref) if (init := project.method(part, "__init__")) is not None}
    given = union(
        ev.value(store.value, Context(init, ref))
        for init in sorted(inits)
        for store in project.function(init).stores
        if store.name == PROCESSOR and not project.is_self(store.owner, init)
    )
    return [value.ref for value in given if isinstance(value, Instance)]


def _constructions(ev: PointsTo, ref: ClassRef) -> list[tuple[Call, Context]]:
    """The calls that reach the constructor of the library: of our class itself, or of its base's in it."""
    project = ev.project
    own = [part for part in project.mro(ref) if "__init__" in project.class_bindings(part)]
    if not own:
        return [(site.call, caller) for caller, site in ev.constructions(ref)]
    last = next((part for part in reversed(own) if project.external_bases(part)), None)
    init = project.method(last, "__init__") if last is not None else None
    found = []
    for site in project.function(init).calls if init is not None else ():
        match site.call.function:
            case Attribute(base, "__init__") if init and _is_library(ev, base, init):
                found.append((site.call, Context(init, ref)))
    return found


def _is_library(ev: PointsTo, base: Expr, where: FunctionRef) -> bool:
    """Whether a constructor is the library's: `super().__init__(…)`, `Base.__init__(self, …)`."""
    if isinstance(base, Call):
        return base.function == Name("super")
    symbols = ev.project.symbols(base, where.path, where.key)
    return bool(symbols) and all(isinstance(symbol, ExternalSymbol) for symbol in symbols)
