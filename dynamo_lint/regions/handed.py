"""What one file says of functions handed over: who calls what it is given, and who passes what on."""

from __future__ import annotations

from typing import Any

from dynamo_lint.index.facts import Constant, Definition, Expr, FileFacts, Import, Name
from dynamo_lint.program.refs import function_ref
from dynamo_lint.regions.scopes import method_kind

Table = dict[str, list[Any]]


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


def read_handed(file: FileFacts, handed_as: Table, handed_at: Table) -> None:
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
