"""Aliases of one file: other names that functions, classes and compiled things are bound to."""

from __future__ import annotations

from typing import Any

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Binding, FileFacts, Store
from dynamo_lint.program.names import (
    classes_in,
    compiled_in,
    delegates_to,
    given_back,
    kept_by_classes,
    last_name,
    originals,
    possible_names,
    selected_from,
)
from dynamo_lint.program.refs import function_ref
from dynamo_lint.program.scopes import method_kind

Table = dict[str, list[Any]]


def read_aliases(
    file: FileFacts, aliases: Table, rows: Table, lookups: Table, compiled: Table, held: Table
) -> None:
    """Fill the tables of aliases: a name bound to a name, to a call with it, or a dictionary of it."""
    alias, row, lookup, made = Aliases(), Aliases(), Aliases(), Aliases()
    for function in file.functions.values():
        everything: tuple[Binding | Store, ...] = (*function.bindings, *function.stores)
        for bound in everything:
            value, name = bound.value, bound.name
            if isinstance(value, ir.Name):
                alias.add(value.id, name)
            elif isinstance(value, ir.Call):
                if isinstance(value.function, ir.Attribute) and value.function.name == "get":
                    lookup.add(last_name(value.function.value), name)
                elif value.arguments and isinstance(value.arguments[0], ir.Name):
                    alias.add(value.arguments[0].id, name)
            elif isinstance(value, ir.Subscript):
                lookup.add(last_name(value.value), name)
            elif isinstance(value, ir.Import):
                if value.name is not None and value.name != name:  # `from nets import Net as N`
                    alias.add(value.name, name)
            elif isinstance(value, ir.Display) and value.kind == "dict":
                for key, item in zip(value.keys, value.items, strict=False):
                    if isinstance(item, ir.Name | ir.Attribute):
                        row.add(last_name(item), name)
                        row.add(last_name(item), key or name)
            elif isinstance(value, ir.Typed):
                match value.annotation:
                    case ir.Subscript(ir.Name("type" | "Type"), ir.Name(original)):
                        alias.add(original, name)
            for item in (*selected_from(value), *classes_in(value)):
                alias.add(last_name(item), name)
            for original in compiled_in(value):
                made.add(original, name)
        if method_kind(function) == "property":
            for original in given_back(function):
                alias.add(original, function.qualname.rpartition(".")[2])
    for ref, name, value, where in kept_by_classes(file):
        alias.add(last_name(value), name)
        held[last_name(value)].append((ref, name, value, function_ref(file.path, where)))
    made.put_into(compiled)
    alias.put_into(aliases)
    row.put_into(rows)
    lookup.put_into(lookups)


def read_names(file: FileFacts, others: Table, imported: Table) -> None:
    """Under which other names something is bound, and what is imported by its name."""
    names: set[str] = set()
    found = Aliases()
    for function in file.functions.values():
        for binding in function.bindings:
            for name in originals(binding.value):
                found.add(name, binding.name)
            if isinstance(binding.value, ir.Import) and binding.value.name:
                names.add(binding.value.name)
        for callee in delegates_to(function):
            for name in originals(callee):
                found.add(name, function.qualname.rpartition(".")[2])
    found.put_into(others)
    for name in names:
        imported[name].append(True)


def read_called_as(file: FileFacts, called_as: Table) -> None:
    """Names under which something may be called: `block_fn=Block`, `layer_type = Block`, `[Block, …]`."""
    found = Aliases()
    for function in file.functions.values():
        for binding in function.bindings:
            for mentioned in possible_names(binding.value, 3):
                found.add(mentioned, binding.name)
        for store in function.stores:
            for mentioned in possible_names(store.value, 2):
                found.add(mentioned, store.name)
        for one in function.parameters:
            for mentioned in possible_names(one.default, 1) if one.default is not None else ():
                found.add(mentioned, one.name)
        for site in function.calls:
            for keyword, value in site.call.keywords:
                if keyword is not None:
                    for mentioned in possible_names(value, 1):
                        found.add(mentioned, keyword)
    found.put_into(called_as)


class Aliases:
    """Names by name: each counts once, in whatever order a file has them."""

    def __init__(self) -> None:
        self._found: dict[str, set[str]] = {}

    def add(self, name: str, other: str) -> None:
        """Something called `name` is `other` elsewhere."""
        self._found.setdefault(name, set()).add(other)

    def put_into(self, table: Table) -> None:
        """Add it all to the table of the project, in an order of its own."""
        for name, others in self._found.items():
            table[name] += sorted(others)
