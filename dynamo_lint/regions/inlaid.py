"""What of ours code puts into a module of a library that it compiles: `model.fc = Head()`.

Nothing is known of such a module but the expressions that name it, so those are followed: into the functions
it is handed to, out of those that give it back, and to whoever hands it over.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Attribute, Call, CallSite, Element, Expr, Name, Narrowed, Store, Subscript
from dynamo_lint.index.walking import arguments_of, itself
from dynamo_lint.program.refs import External, FunctionRef, Symbol, Tier
from dynamo_lint.regions.hooks import FORWARD_HOOKS
from dynamo_lint.regions.values import (
    Foreign,
    FunctionValue,
    Instance,
    Scope,
    Value,
    Values,
    flattened,
    functions_in,
    union,
)
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.points_to import Evaluation

_MOST = 60
"""Places that one module is followed to."""
_DEEPEST = 4
_WHOLE = ("forward", "__call__")
_PROCESSORS = ("set_attn_processor", "set_processor")
"""How modules of diffusers are given what they call (diffusers/models/attention_processor.py)."""
PROCESSOR = "processor"
_MOVING = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16", "requires_grad_"})

_Place = tuple[Scope, Expr]


def inlaid(ev: Evaluation, target: Expr, scope: Scope) -> Values:
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
        for other, may_rise in [*around, *((one, False) for one in _handed_on(ev, place))]:
            if other not in seen and len(seen) < _MOST:
                seen.add(other)
                pending.append((other, may_rise))
    return union(found, Tier.LIKELY)


def _put_into(ev: Evaluation, place: _Place) -> Values:
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


def _patched(ev: Evaluation, values: Values) -> Values:
    """What is put in the place of the `forward` of a library's class: `Transformer.forward = mine`."""
    classes = {External(value.dotted) for value in values if isinstance(value, Foreign)}
    found: list[Values] = []
    for where, store in ev.project.stores_of("forward") if classes else ():
        scope = Scope(where, ev.project.owner(where))
        if not classes.isdisjoint(ev.value(store.owner, scope)):
            found.append(functions_in(ev.value(store.value, scope)))
    return union(found)


def _ours(ev: Evaluation, store: Store, scope: Scope) -> Values:
    values = ev.value(store.value, scope)
    if store.name in _WHOLE:
        return functions_in(values)
    return _called(ev, values) if store.name == PROCESSOR else _modules(ev, values)


def _modules(ev: Evaluation, values: Values) -> Values:
    return {v: t for v, t in flattened(values).items() if isinstance(v, Instance) and ev.holds_module(v)}


def _called(ev: Evaluation, values: Values) -> Values:
    objects = {v: t for v, t in flattened(values).items() if isinstance(v, Instance)}
    return {v: t for v, t in objects.items() if ev.project.method(v.ref, "__call__") or ev.holds_module(v)}


def _leads(ev: Evaluation, expr: Expr, place: _Place, depth: int = 0) -> bool:
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


# --- where the same object is named otherwise -----------------------------------------------------------


def _same(ev: Evaluation, place: _Place, rises: bool) -> Iterator[tuple[_Place, bool]]:
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


def _handed_on(ev: Evaluation, place: _Place) -> Iterator[_Place]:
    """The parameters that calls hand the object to, by itself or within one that has it."""
    scope, target = place
    for site in ev.project.function(scope.function).calls:
        given = arguments_of(site.call)
        for whole, path in _wholes(target):
            for ref in _run(ev, site, scope) if whole in given else ():
                function = ev.project.function(ref)
                for parameter in function.parameters:
                    if argument_for(parameter, function, site.call) == whole:
                        yield Scope(ref, ev.project.owner(ref)), _join(Name(parameter.name), path)


def _run(ev: Evaluation, site: CallSite, scope: Scope) -> list[FunctionRef]:
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


def _origin(ev: Evaluation, value: Expr, scope: Scope) -> Iterator[tuple[_Place, bool]]:
    """Where what a name is bound to comes from: another name, or a function of ours that gives it back."""
    if isinstance(value, Name | Attribute):
        yield (scope, value), True
    for ref in _run(ev, CallSite(value), scope) if isinstance(value, Call) else ():
        at = Scope(ref, ev.project.owner(ref))
        yield from (((at, one), False) for one in ev.project.function(ref).returns if isinstance(one, Name))


def _in_class(ev: Evaluation, path: tuple[str, ...], scope: Scope) -> Iterator[tuple[_Place, bool]]:
    """The methods of a class that name the same attribute, and what they store there."""
    holder = scope.receiver or ev.project.owner(scope.function)
    for part in ev.project.mro(holder) if holder is not None else ():
        for where, store in ev.project.own_stores(part).get(path[0], ()):
            origins = _origin(ev, itself(store.value, _MOVING), Scope(where, holder))
            yield from (((at, _join(one, path[1:])), up) for (at, one), up in origins)
        for key in ev.project.files[part.path].functions:
            where = FunctionRef(part.path, key)
            if ev.project.owner(where) == part and (own := ev.project.self_name(where)) is not None:
                yield (Scope(where, holder), _join(Name(own), path)), True


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
