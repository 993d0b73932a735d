"""Configuration dictionaries as constructor calls: `dict(type="Net", width=2)`, YAML and JSON files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.index.ir import (
    MODULE_KEY,
    UNKNOWN,
    Attribute,
    Call,
    CallSite,
    Constant,
    Display,
    Expr,
    FileFacts,
    Function,
    Import,
    Name,
    Setting,
)
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.packaging import entry_point
from dynamo_lint.program.refs import FunctionRef

Table = dict[str, list[Any]]
_TYPE = "type"
"""Where mmengine looks for the registered name of what to build (mmengine/registry/build_functions.py)."""
_LAZY = knowledge.last_names("describes_calls")
_DEEPEST = 30


def read_config_files(file: FileFacts, settings: Table, described: Table, named: Table, nodes: Table) -> None:
    """Read the constructions that configuration files describe, by key and by callee; and the names in them.

    `nodes` are the names under which other files have what is stored under a key.
    """
    for key, name in _imported(file):
        nodes[key].append(name)
    where = FunctionRef(file.path, MODULE_KEY)
    for key, text in file.named:
        named[key].append((where, text))
    seen: set[Call] = set()
    for one in (*file.settings, *_lazy(file), *_offered(file)):
        settings[one.name].append((where, one))
        if one.call not in seen:
            seen.add(one.call)
            partly = one.call.function == Import("functools", "partial")
            callee = one.call.arguments[0] if partly else one.call.function
            call = replace(one.call, function=callee, arguments=one.call.arguments[partly:])
            described[terminal_name(callee) or ""].append((where, CallSite(call)))


def read_words(file: FileFacts, words: Table) -> None:
    """Read the single words that configurations have, by key."""
    for key, word in file.words:
        words[key].append(word)


def read_configs(file: FileFacts, configured: Table, typed: Table) -> None:
    """The dictionaries of a Python file that name what a registry holds: by their keys, and by that name."""
    module = file.functions.get(MODULE_KEY)
    where = FunctionRef(file.path, MODULE_KEY)
    for binding in module.bindings if module is not None else ():
        for one in _dictionaries(binding.name, binding.value, binding.line, 0):
            configured[one.name].append((where, one))
            kind = one.call.function
            name = kind.value if isinstance(kind, Constant) else terminal_name(kind)
            typed[str(name)].append((where, CallSite(one.call)))


def _dictionaries(name: str, value: Expr, line: int, depth: int) -> Iterator[Setting]:
    match value:
        case Call(Name("dict"), (), keywords, line):
            rows = [(key or "", item) for key, item in keywords]
        case Display("dict", items, keys):
            rows = [(key or "", item) for key, item in zip(keys, items, strict=False)]
        case Display(_, items):
            rows = [(name, item) for item in items]
        case _:
            return
    if depth > _DEEPEST:
        return
    for key, item in rows:
        yield from _dictionaries(key, item, line, depth + 1)
    kind = dict(rows).get(_TYPE)
    if isinstance(kind, Name | Attribute) or (isinstance(kind, Constant) and isinstance(kind.value, str)):
        given = tuple((key, item) for key, item in rows if key and key != _TYPE)
        yield Setting(name, Call(kind, (), given, line), line, outer=depth == 0)


def _offered(file: FileFacts) -> Iterator[Setting]:
    """The entry points in `setup(entry_points={"group": ["name = package.module:Class"]})`."""
    module = file.functions.get(MODULE_KEY) if file.path.rpartition("/")[2] == "setup.py" else None
    for site in module.calls if module is not None else ():
        groups = dict(site.call.keywords).get("entry_points")
        for group, points in _rows(groups, module) if module is not None else ():
            items = points.items if isinstance(points, Display) else (points,)
            for item in items:
                text = item.value if isinstance(item, Constant) and isinstance(item.value, str) else ""
                for line in text.splitlines():
                    point = entry_point(group, line.partition("=")[2], site.call.line)
                    if point is not None:
                        yield point


def _rows(groups: Expr | None, module: Function) -> Iterator[tuple[str, Expr]]:
    """The rows of a dictionary, also of one that has a name."""
    if isinstance(groups, Name):
        groups = next((b.value for b in module.bindings if b.name == groups.id), None)
    if isinstance(groups, Display):
        yield from ((key or "", item) for key, item in zip(groups.keys, groups.items, strict=False))


def _lazy(file: FileFacts) -> Iterator[Setting]:
    """`model = L(Model)(width=2)` at the top level of a file, where L is a `LazyCall`."""
    module = file.functions.get(MODULE_KEY)
    imported = {
        binding.name
        for binding in (module.bindings if module is not None else ())
        if isinstance(binding.value, Import) and binding.value.name in _LAZY
    }
    if not imported or module is None:
        return
    for binding in module.bindings:
        yield from _calls(binding.name, binding.value, imported, 0)
    bound = {binding.name: binding.value for binding in module.bindings}
    for function in file.functions.values():
        for name, node in _stored(function):
            yield from _calls(name, _copied(bound, node), imported, 1)


def _imported(file: FileFacts) -> Iterator[tuple[str, str]]:
    """The keys under which a file stores what it imports, and what that is called where it comes from."""
    module = file.functions.get(MODULE_KEY)
    if module is None:
        return
    imported = {b.name: b.value.name for b in module.bindings if isinstance(b.value, Import) and b.value.name}
    for function in file.functions.values() if imported else ():
        for key, node in _stored(function):
            if key and node in imported:
                yield key, imported[node]


def _copied(bound: Mapping[str, Expr], name: str) -> Expr:
    """The value that a name is bound to: of a copy of a copy, the original."""
    value = bound.get(name, UNKNOWN)
    for _ in bound:
        match value:
            case Call(Attribute(Name("copy"), "copy" | "deepcopy"), (Name(copied),)):
                value = bound.get(copied, UNKNOWN)
            case _:
                break
    return value


def _stored(function: Function) -> Iterator[tuple[str, str]]:
    """`store(group="net", package="model.net", name="small", node=SMALL)`: a key, and what it may hold.

    This is how hydra's ConfigStore is told of a choice (hydra/core/config_store.py).
    """
    for site in function.calls:
        if terminal_name(site.call.function) != "store":
            continue
        keywords = dict(site.call.keywords)
        node = keywords.get("node")
        if isinstance(node, Name):
            places = [keywords.get("package"), keywords.get("group")]
            texts = [p.value for p in places if isinstance(p, Constant) and isinstance(p.value, str)]
            yield texts[0].replace("/", ".").rpartition(".")[2] if texts else "", node.id


def _calls(name: str, value: Expr, lazy: set[str], depth: int) -> Iterator[Setting]:
    if depth > _DEEPEST:
        return
    match value:
        case Call(Call(Name(maker), (called,)), arguments, keywords, line) if maker in lazy:
            for key, item in keywords:
                yield from _calls(key or "", item, lazy, depth + 1)
            yield Setting(name, Call(called, arguments, keywords, line), line, outer=depth == 0)
        case Call(Name("dict"), (), keywords):
            for key, item in keywords:
                yield from _calls(key or "", item, lazy, depth + 1)
        case Display(_, items):
            for item in items:
                yield from _calls(name, item, lazy, depth + 1)
