"""The bindings of each scope: a symbol table for every function, class and file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dynamo_lint.index import ir
from dynamo_lint.index.ir import (
    ITEM,
    MODULE_KEY,
    Binding,
    CallSite,
    Expr,
    FileFacts,
    Function,
    Parameter,
    Store,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.dependencies import Recorder, RecordingTable
from dynamo_lint.program.item_path import ANY_ITEM, item_path, key_of, nested
from dynamo_lint.program.literal_arguments import FileCalls, PassedArguments
from dynamo_lint.program.names import changed_names, is_replaced, mentioned_in, set_globally
from dynamo_lint.program.refs import ClassRef, FunctionRef


class Local(NamedTuple):
    """One name of a function's own scope."""

    bound: tuple[Expr, ...] = ()
    parameter: Parameter | None = None
    lines: tuple[int, ...] = ()
    """Where each value is bound, in a function that asks what a parameter is."""


OwnStores = Mapping[str, list[tuple[FunctionRef, Store]]]
Items = list[tuple[str | None, Expr]]
"""The values put into a container, each with its literal key."""


class Scopes:
    """The names of every scope, remembered: the facts never change. Which of them are asked for is noted."""

    def __init__(
        self, files: Mapping[str, FileFacts], seen: Mapping[str, FileFacts], notes: Recorder
    ) -> None:
        self._files = files
        self._seen = seen
        """The same files, where reading a function is noted."""
        self._notes = notes
        parts = {part for path in files for part in path.removesuffix(".py").split("/")}
        self._like_libraries = sorted(parts & sys.stdlib_module_names)
        """Modules of Python itself after which a file or folder of the project is called."""
        self._globals: dict[str, Mapping[str, list[Expr]]] = {}
        self._filled: dict[str, Mapping[str, list[tuple[FunctionRef, Expr]]]] = {}
        self._set: dict[str, Mapping[str, list[tuple[FunctionRef, Expr]]]] = {}
        self._own: dict[str, Mapping[str, bool]] = {}
        self._inside: dict[str, Mapping[str, list[str]]] = {}
        self._bodies: dict[ClassRef, Mapping[str, list[Binding]]] = {}
        self._locals: dict[FunctionRef, Mapping[str, Local]] = {}
        self._bound: dict[FunctionRef, Mapping[str, list[Binding]]] = {}
        self._items: dict[FunctionRef, Mapping[str, Items]] = {}
        self._stores: dict[ClassRef, OwnStores] = {}
        self._stored: dict[str, dict[str, dict[str, list[tuple[FunctionRef, Store]]]]] = {}
        self._shapes: dict[str, tuple[FileCalls, RecordingTable[tuple[PassedArguments, ...]]]] = {}
        self._kept: dict[str, Mapping[str, list[str]]] = {}
        self._mentioned: dict[str, Mapping[str, bool]] = {}
        self._owners: dict[FunctionRef, ClassRef | None] = {}

    def _read(self, sort: str, path: str, key: str = "") -> Mapping[str, Any]:
        """A table of a file, read as a later run will read it to see whether the answers are the same."""
        return self._notes.of_file(TABLES[sort](self._files[path], key), path, sort, key)

    def global_bindings(self, path: str) -> Mapping[str, list[Expr]]:
        """Module-level bindings of a file by name, `global` assignments in its functions included."""
        known = self._globals.get(path)
        if known is None:
            known = self._globals[path] = self._read("globals", path)
        return known

    def filled_in(self, path: str) -> Mapping[str, list[tuple[FunctionRef, Expr]]]:
        """The expressions that functions put into global containers of their file: `REGISTRY[name] = cls`."""
        known = self._filled.get(path)
        if known is None:
            known = self._filled[path] = self._read("filled", path)
        return known

    def set_in(self, path: str) -> Mapping[str, list[tuple[FunctionRef, Expr]]]:
        """The names and values that the functions of a file bind globally: `global model; model = given`."""
        known = self._set.get(path)
        if known is None:
            known = self._set[path] = self._read("set", path)
        return known

    def own_names(self, path: str) -> Mapping[str, bool]:
        """Names that some function of a file has to itself."""
        known = self._own.get(path)
        if known is None:
            known = self._own[path] = self._read("own", path)
        return known

    def inside(self, ref: FunctionRef) -> list[str]:
        """The keys of the functions that stand in a function."""
        known = self._inside.get(ref.path)
        if known is None:
            known = self._inside[ref.path] = self._read("inside", ref.path)
        return known.get(ref.key, [])

    def imports_of(self, path: str) -> list[ir.Import]:
        """The imports of a file, wherever they stand, of what may be a file of the project."""
        table = self._read("imports", path)
        return [one for name in ("", *self._like_libraries) for one in table.get(name, ())]

    def changed_in(self, path: str) -> Mapping[str, None]:
        """The names of a file that its code changes after they were bound."""
        return self._read("changed", path)

    def class_bindings(self, ref: ClassRef) -> Mapping[str, list[Binding]]:
        """The bindings of one class body by name."""
        known = self._bodies.get(ref)
        if known is None:
            known = self._bodies[ref] = self._read("body", ref.path, ref.key)
        return known

    def locals_of(self, ref: FunctionRef) -> Mapping[str, Local]:
        """The names that belong to a function itself: assigned in it and not `global`, or its parameters."""
        known = self._locals.get(ref)
        if known is None:
            known = self._locals[ref] = self._read("locals", ref.path, ref.key)
        return known

    def bindings_of(self, ref: FunctionRef) -> Mapping[str, list[Binding]]:
        """The bindings of one function by name, those of `global` names included."""
        known = self._bound.get(ref)
        if known is None:
            known = self._bound[ref] = self._read("bindings", ref.path, ref.key)
        return known

    def home_of(self, name: str, ref: FunctionRef) -> FunctionRef:
        """The function that a name belongs to, as seen from a function, or else the top level of the file."""
        while ref.key != MODULE_KEY and name not in self.locals_of(ref):
            ref = FunctionRef(ref.path, self._seen[ref.path].functions[ref.key].outer or MODULE_KEY)
        return ref

    def items_of(self, ref: FunctionRef) -> Mapping[str, Items]:
        """The expressions that a function puts into containers, by name: `name[…] = value`."""
        known = self._items.get(ref)
        if known is None:
            known = self._items[ref] = self._read("items", ref.path, ref.key)
        return known

    def own_stores(self, ref: ClassRef) -> OwnStores:
        """`self.name = …` in the methods of one class by name; `name[]` holds stores into `self.name`,
        `name[][]` those into what a loop over it gives."""
        known = self._stores.get(ref)
        if known is None:
            if ref.path not in self._stored:
                self._stored[ref.path] = _stores_by_class(self._files[ref.path])
            table = self._stored[ref.path].get(ref.key, {})
            known = self._stores[ref] = self._notes.of_file(table, ref.path, "stores", ref.key)
        return known

    def kept_under(self, path: str) -> Mapping[str, list[str]]:
        """The names that functions of a file keep attributes under: `old = m.forward`, by `key attribute`."""
        known = self._kept.get(path)
        if known is None:
            known = self._kept[path] = self._read("kept", path)
        return known

    def mentioned_in(self, path: str) -> Mapping[str, bool]:
        """The names and texts in what the functions of a file call, assign and return."""
        known = self._mentioned.get(path)
        if known is None:
            known = self._mentioned[path] = self._read("mentioned", path)
        return known

    def calls_in(self, ref: FunctionRef, wanted: Callable[[Expr, str], bool]) -> list[CallSite]:
        """The calls in a function whose callees pass a test; nothing is noted of the others."""
        table, noted = self._shapes_in(ref.path)
        found = [site for site in table.sites(ref.key) if wanted(site.call.function, ref.path)]
        for site in found:
            noted.note(table.question(ref.key, site.call.function))
        noted.note(table.question(ref.key, ir.UNKNOWN))  # whose names say nothing of what they are
        return found

    def arguments_in(self, ref: FunctionRef, site: CallSite) -> PassedArguments:
        """The arguments that one call in a function passes."""
        table, noted = self._shapes_in(ref.path)
        noted.note(table.question(ref.key, site.call.function))
        return table.arguments_of(ref.key, site)

    def _shapes_in(self, path: str) -> tuple[FileCalls, RecordingTable[tuple[PassedArguments, ...]]]:
        known = self._shapes.get(path)
        if known is None:
            table = _shapes(self._files[path])
            known = self._shapes[path] = table, self._notes.noted(table, path, "shapes")
        return known

    def owner(self, ref: FunctionRef) -> ClassRef | None:
        """The class whose body holds the function, or holds the method around a nested function."""
        if ref not in self._owners:
            key = _owner(self._seen[ref.path].functions, ref.key)
            self._owners[ref] = None if key is None else ClassRef(ref.path, key)
        return self._owners[ref]

    def self_name(self, ref: FunctionRef) -> str | None:
        """The name of the instance in the function, or the method around it; None if it has none."""
        return _self_name(self._seen[ref.path].functions, ref.key)

    def is_self(self, expr: Expr, ref: FunctionRef) -> bool:
        """Whether an expression in the function is its instance."""
        return isinstance(expr, ir.Name) and expr.id == self.self_name(ref)


def method_kind(function: Function) -> str:
    """`property`, `staticmethod`, `classmethod` or `method`, by the function's decorators."""
    for decorator in function.decorators:
        name = terminal_name(decorator) or ""
        if name in ("staticmethod", "classmethod"):
            return name
        if name.endswith("property"):
            return "property"
    if function.qualname.endswith((".__init_subclass__", ".__class_getitem__")):
        return "classmethod"  # without a decorator
    return "staticmethod" if function.qualname.endswith(".__new__") else "method"


def global_bindings(file: FileFacts) -> dict[str, list[Expr]]:
    """The names and values that a file binds at its top level, and by `global`."""
    table: dict[str, list[Expr]] = {}
    for function in file.functions.values():
        if function.key == MODULE_KEY or function.globals:
            for binding in function.bindings:
                if function.key == MODULE_KEY or binding.name in function.globals:
                    table.setdefault(binding.name, []).append(binding.value)
    for name, values in table.items():
        if len(values) > 1 and is_replaced(file, name, values):
            del values[:-1]
    return table


def own_names(file: FileFacts) -> dict[str, bool]:
    """The names that functions of a file bind for themselves, or have as parameters."""
    found: dict[str, bool] = {}
    for function in file.functions.values():
        if function.key != MODULE_KEY:
            found.update([(binding.name, True) for binding in function.bindings])
            found.update([(parameter.name, True) for parameter in function.parameters])
    return found


def _inside(file: FileFacts) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for key, function in file.functions.items():
        if function.outer is not None:
            table.setdefault(function.outer, []).append(key)
    return table


def _imports(file: FileFacts) -> dict[str, list[ir.Import]]:
    """The imports of a file; those of Python's own modules apart, each by its name."""
    bound = (binding.value for function in file.functions.values() for binding in function.bindings)
    stars = (ir.Import(star.module, None, star.level) for star in file.stars)
    table: dict[str, list[ir.Import]] = {}
    for one in dict.fromkeys([*(one for one in bound if isinstance(one, ir.Import)), *stars]):
        first = one.module.partition(".")[0]
        own = one.level == 0 and first in sys.stdlib_module_names
        table.setdefault(first if own else "", []).append(one)
    return table


def _shapes(file: FileFacts) -> FileCalls:
    return FileCalls(file, own_names(file), _inside(file))


def _kept(file: FileFacts) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for key, function in file.functions.items():
        stores: list[Binding | Store] = [*function.bindings, *function.stores]
        for one in stores:
            if isinstance(one.value, ir.Attribute):
                table.setdefault(f"{key} {one.value.name}", []).append(one.name)
    return table


def _by_name(bindings: Iterable[Binding]) -> dict[str, list[Binding]]:
    table: dict[str, list[Binding]] = {}
    for binding in bindings:
        table.setdefault(binding.name, []).append(binding)
    return table


def _locals(function: Function) -> dict[str, Local]:
    bound: dict[str, list[Binding]] = {}
    for binding in function.bindings:
        if binding.name not in function.globals:
            bound.setdefault(binding.name, []).append(binding)
    table = {
        name: Local(
            tuple(one.value for one in found), lines=tuple(one.line for one in found if function.picked)
        )
        for name, found in bound.items()
    }
    for parameter in reversed(function.parameters):
        table[parameter.name] = table.get(parameter.name, Local())._replace(parameter=parameter)
    return table


def _items(function: Function) -> dict[str, Items]:
    table: dict[str, Items] = {}
    for store in function.stores:
        if store.name == ITEM and isinstance(store.owner, ir.Name):
            table.setdefault(store.owner.id, []).append((key_of(store), store.value))
        match nested(store, by_attribute=True):
            case Store(ir.Name(name)) as inner if _is_dictionary(name, function):
                table.setdefault(name, []).append((key_of(inner), inner.value))
    return table


def _is_dictionary(name: str, function: Function) -> bool:
    """Whether a local name is bound to a dictionary, of modules or of anything."""
    for binding in function.bindings:
        match binding.value:
            case ir.Display("dict") if binding.name == name:
                return True
            case ir.Call(made) if binding.name == name:
                return terminal_name(made) in ("ModuleDict", "dict", "OrderedDict", "defaultdict")
    return False


def _filled(file: FileFacts) -> dict[str, list[tuple[FunctionRef, Expr]]]:
    table: dict[str, list[tuple[FunctionRef, Expr]]] = {}
    for key, function in file.functions.items():
        if key != MODULE_KEY:
            for name, values in _items(function).items():
                if _is_global(file, key, name):
                    where = FunctionRef(file.path, key)
                    table.setdefault(name, []).extend((where, value) for _, value in values)
    return table


def _is_global(file: FileFacts, key: str, name: str) -> bool:
    """Whether no function around a place has the name for itself."""
    while key != MODULE_KEY:
        function = file.functions[key]
        if any(parameter.name == name for parameter in function.parameters):
            return False
        if name not in function.globals and any(binding.name == name for binding in function.bindings):
            return False
        key = function.outer or MODULE_KEY
    return True


def _owner(functions: Mapping[str, Function], key: str) -> str | None:
    function = functions[key]
    while function.owner is None:
        if function.outer in (None, MODULE_KEY):
            return None
        function = functions[function.outer or MODULE_KEY]
    return function.owner


def _self_name(functions: Mapping[str, Function], key: str) -> str | None:
    function = functions[key]
    while function.owner is None:
        if function.outer in (None, MODULE_KEY):
            return None
        function = functions[function.outer or MODULE_KEY]
    if not function.parameters or method_kind(function) == "staticmethod":
        return None
    return function.parameters[0].name


def _stores_by_class(file: FileFacts) -> dict[str, dict[str, list[tuple[FunctionRef, Store]]]]:
    tables: dict[str, dict[str, list[tuple[FunctionRef, Store]]]] = {}
    for key, function in file.functions.items():
        owner = _owner(file.functions, key) if function.stores else None
        if owner is None:
            continue
        where = FunctionRef(file.path, key)
        table = tables.setdefault(owner, {})
        self_name = ir.Name(_self_name(file.functions, key) or "")
        for store in function.stores:
            match store.owner:
                case ir.Name() as name if name == self_name:
                    table.setdefault(store.name, []).append((where, store))
                case ir.Attribute(inner, name) if inner == self_name and store.name == ITEM:
                    table.setdefault(name + ITEM, []).append((where, store))
                case ir.Name() if store.name == ITEM:
                    path = item_path(store.owner, function)
                    if path is not None and path.owner == self_name and path.steps == (ANY_ITEM,):
                        table.setdefault(path.name + ITEM + ITEM, []).append((where, store))
    return tables


TABLES: Mapping[str, Callable[[FileFacts, str], Any]] = {
    "functions": lambda file, _: dict.fromkeys(file.functions),
    "classes": lambda file, _: dict.fromkeys(file.classes),
    "function": lambda file, key: file.functions[key],
    "class": lambda file, key: file.classes[key],
    "globals": lambda file, _: global_bindings(file),
    "own": lambda file, _: own_names(file),
    "inside": lambda file, _: _inside(file),
    "imports": lambda file, _: _imports(file),
    "changed": lambda file, _: dict.fromkeys(sorted(changed_names(file))),
    "set": lambda file, _: set_globally(file),
    "filled": lambda file, _: _filled(file),
    "body": lambda file, key: _by_name(file.classes[key].bindings),
    "bindings": lambda file, key: _by_name(file.functions[key].bindings),
    "locals": lambda file, key: _locals(file.functions[key]),
    "items": lambda file, key: _items(file.functions[key]),
    "kept": lambda file, _: _kept(file),
    "mentioned": lambda file, _: dict.fromkeys(mentioned_in(file), True),
    "shapes": lambda file, _: _shapes(file),
    "stores": lambda file, key: _stores_by_class(file).get(key, {}),
}
"""How to ask again what was noted, by the sort of table."""
