"""The names in expressions: the keys that tables by name are filled under."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index import ir
from dynamo_lint.index.ir import (
    ITEM,
    MODULE_KEY,
    Attribute,
    Binding,
    Call,
    Constant,
    Expr,
    FileFacts,
    Function,
    Store,
    Subscript,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import untested, walk
from dynamo_lint.program.refs import ClassRef, FunctionRef

_EXPRESSIONS = (ir.Name("re"), ir.Name("regex"))
"""Whose `compile` is another."""
LAMBDA = "<lambda>"
"""The name that Python gives every function without a name of its own."""


def last_name(value: Expr) -> str:
    """The name, or the last part of a dotted one; empty for anything else."""
    if isinstance(value, ir.Name):
        return value.id
    return value.name if isinstance(value, ir.Attribute) else ""


def called_name(callee: Expr) -> str:
    """Return the name that a call goes by: of a dictionary of functions its key, or its own name."""
    callee = untested(callee)  # `assert callable(block)`
    if isinstance(callee, ir.Subscript):
        key = callee.index.value if isinstance(callee.index, ir.Constant) else None
        return key if isinstance(key, str) else last_name(callee.value)
    return last_name(callee)


def holds_settings(value: Expr) -> bool:
    """Whether a value may be a module of settings of torch: `torch._dynamo.config`, or an import of one."""
    if isinstance(value, ir.Import):
        return "config" in (value.name or value.module).rpartition(".")[2]
    return isinstance(value, ir.Attribute) and value.name in ("config", "_config") and _is_module(value.value)


def _is_module(value: Expr) -> bool:
    """Whether an expression is a dotted name of no attribute of `self`."""
    while isinstance(value, ir.Attribute):
        value = value.value
    return isinstance(value, ir.Name) and value.id != "self"


def goes_by(callee: Expr) -> str | None:
    """Return the name that a call goes by; of a table of functions its own name, or the key."""
    return called_name(callee) if isinstance(callee, ir.Subscript) else terminal_name(callee)


def add_keys(value: Expr, found: set[str]) -> None:
    """The keys of a literal dict: `ModuleDict({"a": …}).a`."""
    if isinstance(value, ir.Display):
        found.update(key for key in value.keys if key)
    elif isinstance(value, ir.Call):
        for argument in value.arguments:
            add_keys(argument, found)
        found.update(key for key, _ in value.keywords if key)


def literal_strings(value: Expr) -> Iterator[tuple[str, str]]:
    """The texts of literal dictionaries, also in lists of them."""
    if not isinstance(value, ir.Display):
        return
    for key, item in zip(value.keys, value.items, strict=False):
        if key and isinstance(item, ir.Constant) and isinstance(item.value, str):
            yield key, item.value
    for item in value.items:
        yield from literal_strings(item)


def delegates_to(function: Function) -> Iterator[Expr]:
    """Return the callees that a function passes all arguments to: `return compile(*args, **kwargs)`."""
    rest = [ir.Element(ir.Name(p.name)) for p in function.parameters[:1] if p.kind == "vararg"]
    for value in function.returns if rest else ():
        if isinstance(value, ir.Call) and list(value.arguments) == rest:
            yield value.function


def given_back(function: Function) -> Iterator[str]:
    """The names that a function gives as they are, alone or with others: `return parallelize, self`."""
    for value in function.returns:
        items = value.items if isinstance(value, ir.Display) and value.kind == "tuple" else (value,)
        yield from (item.id for item in items if isinstance(item, ir.Name))


def originals(value: Expr) -> tuple[str, ...]:
    """The names that a value may be another one for."""
    if isinstance(value, ir.Name):
        return (value.id,)
    if isinstance(value, ir.Attribute):
        return () if value.value in _EXPRESSIONS else (value.name,)
    if isinstance(value, ir.Import):
        return () if value.name is None else (value.name,)
    if isinstance(value, ir.Call):
        if not value.arguments:
            return originals(value.function)
        return originals(value.arguments[0]) if last_name(value.function) == "partial" else ()
    if isinstance(value, ir.Choice):
        return tuple(name for option in value.options for name in originals(option))
    return ()


def names_for(value: Expr, function: Function) -> Iterator[str]:
    """The names that a function binds to a value, or to something that holds it: a container by its own."""
    bound: tuple[Binding | Store, ...] = (*function.bindings, *function.stores)
    holding = (one for one in bound if value in walk(one.value))
    return (called_name(_item(one)) if one.name == ITEM else one.name for one in holding)


def _item(store: Binding | Store) -> Expr:
    """An item of a container as it is called: by a key that is written out, or by the container's name."""
    assert isinstance(store, Store)
    return ir.Subscript(store.owner, store.index or ir.UNKNOWN)


def loaded_by(function: Function) -> set[str]:
    """Attributes that a function loads, also by `getattr` with a literal."""
    found = {load.name for load in function.loads}
    for site in function.calls if function.lookups else ():
        match site.call:
            case ir.Call(ir.Name("getattr"), (_, ir.Constant(str() as name), *_)):
                found.add(name)
    return found


def compiled_in(value: Expr) -> Iterator[str]:
    """The names of methods and functions that a value may be what `torch.compile` makes of."""
    if isinstance(value, ir.Choice):
        for option in value.options:
            yield from compiled_in(option)
    elif isinstance(value, ir.Call) and last_name(value.function) == "compile":
        match value:
            case ir.Call(ir.Attribute(), (ir.Attribute(_, name) | ir.Name(name), *_)):
                yield name


def gives_more(value: Expr, name: str) -> bool:
    """Whether a value is what a call of something in the name itself gives: `entry = entry.load()`."""
    while isinstance(value, ir.Call | ir.Attribute | ir.Subscript | ir.Narrowed):
        value = value.function if isinstance(value, ir.Call) else value.value
    return value == ir.Name(name)


def is_plain(binding: Binding) -> bool:
    """It binds a definition, or an import, to the name that it has there."""
    match binding.value:
        case ir.Import(name=name):
            return name is None or name == binding.name
    return isinstance(binding.value, ir.Definition)


def kept_in(function: Function) -> Iterator[tuple[str, Expr]]:
    """Return the values that a function stores under a name: in a container called so, or under a literal
    key."""
    for store in function.stores:
        if store.name == ITEM and isinstance(store.owner, ir.Attribute):
            yield store.owner.name, store.value
        yield from _keyed(store.value)
    for binding in function.bindings:
        yield from _keyed(binding.value)
    for value in function.returns:
        yield from _keyed(value)
    for site in function.calls:
        for argument in site.call.arguments:
            yield from _keyed(argument)
        for name, argument in site.call.keywords:
            yield from _keyed(argument)
            if name and terminal_name(site.call.function) in ("dict", "OrderedDict", "SimpleNamespace"):
                yield name, argument


def _keyed(value: Expr) -> Iterator[tuple[str, Expr]]:
    """The entries of literal dictionaries."""
    if isinstance(value, ir.Display):
        for key, item in zip(value.keys, value.items, strict=False):
            if key:
                yield key, item
        for item in value.items:
            yield from _keyed(item)


def possible_names(expr: Expr, depth: int) -> Iterable[str]:
    """Names that an expression may have as its value, or holds as elements.

    Asked of every value of a project: `isinstance` tells in a third of the time what `match` would.
    """
    if isinstance(expr, ir.Name):
        return (expr.id,)
    if isinstance(expr, ir.Attribute):
        return (expr.name,)
    if isinstance(expr, ir.Call):
        inner, depth = expr.arguments if depth > 1 else (), depth - 1
    elif isinstance(expr, ir.Choice):
        inner = expr.options
    elif isinstance(expr, ir.Display):
        inner = expr.items
    else:
        return possible_names(expr.value, depth) if isinstance(expr, ir.Subscript) else ()
    return [name for part in inner for name in possible_names(part, depth)]


def mentioned_in(file: FileFacts) -> set[str]:
    """The names and texts in what the functions of a file call, assign and return."""
    values: list[Expr] = [binding.value for class_ in file.classes.values() for binding in class_.bindings]
    for function in file.functions.values():
        values += [binding.value for binding in function.bindings]
        values += [store.value for store in function.stores]
        values += [site.call for site in function.calls]
        values += function.returns
    return {name for value in values for name in _plain_names(value)}


def _plain_names(value: Expr) -> Iterator[str]:
    for part in walk(value):
        match part:
            case ir.Name(name) | ir.Attribute(_, name) | ir.Constant(str() as name):
                yield name.rpartition(".")[2]


def selected_from(value: Expr) -> list[Expr]:
    """The names in a dictionary of which one is picked where it stands: `{"relu": ReLU, "gelu": GELU}[n]`."""
    if isinstance(value, ir.Subscript):
        table = value.value
    elif isinstance(value, ir.Call) and isinstance(value.function, ir.Attribute):
        table = value.function.value if value.function.name == "get" else ir.UNKNOWN
    else:
        return []
    if not isinstance(table, ir.Display) or table.kind != "dict":
        return []
    return [item for item in table.items if isinstance(item, ir.Name | ir.Attribute)]


def classes_in(value: Expr) -> list[Expr]:
    """The classes that a value is, as they are called: `nets.Net`, or `Small if few else Large`."""
    if isinstance(value, ir.Attribute) and isinstance(value.value, ir.Name):
        return [value] if value.name[:1].isupper() and value.value.id.islower() else []
    if not isinstance(value, ir.Choice):
        return []
    named = [one for one in value.options if isinstance(one, ir.Name) and one.id[:1].isupper()]
    return [*named, *(part for one in value.options for part in classes_in(one))]


def called_at_once(callee: Expr) -> list[Expr]:
    """Return the functions that a callee without a name runs: of a dictionary, or what is compiled there."""
    match callee:
        case ir.Call(made, (function, *_)) if terminal_name(made) == "compile":
            return [function]
    return selected_from(callee)


def set_globally(file: FileFacts) -> dict[str, list[tuple[FunctionRef, Expr]]]:
    """The names and values that the functions of a file bind to its global names, and where: `global model;
    model = given`."""
    table: dict[str, list[tuple[FunctionRef, Expr]]] = {}
    for key, function in file.functions.items():
        for binding in function.bindings if function.globals and key != MODULE_KEY else ():
            if binding.name in function.globals:
                table.setdefault(binding.name, []).append((FunctionRef(file.path, key), binding.value))
    return table


MUTATORS = frozenset(
    {"append", "appendleft", "add", "extend", "insert", "update", "setdefault"}
    | {"pop", "popleft", "popitem", "clear", "remove", "discard"}
)
"""Methods that change the length or the keys of a container."""


def changed_names(file: FileFacts) -> set[str]:
    """The names of a file's top level or functions that a `global`, a `nonlocal` or a mutation changes."""
    found: set[str] = set()
    for function in file.functions.values():
        own = {p.name for p in function.parameters} | {b.name for b in function.bindings}
        for binding in function.bindings:
            looped = any(first <= binding.line <= last for first, last in function.loops)
            if binding.name in function.globals or looped:
                found.add(binding.name)
        for store in function.stores:
            match store:
                case ir.Store(ir.Name(name), name=stored) if stored == ITEM:
                    if name not in own - function.globals or function.key == MODULE_KEY:
                        found.add(name)
        for site in function.calls:
            match site.call.function:
                case ir.Attribute(ir.Name(name), method) if method in MUTATORS and name not in own:
                    found.add(name)
    return found


def is_replaced(file: FileFacts, name: str, values: list[Expr]) -> bool:
    """Whether a definition is never seen by its name: `Policy = models.Other` at the very end of its file."""
    module, last = file.functions.get(MODULE_KEY), values[-1]
    if module is None or not isinstance(values[0], ir.Definition):
        return False
    bound = [one for one in module.bindings if one.name == name]
    if len(bound) < len(values) or not isinstance(last, ir.Name | ir.Attribute):
        return False
    if any(end >= bound[-1].line for _, end in (*module.branches, *module.loops)):
        return False
    used = [one.value for one in module.bindings]
    used += [site.call for site in module.calls]
    used += [base for class_ in file.classes.values() for base in class_.bases]
    return not any(part == ir.Name(name) for value in used for part in walk(value))


def kept_by_classes(file: FileFacts) -> Iterator[tuple[ClassRef, str, Expr, str]]:
    """The attributes that class bodies give a function or class by its name, and the function it is named in.

    `target = Net`, and of a data class `target: type = field(default_factory=lambda: Net)`.
    """
    for key, class_ in file.classes.items():
        for binding in class_.bindings:
            for value, where in _held_by_field(binding.value, file):
                if last_name(value):
                    yield ClassRef(file.path, key), binding.name, value, where or class_.outer or MODULE_KEY


def _held_by_field(value: Expr, file: FileFacts) -> Iterator[tuple[Expr, str | None]]:
    match value:
        case ir.Call(ir.Name("field") | ir.Attribute(_, "field"), _, keywords):
            for keyword, given in keywords:
                if keyword == "default":
                    yield given, None
                elif keyword == "default_factory" and isinstance(given, ir.Definition):
                    made = file.functions.get(given.key)
                    yield from ((one, given.key) for one in made.returns) if made is not None else ()
        case _:
            yield value, None


def key_taken(asked: Expr) -> str | None:
    """The key that an expression takes out of something."""
    match asked:
        case (
            Attribute(_, name)
            | Subscript(_, Constant(str() as name))
            | Call(Attribute(_, "get" | "pop" | "__getitem__"), (Constant(str() as name), *_))
        ):
            return name
    return None
