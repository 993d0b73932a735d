"""The names in expressions of the index, as the tables by name list them."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Binding, Expr, FileFacts, Function, Store
from dynamo_lint.index.walking import untested, walk
from dynamo_lint.regions.model import ClassRef, FunctionRef

LAMBDA = "<lambda>"
"""What Python calls every function that has no name of its own."""


def last_name(value: Expr) -> str:
    """The name, or the last part of a dotted one; empty for anything else."""
    if isinstance(value, facts.Name):
        return value.id
    return value.name if isinstance(value, facts.Attribute) else ""


def called_name(callee: Expr) -> str:
    """What a call goes by: of a dictionary of functions its key, or its own name if the key is not known."""
    match untested(callee):  # `assert callable(block)`
        case facts.Subscript(_, facts.Constant(str() as key)):
            return key
        case facts.Subscript(table):
            return last_name(table)
    return last_name(untested(callee))


def add_keys(value: Expr, found: set[str]) -> None:
    """The keys of a literal dict: `ModuleDict({"a": …}).a`."""
    match value:
        case facts.Display(keys=keys) if keys:
            found.update(key for key in keys if key)
        case facts.Call(arguments=arguments, keywords=keywords):
            for argument in arguments:
                add_keys(argument, found)
            found.update(key for key, _ in keywords if key)


def texts_in(value: Expr) -> Iterator[tuple[str, str]]:
    """The texts of literal dictionaries, also in lists of them."""
    if not isinstance(value, facts.Display):
        return
    for key, item in zip(value.keys, value.items, strict=False):
        if key and isinstance(item, facts.Constant) and isinstance(item.value, str):
            yield key, item.value
    for item in value.items:
        yield from texts_in(item)


def handed_on(function: Function) -> Iterator[Expr]:
    """What a function hands all it is given on to, and returns: `return compile(*args, **kwargs)`."""
    rest = [facts.Element(facts.Name(p.name)) for p in function.parameters[:1] if p.kind == "vararg"]
    for value in function.returns if rest else ():
        if isinstance(value, facts.Call) and list(value.arguments) == rest:
            yield value.function


def given_back(function: Function) -> Iterator[str]:
    """The names that a function gives as they are, alone or with others: `return parallelize, self`."""
    for value in function.returns:
        items = value.items if isinstance(value, facts.Display) and value.kind == "tuple" else (value,)
        yield from (item.id for item in items if isinstance(item, facts.Name))


def originals(value: Expr) -> tuple[str, ...]:
    """The names that a value may be another one for."""
    match value:
        case facts.Attribute(facts.Name("re" | "regex"), _):
            return ()
        case facts.Name(name) | facts.Attribute(_, name) | facts.Import(_, str() as name):
            return (name,)
        case facts.Call(function, ()):
            return originals(function)
        case facts.Call(facts.Name("partial") | facts.Attribute(_, "partial"), (first, *_)):
            return originals(first)
        case facts.Choice(options):
            return tuple(name for option in options for name in originals(option))
    return ()


def names_for(value: Expr, function: Function) -> Iterator[str]:
    """The names that a function binds to a value, or to something that holds it: a container by its own."""
    bound: tuple[Binding | Store, ...] = (*function.bindings, *function.stores)
    holding = (one for one in bound if value in walk(one.value))
    return (called_name(_item(one)) if one.name == ITEM else one.name for one in holding)


def _item(store: Binding | Store) -> Expr:
    """An item of a container as it is called: by a key that is written out, or by the container's name."""
    assert isinstance(store, Store)
    return facts.Subscript(store.owner, store.index or facts.UNKNOWN)


def loaded_by(function: Function) -> set[str]:
    """Attributes that a function loads, also by `getattr` with a literal."""
    found = {load.name for load in function.loads}
    for site in function.calls if function.lookups else ():
        match site.call:
            case facts.Call(facts.Name("getattr"), (_, facts.Constant(str() as name), *_)):
                found.add(name)
    return found


def compiled_in(value: Expr) -> Iterator[str]:
    """The names of methods that a value may be what `torch.compile` makes of."""
    match value:
        case facts.Choice(options):
            for option in options:
                yield from compiled_in(option)
        case facts.Call(facts.Attribute(_, "compile"), (facts.Attribute(_, name), *_)):
            yield name


def gives_more(value: Expr, name: str) -> bool:
    """Whether a value is what a call of something in the name itself gives: `entry = entry.load()`."""
    while isinstance(value, facts.Call | facts.Attribute | facts.Subscript | facts.Narrowed):
        value = value.function if isinstance(value, facts.Call) else value.value
    return value == facts.Name(name)


def is_plain(binding: Binding) -> bool:
    """It binds a definition, or an import, to the name that it has there."""
    match binding.value:
        case facts.Import(name=name):
            return name is None or name == binding.name
    return isinstance(binding.value, facts.Definition)


def kept_in(function: Function) -> Iterator[tuple[str, Expr]]:
    """What a function keeps under a name: in a container that is called so, or under a literal key."""
    for store in function.stores:
        if store.name == ITEM and isinstance(store.owner, facts.Attribute):
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
    if isinstance(value, facts.Display):
        for key, item in zip(value.keys, value.items, strict=False):
            if key:
                yield key, item
        for item in value.items:
            yield from _keyed(item)


def mentions(expr: Expr, depth: int) -> Iterator[str]:
    """Names that an expression may have as its value, or holds as elements."""
    match expr:
        case facts.Name() | facts.Attribute():
            name = terminal_name(expr)
            if name is not None:
                yield name
        case facts.Choice(options) | facts.Display(_, options):
            for option in options:
                yield from mentions(option, depth)
        case facts.Subscript(value):
            yield from mentions(value, depth)
        case facts.Call(_, arguments) if depth > 1:
            for argument in arguments:
                yield from mentions(argument, depth - 1)


def mentioned_in(file: FileFacts) -> set[str]:
    """The names and texts in what the functions of a file call, assign and return."""
    values: list[Expr] = [binding.value for class_ in file.classes.values() for binding in class_.bindings]
    for function in file.functions.values():
        values += [binding.value for binding in function.bindings]
        values += [store.value for store in function.stores]
        values += [site.call for site in function.calls]
        values += function.returns
    return {name for value in values for name in _said(value)}


def _said(value: Expr) -> Iterator[str]:
    for part in walk(value):
        match part:
            case facts.Name(name) | facts.Attribute(_, name) | facts.Constant(str() as name):
                yield name.rpartition(".")[2]


def picked_from(value: Expr) -> list[Expr]:
    """The names in a dictionary of which one is picked where it stands: `{"relu": ReLU, "gelu": GELU}[n]`."""
    match value:
        case facts.Subscript(facts.Display("dict", items)) | facts.Call(
            facts.Attribute(facts.Display("dict", items), "get")
        ):
            return [item for item in items if isinstance(item, facts.Name | facts.Attribute)]
    return []


def classes_in(value: Expr) -> list[Expr]:
    """The classes that a value is, as they are called: `nets.Net`, or `Small if few else Large`."""
    match value:
        case facts.Attribute(facts.Name(module), name) if name[:1].isupper() and module.islower():
            return [value]
        case facts.Choice(options):
            named = [one for one in options if isinstance(one, facts.Name) and one.id[:1].isupper()]
            return [*named, *(part for one in options for part in classes_in(one))]
    return []


def called_at_once(callee: Expr) -> list[Expr]:
    """What a callee without a name of its own runs: one of a dictionary, or what is compiled right there."""
    match callee:
        case facts.Call(made, (function, *_)) if terminal_name(made) == "compile":
            return [function]
    return picked_from(callee)


def set_globally(file: FileFacts) -> dict[str, list[tuple[FunctionRef, Expr]]]:
    """What the functions of a file bind to its global names, and where: `global model; model = given`."""
    table: dict[str, list[tuple[FunctionRef, Expr]]] = {}
    for key, function in file.functions.items():
        for binding in function.bindings if function.globals and key != MODULE_KEY else ():
            if binding.name in function.globals:
                table.setdefault(binding.name, []).append((FunctionRef(file.path, key), binding.value))
    return table


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
        case facts.Call(facts.Name("field") | facts.Attribute(_, "field"), _, keywords):
            for keyword, given in keywords:
                if keyword == "default":
                    yield given, None
                elif keyword == "default_factory" and isinstance(given, facts.Definition):
                    made = file.functions.get(given.key)
                    yield from ((one, given.key) for one in made.returns) if made is not None else ()
        case _:
            yield value, None
