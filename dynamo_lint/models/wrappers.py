"""Library objects that run the modules they are made with, or that are put into them later."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls.hooks import FORWARD_HOOKS
from dynamo_lint.calls.runs import may_be_run_by
from dynamo_lint.index.ir import (
    Attribute,
    Call,
    CallSite,
    Constant,
    Element,
    Expr,
    Name,
    Narrowed,
    Store,
    Subscript,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of, itself
from dynamo_lint.program.classes import inherits_code
from dynamo_lint.program.deferred_calls import SPECS
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
    at_best,
    flattened,
    functions_in,
    union,
)
from dynamo_lint.values.module_tree import children
from dynamo_lint.values.points_to import PointsTo

_WRAPPERS = ("Module", "Wrapper", "Parallel")
"""Endings of library classes whose instances call their first argument: `TensorDictModule(f)`."""
_CHAIN = "Sequential"
"""Ending of library classes whose instances call all their arguments: `TensorDictSequential(a, b)`."""
_RUNNING = knowledge.in_order("runs_arguments")
_STACKS = knowledge.names("stacks")
_ZOOS = knowledge.in_order("zoo")
_NO_LAYERS = re.compile(r"loss|criteri|metric|optim|callback|schedul", re.IGNORECASE)
"""Names of parameters that judge or train a model: no forward runs what they are given."""


def wraps(dotted: str) -> bool:
    """Whether an instance of a library's class calls what it is given."""
    return dotted in _STACKS or (dotted.endswith((*_WRAPPERS, _CHAIN)) and not dotted.startswith("torch.nn."))


def run_by(pts: PointsTo, dotted: str, call: Call, first: Expr | None, context: Context) -> ValueSet:
    """The functions of ours that a new library object runs; `first` is its first argument."""
    handlers = _handlers(pts, call, context)
    if dotted.startswith("deepspeed.") and dotted.rpartition(".")[2] in SPECS:
        return union([handlers, _specified(pts, SPECS[dotted.rpartition(".")[2]], call, context)])
    if dotted.startswith(_ZOOS) and not wraps(dotted):
        made = [_modules_built_from(pts, values) for values in _given(pts, call, context)]
        return union([handlers, *made], Confidence.LIKELY)
    if dotted.endswith(_CHAIN) or dotted.startswith(_RUNNING):
        return union([handlers, composing(pts, call, context)], Confidence.LIKELY)
    return union([handlers, _wrapped(pts, call, first, context)]) if wraps(dotted) else handlers


def _wrapped(pts: PointsTo, call: Call, first: Expr | None, context: Context) -> ValueSet:
    """The values that a wrapper calls when it is called: what it is given first, and the layers of a list."""
    given = pts.value(first, context) if first is not None else EMPTY
    alone: ValueSet = {v: t for v, t in given.items() if isinstance(v, FunctionValue) or _is_ours(pts, v)}
    return union([alone, *(_layers(pts, values) for values in _given(pts, call, context))], Confidence.LIKELY)


def _specified(pts: PointsTo, position: int, call: Call, context: Context) -> ValueSet:
    """The layer that a description stands for, `LayerSpec(Block, dim)`, and what is called in its place."""
    classes = [pts.value(given, context) for given in call.arguments[position : position + 1]]
    made: ValueSet = {
        Instance(v.ref): confidence for v, confidence in union(classes).items() if isinstance(v, ClassValue)
    }
    instead = [pts.value(value, context) for name, value in call.keywords if name == "forward_fn"]
    return union([made, functions_in(union(instead))], Confidence.LIKELY)


def _handlers(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The values that an object of a library is made with, for it to call: `Attention(processor=Mine())`."""
    found: dict[Value, Confidence] = {}
    for given in arguments_of(call):
        if isinstance(given, Call):
            for symbol in pts.project.symbols(given.function, context.function.path, context.function.key):
                if isinstance(symbol, ClassRef) and pts.project.method(symbol, "__call__") is not None:
                    found |= {} if pts.project.is_module(symbol) else {Instance(symbol): Confidence.LIKELY}
    return found


def composing(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The modules that a call hands a library's constructor, or their classes, and the layers of lists."""
    given = list(_given(pts, call, context))
    alone: list[ValueSet] = [{v: t for v, t in values.items() if _is_ours(pts, v)} for values in given]
    alone += [_modules_built_from(pts, values) for values in given]
    # Of what one parameter may get, one runs; of the layers in a list, all do, however many they are.
    return union([pts.capped(union(alone)), *(_layers(pts, values) for values in given)], Confidence.LIKELY)


def _modules_built_from(pts: PointsTo, values: ValueSet) -> ValueSet:
    """The modules that a library makes of classes it is handed: `ResNet(Block, [2, 2])`."""
    classes = {v: confidence for v, confidence in values.items() if isinstance(v, ClassValue)}
    return {Instance(v.ref): confidence for v, confidence in classes.items() if pts.project.is_module(v.ref)}


def _given(pts: PointsTo, call: Call, context: Context) -> Iterator[ValueSet]:
    """The values that a call passes, piece by piece, but for what judges or trains a model."""
    yield from (pts.value(argument, context) for argument in call.arguments)
    for name, value in call.keywords:
        if name is not None and not _NO_LAYERS.search(name):
            yield pts.value(value, context)
        for held in pts.value(value, context) if name is None else ():
            if isinstance(held, Container):
                rows = zip(held.keys, held.items, strict=False)
                yield from (dict(item) for key, item in rows if key is None or not _NO_LAYERS.search(key))


def _layers(pts: PointsTo, values: ValueSet) -> ValueSet:
    """The values that lists hold that a forward runs one after the other: functions too."""
    found: list[ValueSet] = []
    for value, confidence in values.items():
        if isinstance(value, Container) and value.kind != "dict":
            inner = union((dict(item) for item in value.items), confidence)
            found.append({v: t for v, t in inner.items() if isinstance(v, FunctionValue) or _is_ours(pts, v)})
            found.append(_layers(pts, inner))
    return union(found)


def _is_ours(pts: PointsTo, value: Value) -> bool:
    return isinstance(value, Instance) and pts.holds_module(value)


_MOST = 60
"""Places that one module is followed to."""
_DEEPEST = 4
_WHOLE = ("forward", "__call__")
_PROCESSORS = knowledge.names("takes_processor")
PROCESSOR = "processor"
_MOVING = knowledge.names("returns_self")
_Place = tuple[Context, Expr]


def put_into_library(pts: PointsTo, target: Expr, context: Context) -> ValueSet:
    """Our modules and functions that are put into the object that an expression names, as likely."""
    if isinstance(target, Attribute) and target.name in _WHOLE:
        target = target.value
    pending, seen = [((context, target), True)], {(context, target)}
    found = [_patched(pts, pts.value(target, context))]
    while pending:
        place, rises = pending.pop()
        runs = may_be_run_by(pts, context.function.path, place[0].function)
        found.append(_put_into(pts, place) if runs else pts.guessed(_put_into(pts, place)))
        # What others hand to a helper that is handed the object here is none of it.
        around = _same(pts, place, rises)
        for other, may_rise in [*around, *((one, False) for one in _parameters_receiving(pts, place))]:
            if other not in seen and len(seen) < _MOST:
                seen.add(other)
                pending.append((other, may_rise))
    return union(found, Confidence.LIKELY)


def _put_into(pts: PointsTo, place: _Place) -> ValueSet:
    context = place[0]
    function = pts.project.function(context.function)
    found = [_ours(pts, store, context) for store in function.stores if _leads(pts, store.owner, place)]
    for site in function.calls:
        match site.call:
            case Call(Name("setattr"), (owner, name, value)) if _leads(pts, owner, place):
                put = _modules(pts, pts.value(value, context))
                # A converter of any model: whether this one gets it, and still has it, nothing shows.
                found.append(put if isinstance(name, Constant) else at_best(put, Confidence.POSSIBLE))
            case Call(Attribute(owner, name), (value, *_)) if name in _PROCESSORS:
                if _leads(pts, owner, place):
                    found.append(_called(pts, pts.value(value, context)))
            case Call(Attribute(owner, name), (value, *_)) if name in FORWARD_HOOKS:
                if _leads(pts, owner, place):
                    found.append(functions_in(pts.value(value, context)))
    return union(found)


def _patched(pts: PointsTo, values: ValueSet) -> ValueSet:
    """The functions that replace the `forward` of a library's class: `Transformer.forward = mine`."""
    classes = {ExternalSymbol(value.dotted) for value in values if isinstance(value, ExternalInstance)}
    found: list[ValueSet] = []
    for where, store in pts.project.stores_of("forward") if classes else ():
        context = Context(where, pts.project.owner(where))
        if not classes.isdisjoint(pts.value(store.owner, context)):
            found.append(functions_in(pts.value(store.value, context)))
    return union(found)


def _ours(pts: PointsTo, store: Store, context: Context) -> ValueSet:
    values = pts.value(store.value, context)
    if store.name in _WHOLE:
        return functions_in(values)
    return _called(pts, values) if store.name == PROCESSOR else _modules(pts, values)


def _modules(pts: PointsTo, values: ValueSet) -> ValueSet:
    return {v: t for v, t in flattened(values).items() if isinstance(v, Instance) and pts.holds_module(v)}


def _called(pts: PointsTo, values: ValueSet) -> ValueSet:
    objects = {v: t for v, t in flattened(values).items() if isinstance(v, Instance)}
    return {v: t for v, t in objects.items() if pts.project.method(v.ref, "__call__") or pts.holds_module(v)}


def _leads(pts: PointsTo, expr: Expr, place: _Place, depth: int = 0) -> bool:
    """Whether an expression names the object, a part of it, or an element of what it gives."""
    context, target = place
    while expr != target:
        match expr:
            case Attribute(inner) | Subscript(inner) | Element(inner) | Narrowed(inner):
                expr = inner
            case Call(Name("enumerate" | "list" | "dict" | "reversed" | "getattr"), (inner, *_)):
                expr = inner
            case Call(Attribute(inner)):
                expr = inner
            case Name(name) if depth < _DEEPEST:
                local = pts.project.locals_of(context.function).get(name)
                bound = local.bound if local is not None and local.parameter is None else ()
                return any(_leads(pts, value, place, depth + 1) for value in bound if value != expr)
            case _:
                return False
    return True


def _same(pts: PointsTo, place: _Place, rises: bool) -> Iterator[tuple[_Place, bool]]:
    """Other names of the object, and whether to ask who hands it to them."""
    context, target = place
    base, path = _split(target)
    if path and pts.project.is_self(base, context.function):
        yield from _in_class(pts, path, context)
        return
    local = pts.project.locals_of(context.function).get(base.id) if isinstance(base, Name) else None
    if local is None:
        return
    for value in (itself(one, _MOVING) for one in local.bound):
        yield from (((at, _join(one, path)), up and rises) for (at, one), up in _origin(pts, value, context))
        if path and isinstance(value, Call):  # `Pipeline.from_pretrained(…, transformer=model)`
            made = (one for key, one in value.keywords if key == path[0])
            yield from (((context, _join(one, path[1:])), rises) for one in made)
    if local.parameter is not None and rises:
        given = pts.given_to(local.parameter, context.function)
        yield from (((caller, _join(one, path)), True) for caller, one in given)


def _parameters_receiving(pts: PointsTo, place: _Place) -> Iterator[_Place]:
    """The parameters that calls hand the object to, by itself or within one that has it."""
    context, target = place
    for site in pts.project.function(context.function).calls:
        given = arguments_of(site.call)
        for whole, path in _wholes(target):
            for ref in _run(pts, site, context) if whole in given else ():
                function = pts.project.function(ref)
                for parameter in function.parameters:
                    if argument_for(parameter, function, site.call) == whole:
                        yield Context(ref, pts.project.owner(ref)), _join(Name(parameter.name), path)


def _run(pts: PointsTo, site: CallSite, context: Context) -> list[FunctionRef]:
    where = context.function
    symbols: tuple[Symbol, ...] = pts.project.symbols(site.call.function, where.path, where.key)
    if not symbols and not pts.project.is_known(terminal_name(site.call.function) or ""):
        return []
    values: list[Value | Symbol] = [*symbols] or [*pts.value(site.call.function, context)]
    return [
        v if isinstance(v, FunctionRef) else v.ref
        for v in values
        if isinstance(v, FunctionRef | FunctionValue)
    ]


def _origin(pts: PointsTo, value: Expr, context: Context) -> Iterator[tuple[_Place, bool]]:
    """The source of what a name is bound to: another name, or a function of ours that gives it back."""
    if isinstance(value, Name | Attribute):
        yield (context, value), True
    for ref in _run(pts, CallSite(value), context) if isinstance(value, Call) else ():
        at = Context(ref, pts.project.owner(ref))
        yield from (((at, one), False) for one in pts.project.function(ref).returns if isinstance(one, Name))


def _in_class(pts: PointsTo, path: tuple[str, ...], context: Context) -> Iterator[tuple[_Place, bool]]:
    """The methods of a class that name the same attribute, and what they store there."""
    holder = context.receiver or pts.project.owner(context.function)
    for part in pts.project.mro(holder) if holder is not None else ():
        for where, store in pts.project.own_stores(part).get(path[0], ()):
            origins = _origin(pts, itself(store.value, _MOVING), Context(where, holder))
            yield from (((at, _join(one, path[1:])), up) for (at, one), up in origins)
        for key in pts.project.files[part.path].functions:
            where = FunctionRef(part.path, key)
            if pts.project.owner(where) == part and (own := pts.project.self_name(where)) is not None:
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


_WITHOUT_FORWARD = ("ModuleList", "ModuleDict", "DataModule", *knowledge.in_order("bare_modules"))
"""Classes of libraries that leave the forward to others, or have no use for one."""


def wrapped_modules(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """Our modules and layers that a library's forward runs of a class of ours that has no forward itself.

    Which of them it runs is only known to the library, so they are likely at best.
    """
    return pts.ask(("composed", ref), lambda: _wrapped_modules(pts, ref), EMPTY)


def _wrapped_modules(pts: PointsTo, ref: ClassRef) -> ValueSet:
    bases = pts.project.external_bases(ref)
    if not inherits_code(pts.project, ref) or any(base.endswith(_WITHOUT_FORWARD) for base in bases):
        return EMPTY
    handed = [composing(pts, call, context) for call, context in _constructions(pts, ref)]
    if pts.project.is_container(ref):  # a Sequential runs whatever is put into it
        handed.append(children(pts, ref))
    return union(handed, Confidence.LIKELY)


def processors(pts: PointsTo, ref: ClassRef) -> list[ClassRef]:
    """The classes of the processors that a class of ours gives a library's parts of it to run:
    `block.attn.processor = Processor()`.

    A module of diffusers calls it (diffusers/models/attention_processor.py: Attention.forward).
    """
    project = pts.project
    if not inherits_code(project, ref):
        return []
    inits = {init for part in project.mro(ref) if (init := project.method(part, "__init__")) is not None}
    given = union(
        pts.value(store.value, Context(init, ref))
        for init in sorted(inits)
        for store in project.function(init).stores
        if store.name == PROCESSOR and not project.is_self(store.owner, init)
    )
    return [value.ref for value in given if isinstance(value, Instance)]


def _constructions(pts: PointsTo, ref: ClassRef) -> list[tuple[Call, Context]]:
    """The calls that reach the constructor of the library: of our class itself, or of its base's in it."""
    project = pts.project
    own = [part for part in project.mro(ref) if "__init__" in project.class_bindings(part)]
    if not own:
        return [(site.call, caller) for caller, site in pts.constructions(ref)]
    last = next((part for part in reversed(own) if project.external_bases(part)), None)
    init = project.method(last, "__init__") if last is not None else None
    found = []
    for site in project.function(init).calls if init is not None else ():
        match site.call.function:
            case Attribute(base, "__init__") if init and _is_library(pts, base, init):
                found.append((site.call, Context(init, ref)))
    return found


def _is_library(pts: PointsTo, base: Expr, where: FunctionRef) -> bool:
    """Whether a constructor is the library's: `super().__init__(…)`, `Base.__init__(self, …)`."""
    if isinstance(base, Call):
        return base.function == Name("super")
    symbols = pts.project.symbols(base, where.path, where.key)
    return bool(symbols) and all(isinstance(symbol, ExternalSymbol) for symbol in symbols)
