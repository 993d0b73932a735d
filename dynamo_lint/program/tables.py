"""Whole-program tables by name, built when first asked for, or while other processes still read files.

The rows that one file adds follow from its facts alone, so that the next run can ask one file again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dynamo_lint.index import ir
from dynamo_lint.index.ir import (
    ITEM,
    MODULE_KEY,
    Binding,
    CallSite,
    Constant,
    Definition,
    Expr,
    FileFacts,
    Import,
    Name,
    Store,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import walk
from dynamo_lint.program.aliases import Aliases, read_aliases, read_called_as, read_names
from dynamo_lint.program.compile_values import read_compile_values
from dynamo_lint.program.deferred_calls import LATER, called_later
from dynamo_lint.program.dependencies import Recorder, asked_as
from dynamo_lint.program.descriptions import read_config_files, read_configs, read_words
from dynamo_lint.program.imports import MODULES, SCRIPTS
from dynamo_lint.program.item_path import item_path, key_of
from dynamo_lint.program.literal_arguments import loggers
from dynamo_lint.program.names import (
    add_keys,
    called_at_once,
    called_name,
    holds_settings,
    is_plain,
    kept_in,
    last_name,
    literal_strings,
    loaded_by,
)
from dynamo_lint.program.refs import ClassRef, FunctionRef, function_ref
from dynamo_lint.program.scopes import global_bindings, method_kind, own_names

Table = dict[str, list[Any]]
"""Rows by name."""
FILES = "files"
"""The table of all files, by their paths."""


def read_called(file: FileFacts, calling_given: Table) -> None:
    """The parameters that functions call: the function's name, which argument it is, and its own name."""
    for function in file.functions.values():
        callees = (site.call.function for site in function.calls)
        called = {callee.id for callee in callees if isinstance(callee, Name)}
        bound = int(function.owner is not None and method_kind(function) != "staticmethod")
        name = function.qualname.rpartition(".")[2]
        for place, parameter in enumerate(function.parameters[bound:]):
            if parameter.name in called:
                calling_given[name].append((name, place, parameter.name))


def read_passed_on(file: FileFacts, handed_as: Table, handed_at: Table) -> None:
    """The calls that pass something by a keyword or a name, and those that pass a function, by its place."""
    functions = {
        binding.name
        for values in file.functions.values()
        for binding in values.bindings
        if _defines(file, binding.value)
    }
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        for site in function.calls:
            call = site.call
            if not (call.arguments or call.keywords):
                continue
            names = [word for word, value in call.keywords if word and not isinstance(value, Constant)]
            for place, value in enumerate(call.arguments):
                if isinstance(value, Name):
                    names.append(value.id)
                if isinstance(value, Definition) or (isinstance(value, Name) and value.id in functions):
                    handed_at[str(place)].append((where, site))
            for name in dict.fromkeys(names):
                handed_as[name].append((where, site))


def _defines(file: FileFacts, value: Expr) -> bool:
    """Whether a name is bound to a function, or imported: what from, only the whole project knows."""
    if isinstance(value, Definition):
        return value.key in file.functions
    return isinstance(value, Import) and value.name is not None and value.name.islower()


class TableReader(NamedTuple):
    """One walk over a file, which fills several tables."""

    tables: tuple[str, ...]
    read: Callable[..., None]
    """Takes the facts of a file and the tables, which give an empty list for a new name."""


def _uses(
    file: FileFacts, calls: Table, passed: Table, stores: Table, keywords: Table, texts: Table, results: Table
) -> None:
    """Record the calls, stores and keywords of all function bodies by name."""
    keyword_of, text_of = Aliases(), Aliases()
    for key, function in file.functions.items():
        ref = function_ref(file.path, key)
        for site in function.calls:
            name, here = called_name(site.call.function), (ref, site)
            if name:
                calls[name].append(here)
            elif isinstance(site.call.function, ir.Call):
                results[terminal_name(site.call.function) or ""].append(here)
            for run in called_at_once(site.call.function) if not name else ():
                calls[last_name(run)].append((ref, replace(site, call=replace(site.call, function=run))))
            later = called_later(name, site.call) if name in LATER else None
            if later is not None and (name := called_name(later.function)):
                calls[name].append((ref, replace(site, call=later)))
            for keyword, value in site.call.keywords:
                if isinstance(value, ir.Constant):
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
            if isinstance(binding.value, ir.Display):
                for keyword, text in literal_strings(binding.value):
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
        if isinstance(binding.value, ir.Import) and binding.value.name
    }
    for key, class_ in file.classes.items():
        for base in class_.bases:
            name = last_name(base.value if isinstance(base, ir.Subscript) else base)
            derived[imported.get(name, name)].append(ClassRef(file.path, key))


def _imports(file: FileFacts, imports: Table) -> None:
    """Record the imports of a file without leading dots, by the first part of the module's name."""
    bound = (binding.value for function in file.functions.values() for binding in function.bindings)
    for target in dict.fromkeys([*(one for one in bound if isinstance(one, ir.Import)), *file.stars]):
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
    logs = loggers(file, own)
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        methods: set[str] = set()
        names: set[str] = set()
        other = False
        for site in function.calls:
            match site.call.function:
                case ir.Attribute(ir.Name(name)) if name in logs:
                    pass
                case ir.Attribute(_, name):
                    methods.add(name)
                case ir.Name(name) if name not in own:
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
        if any(isinstance(value, ir.Import) for value in values)
    }
    for key, function in file.functions.items():
        where = function_ref(file.path, key)
        for store in function.stores:
            if isinstance(store.owner, ir.Name) and store.owner.id in imported:
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


def _settings_made(file: FileFacts, made: Table, unwrapping: Table, terms: Table) -> None:
    """Record the stores into what may be the settings of a compiler; the files that unwrap modules, and those
    with terms of a contract."""
    if file.terms:
        terms[""].append((file.path, file.terms))
    if file.unwraps:
        unwrapping[""].append(file.path)
    bound = (binding for function in file.functions.values() for binding in function.bindings)
    handles = {binding.name for binding in bound if holds_settings(binding.value)}
    for key, function in file.functions.items():
        for store in (one for one in function.stores if one.name != ITEM):
            owner = store.owner
            while isinstance(owner, ir.Attribute) and not holds_settings(owner):
                owner = owner.value  # `config.triton.cudagraphs`
            if holds_settings(owner) or (isinstance(owner, ir.Name) and owner.id in handles):
                made[""].append((function_ref(file.path, key), store))


def _listed(file: FileFacts, listed: Table) -> None:
    """The lists and tables that a file binds at its top level, by each name in them."""
    for values in global_bindings(file).values():
        for value in values:
            if isinstance(value, ir.Display):
                parts = (part for part in walk(value) if isinstance(part, ir.Name | ir.Attribute))
                for name in {terminal_name(part) or "" for part in parts}:
                    listed[name].append((file.path, value))


def _itself(
    file: FileFacts, files: Table, modules: Table, scripts: Table, classes: Table, marked: Table
) -> None:
    """Enter a file: its name, what it may be imported by, its folder if it is a script, what it has."""
    folder, _, name = file.path.rpartition("/")
    files[file.path].append(True)
    tail = folder.rpartition("/")[2] if file.is_package else name.rpartition(".")[0] or name
    for called in {tail, file.module.rpartition(".")[2]}:
        modules[called].append(file.path)
    if file.is_script:
        scripts[folder].append(True)
    if file.classes:
        classes[file.path].extend(file.classes)
    if file.markers:
        marked[file.path].extend(file.markers)


OF_REGIONS = (
    TableReader((FILES, MODULES, SCRIPTS, "classes", "marked"), _itself),
    TableReader(("calls", "passed", "stores", "keywords", "texts", "results called"), _uses),
    TableReader(("aliases", "rows", "lookups", "compiled as", "held by classes"), read_aliases),
    TableReader(("known",), _known),
    TableReader(("loaded",), _loaded),
    TableReader(("definitions", "defined", "methods", "top"), _defined),
    TableReader(("decorated", "properties"), _decorated),
    TableReader(("derived",), _derived),
    TableReader(("others", "imported"), read_names),
    TableReader(("imports",), _imports),
    TableReader(("callers", "within"), _callers),
    TableReader(("keyword names",), _keyword_names),
    TableReader(("rebound", "foreign", "items"), _rebound),
    TableReader(("called as",), read_called_as),
    TableReader(("listed",), _listed),
    TableReader(("settings made", "unwrapping", "terms"), _settings_made),
    TableReader(("carrying", "carried to"), read_compile_values),
    TableReader(("calling given",), read_called),
    TableReader(("handed as", "handed at"), read_passed_on),
    TableReader(("settings", "described", "named in settings", "nodes"), read_config_files),
    TableReader(("configured", "typed"), read_configs),
    TableReader(("words",), read_words),
)
"""The tables that are read to find compiled code."""
OF_STATE = (
    TableReader(("methods called", "names called", "else called"), _callees),
    TableReader(("bodies", "plain methods", "annotations", "globals", "kept", "nested"), _slots),
)
"""The tables that are read, as a rule, only to find the state of compiled code."""
READINGS = (*OF_REGIONS, *OF_STATE)


def _is_method(file: FileFacts, binding: Binding) -> bool:
    """A class body binds a function, no property, to the name that it has."""
    match binding.value:
        case ir.Definition(key) if key in file.functions:
            function = file.functions[key]
            own = function.qualname.rpartition(".")[2]
            return own == binding.name and method_kind(function) != "property"
    return False


def _all(table: Table, names: set[str]) -> None:
    """The file has these names; how often does not matter."""
    for name in names:
        table[name].append(True)


FilledTables = Mapping[str, Table]
"""Some of the tables, by their names."""
NO_TABLES: FilledTables = {}


class GrowingTables:
    """The tables of some readings, which grow file by file: whole once all were added in their order."""

    def __init__(self, readings: Sequence[TableReader]) -> None:
        self._readings = readings
        self._tables: dict[str, Table] = {}
        self._waiting: list[FileFacts] | None = []
        """The files so far, as long as none shows that the tables will be needed."""

    @property
    def tables(self) -> FilledTables:
        """The tables of all readings, as far as files were added; or none."""
        return self._tables

    def add(self, file: FileFacts) -> None:
        """Take in the next file."""
        if self._waiting is None:
            self._read([file] if self._tables else [])
            return
        self._waiting.append(file)
        if file.compiles and _imports_torch(file):
            files, self._waiting = self._waiting, None
            self._tables = {name: defaultdict(list) for one in self._readings for name in one.tables}
            self._read(files)

    def _read(self, files: list[FileFacts]) -> None:
        try:
            for file in files:
                for reading in self._readings:
                    reading.read(file, *(self._tables[name] for name in reading.tables))
        except RecursionError:
            self._tables = {}  # who asks for one fills it, with more room than there is here


def _imports_torch(file: FileFacts) -> bool:
    """Whether the top level of a file imports torch, or something from it."""
    module = file.functions.get(MODULE_KEY)
    bound = [binding.value for binding in module.bindings] if module is not None else []
    return any(isinstance(v, ir.Import) and v.module.partition(".")[0] == "torch" for v in bound)


KNOWN = ("known", "defined")
"""The tables with all that anything in the project is called."""
ALWAYS_KNOWN = frozenset({"__call__", "apply", "forward"})
_READING = {table: reading for reading in READINGS for table in reading.tables}


class NameTables:
    """Where a name is called, stored, passed on, given another name, or used as a decorator."""

    def __init__(self, files: Mapping[str, FileFacts], notes: Recorder, gathered: FilledTables) -> None:
        self._files = files
        self._notes = notes
        self._noted: dict[str, Mapping[str, list[Any]]] = {}
        self._raw = dict(gathered)

    def named(self, table: str) -> Mapping[str, list[Any]]:
        """One of the tables."""
        known = self._noted.get(table)
        if known is None:
            if table not in self._raw:
                self._raw.update(tables_of(self._files.values(), _READING[table]))
            known = self._noted[table] = self._notes.of_project(self._raw[table], table)
        return known

    def screened(self, table: str, wanted: Callable[[str], bool]) -> Iterator[Any]:
        """The rows under the names that pass a test; of the others, that there are some is recorded.

        Not if the test is a question about a name: a later run asks it of names that are new.
        """
        named = self.named(table)
        names = self._raw[table].keys()
        if test := asked_as(wanted):
            self._notes.tests.setdefault(table, set()).add(test)
        else:
            self._notes.tested.setdefault(table, set()).update(names)
        for name in names:
            if wanted(name):
                yield from named[name]

    def screened_if_known(self, table: str, wanted: Callable[[str], bool]) -> Iterator[Any]:
        """The rows under the names that the project knows and that pass a test."""
        named = self.named(table)
        names = self._raw[table].keys()
        if self._notes.wanted and table not in self._notes.untested:
            for one in KNOWN:
                self.named(one)
            known = ALWAYS_KNOWN.union(*(self._raw[one] for one in KNOWN))
            self._notes.untested[table] = set(known - names)
        for name in names:
            if self.is_known(name) and wanted(name):
                yield from named[name]

    def calls_of(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Call sites whose callee ends in `name`."""
        return self.named("calls").get(name, [])

    def stores_of(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Attribute stores `anything.name = …`, in every function."""
        return self.named("stores").get(name, [])

    def items_stored(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Stores into the items of a container that is called so."""
        return self.named("items").get(name, [])

    def aliases_of(self, name: str) -> set[str]:
        """Names that `name` is bound to as it is, through a call (`step = torch.compile(train_step)`), by
        being passed as a keyword (`Spec(parallelize=parallelize_llama)`), or by way of a dictionary."""
        found = set(self.named("aliases").get(name, ()))
        for row in set(self.named("rows").get(name, ())):
            found.add(row)
            found.update(self.named("lookups").get(row, ()))
        if name in self.named("defined") or name in self.named("top"):
            found.update(self.named("keywords").get(name, ()))
        return found

    def other_names(self, names: Iterable[str]) -> set[str]:
        """The names, and all that something so called may have elsewhere: aliases of aliases included."""
        known, others = set(names), self.named("others")
        pending = list(known)
        while pending:
            more = set(others.get(pending.pop(), ())) - known
            known |= more
            pending += more
        return known

    def passed_on(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Calls that pass the function `name` as a keyword argument."""
        return self.named("passed").get(name, []) if name in self.named("defined") else []

    def decorated_with(self, name: str) -> list[tuple[FunctionRef | ClassRef, Expr]]:
        """Functions and classes with a decorator that ends in `name`."""
        return self.named("decorated").get(name, [])

    def derived_from(self, name: str) -> list[ClassRef]:
        """Classes that list a base called `name`, under that name or another that it is imported as."""
        return self.named("derived").get(name, [])

    def strings_passed_as(self, name: str) -> list[str]:
        """The literal strings passed anywhere as keyword `name`: what a configuration field may say."""
        return sorted(set(self.named("texts").get(name, ())))

    def times_defined(self, name: str) -> int:
        """How many functions and methods of the project have a name."""
        return len(self.named("definitions").get(name, ()))

    def is_known(self, name: str) -> bool:
        """Whether anything in the project is called so: a definition, an attribute, an item of a dict."""
        return any(name in self.named(table) for table in KNOWN) or name in ALWAYS_KNOWN


def tables_of(files: Iterable[FileFacts], reading: TableReader) -> dict[str, Table]:
    """The tables that one way of reading files fills."""
    tables: dict[str, Table] = {name: defaultdict(list) for name in reading.tables}
    for file in files:
        reading.read(file, *tables.values())
    return tables
