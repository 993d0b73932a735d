"""What the facts of one file add to the tables of the whole project, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Binding, CallSite, Expr, FileFacts, Function, Store
from dynamo_lint.regions.itempath import item_path
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.scopes import global_bindings

Table = dict[str, list[Any]]


class Reading(NamedTuple):
    """One walk over a file, which fills several tables."""

    tables: tuple[str, ...]
    read: Callable[..., None]
    """Takes the facts of a file and the tables, which give an empty list for a new name."""


def _uses(file: FileFacts, calls: Table, passed: Table, stores: Table, keywords: Table, texts: Table) -> None:
    """What the bodies of all functions say of names."""
    keyword_of, text_of = _Names(), _Names()
    for key, function in file.functions.items():
        ref = FunctionRef(file.path, key)
        for site in function.calls:
            name = _called_name(site.call.function)
            if name:
                calls[name].append((ref, site))
            if name == "partial" and site.call.arguments:
                _add_partial(calls, ref, site)
            for keyword, value in site.call.keywords:
                if isinstance(value, facts.Constant):
                    if keyword and isinstance(value.value, str):
                        text_of.add(keyword, value.value)
                elif name := _last_name(value):
                    passed[name].append((ref, site))
                    if keyword is not None and keyword != name:
                        keyword_of.add(name, keyword)
        for binding in function.bindings:
            if isinstance(binding.value, facts.Display):
                for keyword, text in _texts(binding.value):
                    text_of.add(keyword, text)
        for store in function.stores:
            stores[store.name].append((ref, store))
    keyword_of.put_into(keywords)
    text_of.put_into(texts)


def _aliases(file: FileFacts, aliases: Table, rows: Table, lookups: Table) -> None:
    """What names are bound to: a name, what is called with it, or a dictionary that has it or gives it."""
    alias, row, lookup = _Names(), _Names(), _Names()
    for function in file.functions.values():
        everything: list[Binding | Store] = [*function.bindings, *function.stores]
        for bound in everything:
            match bound.value:
                case facts.Display("dict", items, keys):
                    for key, item in zip(keys, items, strict=False):
                        if isinstance(item, facts.Name | facts.Attribute):
                            row.add(_last_name(item), bound.name)
                            row.add(_last_name(item), key or bound.name)
                case facts.Subscript(table) | facts.Call(facts.Attribute(table, "get")):
                    lookup.add(_last_name(table), bound.name)
                case facts.Name(original) | facts.Call(_, (facts.Name(original), *_)):
                    alias.add(original, bound.name)
    alias.put_into(aliases)
    row.put_into(rows)
    lookup.put_into(lookups)


def _known(file: FileFacts, known: Table) -> None:
    found: set[str] = set()
    for class_ in file.classes.values():
        found.add(class_.qualname.rpartition(".")[2])
        found.update(binding.name for binding in class_.bindings)
        found.update(name for name, _ in class_.annotations)
    for function in file.functions.values():
        found.update(store.name for store in function.stores)
        if function.key == MODULE_KEY or function.globals:
            found.update(binding.name for binding in function.bindings)
        for binding in function.bindings:
            _add_keys(binding.value, found)
        for store in function.stores:
            _add_keys(store.value, found)
    _all(known, found)


def _defined(file: FileFacts, definitions: Table, defined: Table, methods: Table, top: Table) -> None:
    for key in file.functions:
        definitions[key.rpartition(".")[2]].append(True)
    _all(defined, {key.rpartition(".")[2] for key in file.functions})
    _all(methods, {key.rpartition(".")[2] for key in file.functions if "." in key})
    _all(top, {key for key in (*file.functions, *file.classes) if "." not in key})


def _decorated(file: FileFacts, decorated: Table, properties: Table) -> None:
    found: set[str] = set()
    for key, function in file.functions.items():
        for decorator in function.decorators:
            decorated[terminal_name(decorator) or ""].append((FunctionRef(file.path, key), decorator))
        if function.decorators and method_kind(function) == "property":
            found.add(function.qualname.rpartition(".")[2])
    for key, class_ in file.classes.items():
        for decorator in class_.decorators:
            decorated[terminal_name(decorator) or ""].append((ClassRef(file.path, key), decorator))
    _all(properties, found)


def _derived(file: FileFacts, derived: Table) -> None:
    if not file.classes:
        return
    imported = {
        binding.name: binding.value.name
        for function in file.functions.values()
        for binding in function.bindings
        if isinstance(binding.value, facts.Import) and binding.value.name
    }
    for key, class_ in file.classes.items():
        for base in class_.bases:
            name = _last_name(base.value if isinstance(base, facts.Subscript) else base)
            derived[imported.get(name, name)].append(ClassRef(file.path, key))


def _names_of(file: FileFacts, others: Table, imported: Table) -> None:
    """Under which other names something is bound, and what is imported by its name."""
    names: set[str] = set()
    found = _Names()
    for function in file.functions.values():
        for binding in function.bindings:
            for name in _original(binding.value):
                found.add(name, binding.name)
            if isinstance(binding.value, facts.Import) and binding.value.name:
                names.add(binding.value.name)
        for callee in handed_on(function):
            for name in _original(callee):
                found.add(name, function.qualname.rpartition(".")[2])
    found.put_into(others)
    _all(imported, names)


def _callers(file: FileFacts, callers: Table, within: Table) -> None:
    """The functions that call something by its name, or what that gives; those that call in a context."""
    for key, function in file.functions.items():
        for name in dict.fromkeys(terminal_name(site.call.function) for site in function.calls):
            if name is not None:
                callers[name].append(FunctionRef(file.path, key))
        if any(site.context is not None for site in function.calls):
            within[""].append(FunctionRef(file.path, key))


def _keyword_names(file: FileFacts, keyword_names: Table) -> None:
    found = (
        keyword
        for function in file.functions.values()
        for site in function.calls
        for keyword, _ in site.call.keywords
        if keyword is not None
    )
    _all(keyword_names, set(found))


def _slots(
    file: FileFacts, bodies: Table, annotations: Table, globals_: Table, kept: Table, nested: Table
) -> None:
    """Where values may be kept: class bodies, modules, literal dictionaries."""
    for key, class_ in file.classes.items():
        ref = ClassRef(file.path, key)
        for binding in class_.bindings:
            bodies[binding.name].append((ref, binding.value))
        for name, annotation in class_.annotations:
            annotations[name].append((ref, annotation))
        if "." in key:
            nested[ref.name].append(ref)
    module = FunctionRef(file.path, MODULE_KEY)
    for key, function in file.functions.items():
        if key == MODULE_KEY or function.globals:
            for binding in function.bindings:
                if not _is_plain(binding):
                    globals_[binding.name].append((module, binding.value))
        where = FunctionRef(file.path, key)
        for name, value in _kept(function):
            kept[name].append((where, value))


def _rebound(file: FileFacts, rebound: Table, foreign: Table) -> None:
    """Attributes, or the containers below them, that functions rebind; those of what a file imports."""
    imported = {
        name
        for name, values in global_bindings(file).items()
        if any(isinstance(value, facts.Import) for value in values)
    }
    for key, function in file.functions.items():
        where = FunctionRef(file.path, key)
        for store in function.stores:
            if isinstance(store.owner, facts.Name) and store.owner.id in imported:
                foreign[""].append((where, store))
            if store.name != ITEM:
                rebound[store.name].append((where, store.line))
            elif (path := item_path(store.owner, function)) is not None and path.owner is not None:
                rebound[path.name].append((where, store.line))


def _called_as(file: FileFacts, called_as: Table) -> None:
    """Names under which something may be called: `block_fn=Block`, `layer_type = Block`, `[Block, …]`."""
    found = _Names()
    for function in file.functions.values():
        pairs: list[tuple[str, Expr, int]] = [
            (binding.name, binding.value, 3)
            for binding in function.bindings
            if not isinstance(binding.value, facts.Import | facts.Definition)
        ]
        pairs += [(store.name, store.value, 2) for store in function.stores]
        pairs += [(one.name, one.default, 1) for one in function.parameters if one.default is not None]
        for site in function.calls:
            pairs += [(keyword, value, 1) for keyword, value in site.call.keywords if keyword is not None]
        for name, value, depth in pairs:
            for mentioned in _mentions(value, depth):
                found.add(mentioned, name)
    found.put_into(called_as)


READINGS = (
    Reading(("calls", "passed", "stores", "keywords", "texts"), _uses),
    Reading(("aliases", "rows", "lookups"), _aliases),
    Reading(("known",), _known),
    Reading(("definitions", "defined", "methods", "top"), _defined),
    Reading(("decorated", "properties"), _decorated),
    Reading(("derived",), _derived),
    Reading(("others", "imported"), _names_of),
    Reading(("callers", "within"), _callers),
    Reading(("keyword names",), _keyword_names),
    Reading(("bodies", "annotations", "globals", "kept", "nested"), _slots),
    Reading(("rebound", "foreign"), _rebound),
    Reading(("called as",), _called_as),
)


# --- what an expression says ----------------------------------------------------------------------------


def method_kind(function: Function) -> str:
    """`property`, `staticmethod`, `classmethod` or `method`, by the function's decorators."""
    for decorator in function.decorators:
        name = terminal_name(decorator) or ""
        if name in ("staticmethod", "classmethod"):
            return name
        if name.endswith("property"):
            return "property"
    return "staticmethod" if function.qualname.endswith(".__new__") else "method"


class _Names:
    """Names by name: each counts once, in whatever order a file has them."""

    def __init__(self) -> None:
        self._found: dict[str, set[str]] = {}

    def add(self, name: str, other: str) -> None:
        self._found.setdefault(name, set()).add(other)

    def put_into(self, table: Table) -> None:
        for name, others in self._found.items():
            table[name] += sorted(others)


def _all(table: Table, names: set[str]) -> None:
    """The file has these names; how often does not matter."""
    for name in names:
        table[name].append(True)


def _add_partial(calls: Table, where: FunctionRef, site: CallSite) -> None:
    """`partial(step, model)` calls `step` with a model first, whenever that may be."""
    function, *arguments = site.call.arguments
    name = _called_name(function)
    if name:
        call = replace(site.call, function=function, arguments=tuple(arguments))
        calls[name].append((where, replace(site, call=call)))


def _add_keys(value: Expr, found: set[str]) -> None:
    """The keys of a literal dict: `ModuleDict({"a": …}).a`."""
    match value:
        case facts.Display(keys=keys) if keys:
            found.update(key for key in keys if key)
        case facts.Call(arguments=arguments, keywords=keywords):
            for argument in arguments:
                _add_keys(argument, found)
            found.update(key for key, _ in keywords if key)


def _called_name(callee: Expr) -> str:
    """What a call goes by: of a dictionary of functions its key, or its own name if the key is not known."""
    match callee:
        case facts.Subscript(_, facts.Constant(str() as key)):
            return key
        case facts.Subscript(table):
            return _last_name(table)
    return _last_name(callee)


def _last_name(value: Expr) -> str:
    if isinstance(value, facts.Name):
        return value.id
    return value.name if isinstance(value, facts.Attribute) else ""


def _texts(value: Expr) -> Iterator[tuple[str, str]]:
    """The texts of literal dictionaries, also in lists of them."""
    if not isinstance(value, facts.Display):
        return
    for key, item in zip(value.keys, value.items, strict=False):
        if key and isinstance(item, facts.Constant) and isinstance(item.value, str):
            yield key, item.value
    for item in value.items:
        yield from _texts(item)


def handed_on(function: Function) -> Iterator[Expr]:
    """What a function hands all it is given on to, and returns: `return compile(*args, **kwargs)`."""
    rest = [facts.Element(facts.Name(p.name)) for p in function.parameters[:1] if p.kind == "vararg"]
    for value in function.returns if rest else ():
        if isinstance(value, facts.Call) and list(value.arguments) == rest:
            yield value.function


def _original(value: Expr) -> tuple[str, ...]:
    """The names that a value may be another one for."""
    match value:
        case facts.Attribute(facts.Name("re" | "regex"), _):
            return ()
        case facts.Name(name) | facts.Attribute(_, name) | facts.Import(_, str() as name):
            return (name,)
        case facts.Call(function, ()):
            return _original(function)
        case facts.Call(facts.Name("partial") | facts.Attribute(_, "partial"), (first, *_)):
            return _original(first)
        case facts.Choice(options):
            return tuple(name for option in options for name in _original(option))
    return ()


def _is_plain(binding: Binding) -> bool:
    """It binds a definition, or an import, to the name that it has there."""
    match binding.value:
        case facts.Import(name=name):
            return name is None or name == binding.name
    return isinstance(binding.value, facts.Definition)


def _kept(function: Function) -> Iterator[tuple[str, Expr]]:
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


def _mentions(expr: Expr, depth: int) -> Iterator[str]:
    """Names that an expression may have as its value, or holds as elements."""
    match expr:
        case facts.Name() | facts.Attribute():
            name = terminal_name(expr)
            if name is not None:
                yield name
        case facts.Choice(options) | facts.Display(_, options):
            for option in options:
                yield from _mentions(option, depth)
        case facts.Subscript(value):
            yield from _mentions(value, depth)
        case facts.Call(_, arguments) if depth > 1:
            for argument in arguments:
                yield from _mentions(argument, depth - 1)
