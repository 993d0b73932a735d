"""What the facts of one file add to the tables of the whole project, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Binding, FileFacts
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import ClassRef, function_ref
from dynamo_lint.regions.carried import read_carried
from dynamo_lint.regions.descriptions import read_configs, read_settings, read_words
from dynamo_lint.regions.handed import read_called, read_handed
from dynamo_lint.regions.itempath import item_path, key_of
from dynamo_lint.regions.later import LATER, called_later
from dynamo_lint.regions.naming import (
    add_keys,
    called_at_once,
    called_name,
    is_plain,
    kept_in,
    last_name,
    loaded_by,
    texts_in,
)
from dynamo_lint.regions.renaming import Names, read_aliases, read_called_as, read_names
from dynamo_lint.regions.scopes import global_bindings, method_kind, own_names

Table = dict[str, list[Any]]


class Reading(NamedTuple):
    """One walk over a file, which fills several tables."""

    tables: tuple[str, ...]
    read: Callable[..., None]
    """Takes the facts of a file and the tables, which give an empty list for a new name."""


def _uses(
    file: FileFacts, calls: Table, passed: Table, stores: Table, keywords: Table, texts: Table, results: Table
) -> None:
    """What the bodies of all functions say of names."""
    keyword_of, text_of = Names(), Names()
    for key, function in file.functions.items():
        ref = function_ref(file.path, key)
        for site in function.calls:
            name, here = called_name(site.call.function), (ref, site)
            if name:
                calls[name].append(here)
            elif isinstance(site.call.function, facts.Call):
                results[terminal_name(site.call.function) or ""].append(here)
            for run in called_at_once(site.call.function) if not name else ():
                calls[last_name(run)].append((ref, replace(site, call=replace(site.call, function=run))))
            later = called_later(name, site.call) if name in LATER else None
            if later is not None and (name := called_name(later.function)):
                calls[name].append((ref, replace(site, call=later)))
            for keyword, value in site.call.keywords:
                if isinstance(value, facts.Constant):
                    if keyword and isinstance(value.value, str):
                        text_of.add(keyword, value.value)
                elif name := last_name(value):
                    passed[name].append(here)
                    if keyword is not None and keyword != name:
                        keyword_of.add(name, keyword)
        for parameter in function.parameters:
            if parameter.default is not None and (name := last_name(parameter.default)):
                keyword_of.add(name, parameter.name)
        for binding in function.bindings:
            if isinstance(binding.value, facts.Display):
                for keyword, text in texts_in(binding.value):
                    text_of.add(keyword, text)
        for store in function.stores:
            stores[store.name].append((ref, store))
    keyword_of.put_into(keywords)
    text_of.put_into(texts)


def _loaded(file: FileFacts, loaded: Table) -> None:
    _all(loaded, {name for function in file.functions.values() for name in loaded_by(function)})


def _known(file: FileFacts, known: Table) -> None:
    found: set[str] = set()
    for class_ in file.classes.values():
        found.add(class_.qualname.rpartition(".")[2])
        found.update(binding.name for binding in class_.bindings)
        found.update(name for name, _ in class_.annotations)
    for function in file.functions.values():
        if function.key == MODULE_KEY or function.globals:
            found.update(binding.name for binding in function.bindings)
        for binding in function.bindings:
            add_keys(binding.value, found)
        for store in function.stores:
            add_keys(store.value, found)
            found.add(key_of(store) or store.name)  # a ModuleDict has its items as attributes
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
            decorated[terminal_name(decorator) or ""].append((function_ref(file.path, key), decorator))
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
            name = last_name(base.value if isinstance(base, facts.Subscript) else base)
            derived[imported.get(name, name)].append(ClassRef(file.path, key))


def _imports(file: FileFacts, imports: Table) -> None:
    """What a file imports without leading dots, by the first part of the module's name."""
    bound = (binding.value for function in file.functions.values() for binding in function.bindings)
    for target in dict.fromkeys([*(one for one in bound if isinstance(one, facts.Import)), *file.stars]):
        if target.level == 0:
            imports[target.module.partition(".")[0]].append(target)


def _callers(file: FileFacts, callers: Table, within: Table) -> None:
    """The functions that call something by its name, or what that gives; those that call in a context."""
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        for name in dict.fromkeys(terminal_name(site.call.function) for site in function.calls):
            if name is not None:
                callers[name].append(where)
        if any(site.context is not None for site in function.calls):
            within[""].append(where)


def _callees(file: FileFacts, methods_called: Table, names_called: Table, else_called: Table) -> None:
    """The functions that call something: by its name if all of the file means the same by it, or else."""
    own, bound = own_names(file), global_bindings(file)
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        methods: set[str] = set()
        names: set[str] = set()
        other = False
        for site in function.calls:
            match site.call.function:
                case facts.Attribute(_, name):
                    methods.add(name)
                case facts.Name(name) if name not in own:
                    if name in bound or file.stars:  # what nobody binds is a builtin
                        names.add(name)
                case _:
                    other = True
        for name in methods:
            methods_called[name].append(where)
        for name in names:
            names_called[f"{file.path}:{name}"].append(where)
        if other:
            else_called[""].append(where)


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
    file: FileFacts,
    bodies: Table,
    methods: Table,
    annotations: Table,
    globals_: Table,
    kept: Table,
    nested: Table,
) -> None:
    """Where values may be kept: class bodies (methods apart), modules, literal dictionaries."""
    for key, class_ in file.classes.items():
        ref = ClassRef(file.path, key)
        for binding in class_.bindings:
            table = methods if _is_method(file, binding) else bodies
            table[binding.name].append((ref, binding.value))
        for name, annotation in class_.annotations:
            annotations[name].append((ref, annotation))
        if "." in key:
            nested[ref.name].append(ref)
    module = function_ref(file.path, MODULE_KEY)
    for key, function in file.functions.items():
        if key == MODULE_KEY or function.globals:
            for binding in function.bindings:
                if not is_plain(binding):
                    globals_[binding.name].append((module, binding.value))
        where = function_ref(file.path, key)
        for name, value in kept_in(function):
            kept[name].append((where, value))


def _rebound(file: FileFacts, rebound: Table, foreign: Table, items: Table) -> None:
    """Attributes, or the containers below them, that functions rebind; those of what a file imports; what is
    stored into the items of containers, by the name that the container has or is seen through."""
    imported = {
        name
        for name, values in global_bindings(file).items()
        if any(isinstance(value, facts.Import) for value in values)
    }
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        for store in function.stores:
            if isinstance(store.owner, facts.Name) and store.owner.id in imported:
                foreign[""].append((where, store))
            if store.name != ITEM:
                rebound[store.name].append((where, store.line))
                continue
            path = item_path(store.owner, function)
            if path is not None and path.owner is not None:
                rebound[path.name].append((where, store.line))
            for name in {path.name if path is not None else None, terminal_name(store.owner)}:
                if name is not None:
                    items[name].append((where, store))


def _listed(file: FileFacts, listed: Table) -> None:
    """The lists and tables that a file binds at its top level, by each name in them."""
    for values in global_bindings(file).values():
        for value in values:
            if isinstance(value, facts.Display):
                parts = (part for part in walk(value) if isinstance(part, facts.Name | facts.Attribute))
                for name in {terminal_name(part) or "" for part in parts}:
                    listed[name].append((file.path, value))


OF_REGIONS = (
    Reading(("calls", "passed", "stores", "keywords", "texts", "results called"), _uses),
    Reading(("aliases", "rows", "lookups", "compiled as", "held by classes"), read_aliases),
    Reading(("known",), _known),
    Reading(("loaded",), _loaded),
    Reading(("definitions", "defined", "methods", "top"), _defined),
    Reading(("decorated", "properties"), _decorated),
    Reading(("derived",), _derived),
    Reading(("others", "imported"), read_names),
    Reading(("imports",), _imports),
    Reading(("callers", "within"), _callers),
    Reading(("keyword names",), _keyword_names),
    Reading(("rebound", "foreign", "items"), _rebound),
    Reading(("called as",), read_called_as),
    Reading(("listed",), _listed),
    Reading(("carrying", "carried to"), read_carried),
    Reading(("calling given",), read_called),
    Reading(("handed as", "handed at"), read_handed),
    Reading(("settings", "described", "named in settings", "nodes"), read_settings),
    Reading(("configured", "typed"), read_configs),
    Reading(("words",), read_words),
)
"""What is asked to find out what is compiled."""
OF_STATE = (
    Reading(("methods called", "names called", "else called"), _callees),
    Reading(("bodies", "plain methods", "annotations", "globals", "kept", "nested"), _slots),
)
"""What is asked, as a rule, only to find out what state compiled code has."""
READINGS = (*OF_REGIONS, *OF_STATE)


# --- what an expression says ----------------------------------------------------------------------------


def _is_method(file: FileFacts, binding: Binding) -> bool:
    """A class body binds a function, no property, to the name that it has."""
    match binding.value:
        case facts.Definition(key) if key in file.functions:
            function = file.functions[key]
            own = function.qualname.rpartition(".")[2]
            return own == binding.name and method_kind(function) != "property"
    return False


def _all(table: Table, names: set[str]) -> None:
    """The file has these names; how often does not matter."""
    for name in names:
        table[name].append(True)
