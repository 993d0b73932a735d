"""`torch.compile` as a first-class value: `self.compiler = torch.compile`, `{"on": torch.compile}`, `map(…)`.

A call of what holds it compiles, under whichever name. The names are found first, since evaluating every
callee would be slow; what a call of such a name really is, its value says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dynamo_lint.index.ir import (
    Attribute,
    Call,
    CallSite,
    Choice,
    Constant,
    Display,
    Element,
    Expr,
    FileFacts,
    Name,
)
from dynamo_lint.program.names import called_name, last_name

_COMPILE = Attribute(Name("torch"), "compile")
_HOLDING = frozenset({"partial", "staticmethod"})
"""Callables that keep the function that they are given, to be called later."""


def read_compile_values(
    file: FileFacts, carrying: dict[str, list[Any]], carried_to: dict[str, list[Any]]
) -> None:
    """The names that torch.compile has in a file, and the functions that give it or are given it."""
    if not file.compiles:
        return
    names: set[str] = set()
    handed: set[tuple[str, int | None]] = set()
    for class_ in file.classes.values():
        names.update(name for binding in class_.bindings for name in _names(binding.name, binding.value))
    for function in file.functions.values():
        held = {n for b in function.bindings for n in _names(b.name, b.value)}
        names |= held
        names.update(n for store in function.stores for n in _names(store.name, store.value))
        names.update(p.name for p in function.parameters if p.default is not None and carries(p.default))
        if any(carries(value) or last_name(value) in held for value in function.returns):
            handed.add((function.qualname.rpartition(".")[2], None))
        for site in function.calls:
            names.update(k for k, value in site.call.keywords if k is not None and carries(value))
            given = (place for place, value in enumerate(site.call.arguments) if carries(value))
            handed.update((called_name(site.call.function), place) for place in given)
    carrying[""] += sorted(names)
    carried_to[""] += sorted(handed, key=repr)


def mapped(site: CallSite) -> CallSite:
    """`map(torch.compile, blocks)` as the call of each of the blocks that it stands for."""
    match site.call:
        case Call(Name("map"), (function, blocks)):
            if isinstance(function, Call) and function.arguments:  # `partial(torch.compile, dynamic=True)`
                function = function.arguments[0]
            return replace(site, call=Call(function, (Element(blocks),), (), site.call.line))
    return site


def _names(name: str, value: Expr) -> Iterator[str]:
    """The names of a value that carries torch.compile: a table goes by its own and by its keys."""
    if carries(value):
        yield name
        if isinstance(value, Display):
            yield from (key for key in value.keys if key is not None)


def carries(value: Expr) -> bool:
    """Whether torch.compile itself, or what calls it later, may be a value or in it."""
    match value:
        case Attribute():
            return value == _COMPILE
        case Choice(options) | Display(_, options):
            return any(carries(option) for option in options)
        case Call(Name("getattr"), (Name("torch"), Constant("compile"), *_)):
            return True
        case Call(function, ()):  # `torch.compile(dynamic=True)`
            return function == _COMPILE
        case Call(function, (first, *_)) if last_name(function) in _HOLDING:
            return carries(first)
    return False
