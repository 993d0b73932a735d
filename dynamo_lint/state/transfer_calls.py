"""Transfer functions of calls: of project functions, torch functions, and methods that mutate."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from functools import reduce

from dynamo_lint.index.ir import Attribute, Function
from dynamo_lint.index.lower import as_fact, call_as_fact, literal_of
from dynamo_lint.models.tensor_results import JOINS, MOVES, NOT_TENSOR_METHODS, TENSOR_METHODS
from dynamo_lint.program.hierarchy import only_declares
from dynamo_lint.program.item_path import ANY_ITEM
from dynamo_lint.program.names import MUTATORS
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.state import kinds as K
from dynamo_lint.state.abstract_state import (
    INT,
    STR,
    TENSOR,
    arguments_of,
    computed,
    join,
    unstarred,
    via,
)
from dynamo_lint.state.free_variables import REGISTRARS
from dynamo_lint.state.model import Callee, CallEvent, Key, Kind, Load, Origin, Use, Value, Write
from dynamo_lint.state.transfer import Evaluator

LOOKUPS = frozenset({"getattr", "setattr", "hasattr", "delattr"})
UNBOUND = {("__getattr__", 2): "getattr", ("__getattribute__", 2): "getattr", ("__setattr__", 3): "setattr"}
"""The lookup that a method of a class does with so many arguments: `object.__setattr__(self, "n", 1)`."""
HOST_MODULES = frozenset({"random", "time", "uuid", "secrets", "datetime", "socket"})
Given = list[tuple[str | None, ast.expr]]
"""What a call passes, each with its keyword, or with the stars before it."""
Arguments = list[tuple[str | None, Value]]


def evaluate_call(ev: Evaluator, node: ast.Call) -> Value:
    """The value of a call, with everything it reads and consumes on the way."""
    given = arguments_of(node)
    parts = [value for _, value in given]
    match node.func:
        case ast.Name(id=name) if name not in ev.flow.locals:
            if name in LOOKUPS and len(parts) >= 2:
                return _lookup(ev, name, node, parts)
            found = _builtin(ev, name, node, parts)
            if found is not None:
                return found
        case ast.Attribute(attr=name) if (name, len(parts)) in UNBOUND:
            return _lookup(ev, UNBOUND[name, len(parts)], node, parts)
        case ast.Attribute(value=owner, attr=name):
            found = _method(ev, owner, name, node, given)
            if found is not None:
                return found
    expr = as_fact(node.func)
    dotted = ev.linker.external(expr) or ""
    if dotted == "os.getenv" and ev.linker.function.environment:
        for part in parts:
            ev.used(part, Use.ARGUMENT)
        ev.add_environment(node, "getenv", parts[0] if parts else None)
        return Value(STR, origins=frozenset({Origin("host")}))
    callees = () if dotted else ev.linker.callees(call_as_fact(node))
    if isinstance(node.func, ast.Attribute):
        base = ev.place(node.func.value)
        owner_value = ev.value(node.func.value)
        if base is None or owner_value.kinds == TENSOR:
            ev.consume(owner_value, Use.RECEIVER)
    else:
        owner_value = Value() if isinstance(node.func, ast.Name) else ev.used(node.func, Use.ARGUMENT)
    values = _values(ev, node, given, dotted)
    if callees:
        return _project_call(ev, callees, values, owner_value)
    # `interface = TABLE[name]; interface(x, window=self.window)`
    own = ev.flow.locals.get(node.func.id) if isinstance(node.func, ast.Name) else None
    for _, value in values:
        ev.consume(value, Use.ARGUMENT if own is None or own.pending else Use.HANDED_ON)
    made = None if dotted else ev.linker.constructed(expr)
    if made is not None:
        enum = ev.linker.is_enum(made)
        result = computed([value for _, value in values], frozenset({Kind.ENUM if enum else Kind.OBJECT}))
        bound = values[0][1].bound if enum and values else None
        return replace(result, bound=bound, origins=frozenset({Origin("literal" if enum else "fresh")}))
    found_kinds = K.of_call(dotted) if dotted else _outside_call(ev, node, owner_value)
    if dotted.partition(".")[0] in HOST_MODULES:
        return Value(found_kinds, origins=frozenset({Origin("host")}))
    result = computed([value for _, value in values], found_kinds)
    if dotted.rpartition(".")[2][:1].isupper():
        # A constructor: the object is new in every call.
        return replace(result, origins=frozenset({Origin("fresh")}))
    if dotted or not any(o.source == "state" for o in owner_value.origins):
        return replace(result, origins=result.origins | {Origin("unknown")})
    # The `.to()` of a module gives the module itself.
    moved = isinstance(node.func, ast.Attribute) and node.func.attr in MOVES
    how = "moved" if moved and Kind.OBJECT not in owner_value.kinds else "computed"
    return replace(result, origins=result.origins | via(owner_value.origins, how))


def _values(ev: Evaluator, node: ast.Call, given: Given, dotted: str) -> Arguments:
    found: Arguments = []
    for name, argument in given:
        ev.whole_environment(argument, node)
        found.append((name, _joined(ev, argument) if dotted in JOINS else ev.value(argument)))
    return found


def _joined(ev: Evaluator, node: ast.expr) -> Value:
    """The list that `torch.cat` and its kin take: its elements are used as tensors, and none can be None."""
    if not isinstance(node, ast.List):
        return ev.value(node)
    values = [ev.used(unstarred(one), Use.ARGUMENT) for one in node.elts]
    return computed(values, frozenset({Kind.CONTAINER}))


def _outside_call(ev: Evaluator, node: ast.Call, owner: Value) -> frozenset[Kind]:
    """The kinds of the result of calling something that is neither ours nor named."""
    match node.func:
        case ast.Attribute(attr=name) if owner.kinds == TENSOR or (
            not owner.kinds and name in TENSOR_METHODS
        ):
            return K.UNKNOWN if name in NOT_TENSOR_METHODS else TENSOR
    return TENSOR if ev.linker.is_tensor_module(as_fact(node.func)) else K.UNKNOWN


def _project_call(ev: Evaluator, callees: tuple[Callee, ...], arguments: Arguments, owner: Value) -> Value:
    returned: list[frozenset[Kind]] = []
    leaves: dict[ClassRef | None, frozenset[Key]] = {}
    given = frozenset(load.place for _, v in arguments if v.kinds != TENSOR for load in v.pending)
    states = [ev.linker.state_of(callee, given) for callee in callees]
    users = Counter(name for state in states if state is not None for name in {n for n, _ in state.consumed})
    for callee, state in zip(callees, states, strict=True):
        function = ev.linker.project.function(callee.function)
        bound = _bind(function, callee, arguments, owner)
        ev.calls.append(CallEvent(callee, bound, ev.flow.written, ev.flow.guards))
        if state is None or only_declares(function):
            for _, value in arguments:
                ev.consume(value, Use.ARGUMENT)
            returned.append(K.UNKNOWN)
            leaves[callee.receiver] = frozenset()
            continue
        passed = dict(bound)
        for name, use in state.consumed:
            if name in passed:
                # Methods of several classes are one interface; functions from a table may differ in it.
                sure = callee.receiver is not None or users[name] == len(callees)
                ev.consume(passed[name], use if sure else Use.HANDED_ON)
            else:
                _keyword(ev, function, name, use, passed, arguments)
        returned.append(state.returns)
        known = leaves.get(callee.receiver, state.leaves_written)
        leaves[callee.receiver] = known & state.leaves_written
    # The object has one of the classes, and only the method of that class ran.
    ev.flow.written |= frozenset().union(*leaves.values())
    found = frozenset[Kind]().union(*returned) if all(returned) else K.UNKNOWN
    return Value(found, origins=frozenset({Origin("unknown")}))


def _keyword(
    ev: Evaluator, function: Function, name: str, use: Use, passed: dict[str, Value], arguments: Arguments
) -> None:
    """Note the uses that a callee makes of its own `**kwargs`, or gets through `**kwargs` of ours."""
    keyword = name
    if name.endswith("']"):
        holder, _, keyword = name.removesuffix("']").partition("['")
        if not any(p.name == holder and p.kind == "kwarg" for p in function.parameters):
            return
        if keyword in passed:
            ev.consume(passed[keyword], use)
            return
    for star, value in arguments:
        for load in value.pending if star == "**" else ():
            if len(load.place) == 1:
                ev.consumed.add((f"{load.place[0]}['{keyword}']", use))


def _bind(
    function: Function, callee: Callee, arguments: Arguments, owner: Value
) -> tuple[tuple[str, Value], ...]:
    """Arguments by the callee's parameter names."""
    positional = [p.name for p in function.parameters if p.kind == "positional"]
    static = any(getattr(d, "id", None) == "staticmethod" for d in function.decorators)
    bound: dict[str, Value] = {}
    passed = callee.explicit or static  # `self` is one of the arguments, or there is none
    if callee.receiver is not None and function.owner is not None and not passed and positional:
        bound[positional.pop(0)] = owner
    for name, value in arguments:
        if name == "*":
            positional.clear()
        elif name == "**":
            continue
        elif name is not None:
            bound[name] = value
        elif positional:
            bound[positional.pop(0)] = value
    return tuple(bound.items())


def _lookup(ev: Evaluator, function: str, node: ast.Call, parts: list[ast.expr]) -> Value:
    owner, name = parts[:2]
    third = parts[2] if len(parts) > 2 else None
    ev.lookup(function, node, owner, name, default=function == "getattr" and third is not None)
    literal = literal_of(name)
    base = ev.place(owner)
    value = ev.value(third) if third is not None else Value()
    if base is None or not isinstance(literal, str):
        ev.consume(value, Use.STORED)
        base_value = ev.value(owner)
        return Value(origins=via(base_value.origins, "element"))
    place = (*base, literal)
    match function:
        case "setattr":
            ev.store(place, value, node)
            return Value()
        case "hasattr":
            return Value(frozenset({Kind.BOOL}), origins=frozenset({Origin("state", ".".join(place))}))
        case "delattr":
            return Value()
        case _:
            loaded = ev.load_place(place, node)
            # What has no value before the call is of the kind of its stand-in: `getattr(self, "n", 0)`.
            known = loaded.kinds or value.kinds - {Kind.NONE}
            return replace(loaded, kinds=known)


def _builtin(ev: Evaluator, name: str, node: ast.Call, args: list[ast.expr]) -> Value | None:
    match name, len(args):
        case ("len", 1):
            value = ev.used(args[0], Use.ITERATED)
            return computed([value], INT)
        case ("int" | "float" | "bool" | "round" | "abs", n) if n >= 1:
            value = ev.used(args[0], Use.ARGUMENT)
            if value.kinds == TENSOR and name in {"int", "float", "bool"}:
                return Value(K.BUILTIN_KINDS[name], origins=frozenset({Origin("item")}))
            found = value.kinds if name == "abs" else INT if name == "round" else K.BUILTIN_KINDS[name]
            return computed([value], found, value.bound or (2 if name == "bool" else None))
        case ("str" | "repr", 1):
            value = ev.used(args[0], Use.FORMATTED)
            kept = value.origins if value.kinds == STR else via(value.origins, "str")
            return Value(STR, derived=value.pending | value.derived, origins=kept)
        case ("max" | "min", n) if n >= 2:
            values = [ev.used(arg, Use.COMPARE) for arg in args]
            known = all(v.kinds for v in values)
            mixed = frozenset[Kind]().union(*(v.kinds for v in values)) if known else K.UNKNOWN
            limits = [v.constants for v in values if v.constants is not None and not v.pending]
            bound = _saturation(limits) if name == "min" else None
            largest = any(v.pending or v.derived for v in values) and bound is None
            return replace(computed(values, mixed, bound), largest=largest)
        case ("next", n) if n >= 1:
            return _next(ev, args[0], node)
        case ("super", _) if ev.linker.self_name:
            # The same object, seen as one of its bases.
            return ev.value(ast.copy_location(ast.Name(ev.linker.self_name), node))
        case ("isinstance" | "callable" | "type" | "id" | "issubclass", _):
            for arg in args:
                ev.value(arg)
            return Value(K.of_call(name))
    return None


def _register(
    ev: Evaluator, owner: ast.expr, method: str, node: ast.Call, parts: list[ast.expr]
) -> Value | None:
    """`module.register_buffer("name", value)` is `module.name = value`, and a new entry for its guards."""
    base, name = ev.place(owner), literal_of(parts[0])
    if base is None or not isinstance(name, str):
        return None
    value = ev.value(parts[1])
    if not value.kinds and method == "register_buffer":
        value = replace(value, kinds=TENSOR)  # it takes nothing else, but for None
    ev.store((*base, name), value, node, registers=True)
    return Value(frozenset({Kind.NONE}))


def _mutation(ev: Evaluator, owner: ast.expr, name: str, node: ast.Call, given: Given) -> Value | None:
    """A method that changes the length or the keys of a container which outlives the call."""
    place = ev.place(owner)
    if place is None or not ev.linker.keys(place):
        return None
    base = ev.value(owner)
    # An element of a container is one itself where it is used like one.
    element = not base.kinds and place[-1].startswith("[") and name in {"append", "extend", "appendleft"}
    if base.kinds != {Kind.CONTAINER} and not element:
        return None
    values = [ev.used(value, Use.STORED) for _, value in given]
    first = values[0] if node.args else None
    match name:
        case "clear":
            ev.mutate(place, "clear", node)
        case "pop" | "popleft" | "popitem" | "remove" | "discard":
            ev.mutate(place, "shrink", node, first)
        case "setdefault":
            ev.mutate(place, "item", node, first)
        case "add":
            ev.mutate(place, "element", node, first)
        case "update":
            ev.mutate(place, "merge", node, _merged(ev, given))
        case _:
            ev.mutate(place, "grow", node)
    return Value(origins=via(base.origins, "element"))


def _item(ev: Evaluator, owner: ast.expr, node: ast.Call, parts: list[ast.expr]) -> Value | None:
    """`held.get(key, default)` on a dict that outlives the call is `held[key]`, or the default."""
    place = ev.place(owner)
    if place is None or not ev.linker.keys(place):
        return None
    kinds = ev.value(owner).kinds
    if kinds != {Kind.CONTAINER} and (kinds or not place[-1].startswith("[") or ev.linker.classes(place)):
        return None
    literal = literal_of(parts[0])
    ev.used(parts[0], Use.KEY)
    found = ev.load_place((*place, ANY_ITEM if literal is ... else f"[{literal!r}]"), node)
    if len(parts) < 2:
        return found
    default = ev.value(parts[1])
    # The default says what kind of value the key has where nothing else does.
    return join(found if found.kinds else replace(found, kinds=default.kinds), default)


def _merged(ev: Evaluator, given: Given) -> Value | None:
    """The one key, or all keys if they are literals, that `update` brings along."""
    keys: list[Value] = []
    for name, value in given:
        if name not in {None, "*", "**"}:
            keys.append(Value(STR, frozenset({repr(name)})))
        elif name is None and isinstance(value, ast.Dict):
            keys += [ev.value(key) if key is not None else Value() for key in value.keys]
        else:
            return None
    return reduce(join, keys) if keys else None


def _saturation(limits: list[frozenset[str]]) -> int | None:
    for texts in limits:
        text = next(iter(texts)) if len(texts) == 1 else ""
        if text.isdigit():
            return int(text) + 1
    return None


def _next(ev: Evaluator, iterator: ast.expr, node: ast.Call) -> Value:
    """`next(self.counter)` changes the counter's state, and Dynamo guards on it."""
    place = ev.place(iterator)
    value = ev.used(iterator, Use.ITERATED)
    if value.kinds == {Kind.COUNT} and place is not None and value.pending:
        load = Load(place, ev.opened.position(iterator))
        changed = Value(frozenset({Kind.COUNT}), derived=frozenset({load}))
        position = ev.opened.position(node)
        ev.writes.append(Write(place, ev.linker.keys(place), position, changed, ev.flow.guards))
        return Value(INT, origins=frozenset({Origin("unknown")}))
    return Value(origins=via(value.origins, "element"))


def _method(ev: Evaluator, owner: ast.expr, name: str, node: ast.Call, given: Given) -> Value | None:
    """Methods whose meaning is known from their name alone."""
    parts = [value for _, value in given]
    if name in {"get", "setdefault", "pop"} and parts:
        if ev.environment_read(as_fact(owner), node, name, parts[0]):
            for part in parts:
                ev.used(part, Use.ARGUMENT)
            return Value(STR, origins=frozenset({Origin("host")}))
        match owner:
            case ast.Attribute(attr="__dict__", value=inner) | ast.Call(ast.Name("vars"), [inner], []):
                ev.lookup("__dict__", node, inner, parts[0])
                return Value()
        if name == "get" and (found := _item(ev, owner, node, parts)) is not None:
            return found
    if name in {"copy", "items", "keys", "values"}:
        ev.whole_environment(owner, node)
    if name in REGISTRARS and len(parts) >= 2 and isinstance(literal_of(parts[0]), str):
        return _register(ev, owner, name, node, parts)
    if name in MUTATORS and (found := _mutation(ev, owner, name, node, given)) is not None:
        return found
    match name, len(parts):
        case ("item" | "tolist", 0):
            ev.used(owner, Use.RECEIVER)
            return Value(origins=frozenset({Origin("item")}))
        case ("size" | "stride", 0):
            ev.used(owner, Use.RECEIVER)
            return Value(frozenset({Kind.TUPLE}), origins=frozenset({Origin("shape")}))
        case ("size" | "stride" | "numel" | "nelement" | "dim" | "ndimension", _):
            if isinstance(as_fact(node.func), Attribute) and not ev.linker.callees(call_as_fact(node)):
                dotted = ev.linker.external(as_fact(node.func))
                for part in parts:
                    ev.used(part, Use.ARGUMENT)
                if not dotted:
                    ev.used(owner, Use.RECEIVER)
                return Value(INT, origins=frozenset({Origin("shape")}))
        case ("format", _) if isinstance(literal_of(owner), str):
            values = [ev.used(part, Use.FORMATTED) for part in parts]
            # Dynamo breaks the graph here as it does at `str()`, where an f-string gives the frame up.
            return computed([replace(v, origins=via(v.origins, "str")) for v in values], STR)
        case ("lower" | "upper" | "strip" | "replace" | "removeprefix" | "removesuffix" | "title", _):
            values = [ev.used(owner, Use.RECEIVER), *(ev.used(part, Use.ARGUMENT) for part in parts)]
            return computed(values, STR)
    return None
