"""What of ours an object of a library calls: what it wraps, and what it was made with to be called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.index.facts import Call, Expr
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.program.refs import ClassRef, Tier
from dynamo_lint.regions.later import SPECS
from dynamo_lint.regions.project import ZOOS
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    FunctionValue,
    Group,
    Instance,
    Scope,
    Value,
    Values,
    functions_in,
    union,
)
from dynamo_lint.values.points_to import Evaluation

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


def run_by(ev: Evaluation, dotted: str, call: Call, first: Expr | None, scope: Scope) -> Values:
    """What of ours an object of a library runs that a call makes; `first` is what it is made with first."""
    handlers = _handlers(ev, call, scope)
    if dotted.startswith("deepspeed.") and dotted.rpartition(".")[2] in SPECS:
        return union([handlers, _specified(ev, SPECS[dotted.rpartition(".")[2]], call, scope)])
    if dotted.startswith(ZOOS) and not wraps(dotted):
        made = [_made_of(ev, values) for values in _given(ev, call, scope)]
        return union([handlers, *made], Tier.LIKELY)
    if dotted.endswith(_CHAIN) or dotted.startswith(_RUNNING):
        return union([handlers, composing(ev, call, scope)], Tier.LIKELY)
    return union([handlers, _wrapped(ev, call, first, scope)]) if wraps(dotted) else handlers


def _wrapped(ev: Evaluation, call: Call, first: Expr | None, scope: Scope) -> Values:
    """What a wrapper calls when it is called: what it is given first, and the layers of a list."""
    given = ev.value(first, scope) if first is not None else EMPTY
    alone: Values = {v: t for v, t in given.items() if isinstance(v, FunctionValue) or _is_ours(ev, v)}
    return union([alone, *(_layers(ev, values) for values in _given(ev, call, scope))], Tier.LIKELY)


def _specified(ev: Evaluation, position: int, call: Call, scope: Scope) -> Values:
    """The layer that a description stands for, `LayerSpec(Block, dim)`, and what is called in its place."""
    classes = [ev.value(given, scope) for given in call.arguments[position : position + 1]]
    made: Values = {Instance(v.ref): tier for v, tier in union(classes).items() if isinstance(v, ClassValue)}
    instead = [ev.value(value, scope) for name, value in call.keywords if name == "forward_fn"]
    return union([made, functions_in(union(instead))], Tier.LIKELY)


def _handlers(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """What an object of a library is made with, for it to call: `Attention(processor=Mine())`."""
    found: dict[Value, Tier] = {}
    for given in arguments_of(call):
        if isinstance(given, Call):
            for symbol in ev.project.symbols(given.function, scope.function.path, scope.function.key):
                if isinstance(symbol, ClassRef) and ev.project.method(symbol, "__call__") is not None:
                    found |= {} if ev.project.is_module(symbol) else {Instance(symbol): Tier.LIKELY}
    return found


def composing(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """The modules that a call hands a library's constructor, or their classes, and the layers of lists."""
    given = list(_given(ev, call, scope))
    alone: list[Values] = [{v: t for v, t in values.items() if _is_ours(ev, v)} for values in given]
    alone += [_made_of(ev, values) for values in given]
    # Of what one parameter may get, one runs; of the layers in a list, all do, however many they are.
    return union([ev.capped(union(alone)), *(_layers(ev, values) for values in given)], Tier.LIKELY)


def _made_of(ev: Evaluation, values: Values) -> Values:
    """The modules that a library makes of classes it is handed: `ResNet(Block, [2, 2])`."""
    classes = {v: tier for v, tier in values.items() if isinstance(v, ClassValue)}
    return {Instance(v.ref): tier for v, tier in classes.items() if ev.project.is_module(v.ref)}


def _given(ev: Evaluation, call: Call, scope: Scope) -> Iterator[Values]:
    """What a call passes, piece by piece, but for what judges or trains a model."""
    yield from (ev.value(argument, scope) for argument in call.arguments)
    for name, value in call.keywords:
        if name is not None and not _NO_LAYERS.search(name):
            yield ev.value(value, scope)
        for held in ev.value(value, scope) if name is None else ():
            if isinstance(held, Group):
                rows = zip(held.keys, held.items, strict=False)
                yield from (dict(item) for key, item in rows if key is None or not _NO_LAYERS.search(key))


def _layers(ev: Evaluation, values: Values) -> Values:
    """What lists hold that a forward runs one after the other: functions too."""
    found: list[Values] = []
    for value, tier in values.items():
        if isinstance(value, Group) and value.kind != "dict":
            inner = union((dict(item) for item in value.items), tier)
            found.append({v: t for v, t in inner.items() if isinstance(v, FunctionValue) or _is_ours(ev, v)})
            found.append(_layers(ev, inner))
    return union(found)


def _is_ours(ev: Evaluation, value: Value) -> bool:
    return isinstance(value, Instance) and ev.holds_module(value)
