"""What a file, a class or a function binds by itself, each read once: no name is followed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Binding, Expr, FileFacts, Parameter, Store
from dynamo_lint.regions.model import ClassRef, FunctionRef


class Local(NamedTuple):
    """One name of a function's own scope."""

    bound: list[Expr]
    parameter: Parameter | None = None


OwnStores = dict[str, list[tuple[FunctionRef, Store]]]
_NO_STORES: OwnStores = {}


class Scopes:
    """The names of every scope, remembered: the facts never change."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._globals: dict[str, dict[str, list[Expr]]] = {}
        self._bodies: dict[ClassRef, dict[str, list[Binding]]] = {}
        self._locals: dict[FunctionRef, dict[str, Local]] = {}
        self._owners: dict[FunctionRef, ClassRef | None] = {}
        self._stores: dict[str, dict[ClassRef, OwnStores]] = {}

    def global_bindings(self, path: str) -> dict[str, list[Expr]]:
        """Module-level bindings of a file by name, `global` assignments in its functions included."""
        known = self._globals.get(path)
        if known is None:
            known = self._globals[path] = {}
            for function in self._files[path].functions.values():
                if function.key == MODULE_KEY or function.globals:
                    for binding in function.bindings:
                        if function.key == MODULE_KEY or binding.name in function.globals:
                            known.setdefault(binding.name, []).append(binding.value)
        return known

    def class_bindings(self, ref: ClassRef) -> dict[str, list[Binding]]:
        """The bindings of one class body by name."""
        table = self._bodies.get(ref)
        if table is None:
            table = self._bodies[ref] = {}
            for binding in self._files[ref.path].classes[ref.key].bindings:
                table.setdefault(binding.name, []).append(binding)
        return table

    def locals_of(self, ref: FunctionRef) -> dict[str, Local]:
        """The names that belong to a function itself: assigned in it and not `global`, or its parameters."""
        table = self._locals.get(ref)
        if table is None:
            function = self._files[ref.path].functions[ref.key]
            table = self._locals[ref] = {}
            for binding in function.bindings:
                if binding.name not in function.globals:
                    table.setdefault(binding.name, Local([])).bound.append(binding.value)
            for parameter in reversed(function.parameters):
                table[parameter.name] = table.get(parameter.name, Local([]))._replace(parameter=parameter)
        return table

    def owner(self, ref: FunctionRef) -> ClassRef | None:
        """The class whose body holds the function, or holds the method around a nested function."""
        if ref not in self._owners:
            function = self._files[ref.path].functions[ref.key]
            if function.owner is not None:
                self._owners[ref] = ClassRef(ref.path, function.owner)
            else:
                outer = function.outer or MODULE_KEY
                around = None if outer == MODULE_KEY else self.owner(FunctionRef(ref.path, outer))
                self._owners[ref] = around
        return self._owners[ref]

    def self_name(self, ref: FunctionRef) -> str | None:
        """What the function (or the method around it) calls its instance."""
        functions = self._files[ref.path].functions
        function = functions[ref.key]
        while function.owner is None:
            if function.outer in (None, MODULE_KEY):
                return None
            function = functions[function.outer or MODULE_KEY]
        return function.parameters[0].name if function.parameters else None

    def own_stores(self, ref: ClassRef) -> OwnStores:
        """`self.name = …` in the methods of one class by name; `name[]` holds stores into `self.name`."""
        of_file = self._stores.get(ref.path)
        if of_file is None:
            of_file = self._stores[ref.path] = self._stores_by_class(ref.path)
        return of_file.get(ref, _NO_STORES)

    def _stores_by_class(self, path: str) -> dict[ClassRef, OwnStores]:
        tables: dict[ClassRef, OwnStores] = {}
        for key, function in self._files[path].functions.items():
            where = FunctionRef(path, key)
            owner = self.owner(where) if function.stores else None
            if owner is None:
                continue
            table = tables.setdefault(owner, {})
            self_name = facts.Name(self.self_name(where) or "")
            for store in function.stores:
                match store.owner:
                    case facts.Name() as name if name == self_name:
                        table.setdefault(store.name, []).append((where, store))
                    case facts.Attribute(inner, name) if inner == self_name and store.name == facts.ITEM:
                        table.setdefault(name + facts.ITEM, []).append((where, store))
        return tables
