"""Whole-program tables by name, each built when it is first asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Binding, CallSite, Expr, FileFacts, Store
from dynamo_lint.regions.model import ClassRef, FunctionRef

Sites = dict[str, list[tuple[FunctionRef, CallSite]]]


@dataclass(slots=True)
class _Uses:
    """What the bodies of all functions say of names, from one walk over them."""

    calls: Sites = field(default_factory=lambda: defaultdict(list))
    passed: Sites = field(default_factory=lambda: defaultdict(list))
    stores: dict[str, list[tuple[FunctionRef, Store]]] = field(default_factory=lambda: defaultdict(list))
    aliases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    rows: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Names of the literal dictionaries that hold a function or class."""
    lookups: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Names that what is looked up in a dictionary is bound to."""
    texts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class Tables:
    """Where a name is called, stored, passed on, given another name, or used as a decorator."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files

    def calls_of(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Call sites whose callee ends in `name`."""
        return self._uses.calls.get(name, [])

    def stores_of(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Attribute stores `anything.name = …`, in every function."""
        return self._uses.stores.get(name, [])

    def aliases_of(self, name: str) -> set[str]:
        """Names that `name` is bound to as it is, through a call (`step = torch.compile(train_step)`), by
        being passed as a keyword (`Spec(parallelize=parallelize_llama)`), or by way of a dictionary."""
        uses = self._uses
        tables = uses.rows.get(name, set())
        found = tables.union(*(uses.lookups.get(table, set()) for table in tables)) if tables else tables
        return uses.aliases.get(name, set()) | found

    def passed_on(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Calls that pass the function `name` as a keyword argument."""
        return self._uses.passed.get(name, [])

    def decorated_with(self, name: str) -> list[tuple[FunctionRef | ClassRef, Expr]]:
        """Functions and classes with a decorator that ends in `name`."""
        return self._decorated.get(name, [])

    def derived_from(self, name: str) -> list[ClassRef]:
        """Classes that list a base called `name`, under that name or another that it is imported as."""
        return self._derived.get(name, [])

    def texts_of(self, name: str) -> list[str]:
        """The literal strings passed anywhere as keyword `name`: what a configuration field may say."""
        return sorted(self._uses.texts.get(name, ()))

    def is_known(self, name: str) -> bool:
        """Whether anything in the project is called so: a definition, an attribute, an item of a dict."""
        return name in self._known or name in ("__call__", "apply", "forward")

    @cached_property
    def _known(self) -> set[str]:
        found = set(self._defined)
        for file in self._files.values():
            for class_ in file.classes.values():
                found.add(class_.qualname.rpartition(".")[2])
                found.update(binding.name for binding in class_.bindings)
                found.update(name for name, _ in class_.annotations)
            for function in file.functions.values():
                found.update(store.name for store in function.stores)
                if function.key == facts.MODULE_KEY or function.globals:
                    found.update(binding.name for binding in function.bindings)
                for binding in function.bindings:
                    _add_keys(binding.value, found)
                for store in function.stores:
                    _add_keys(store.value, found)
        return found

    def times_defined(self, name: str) -> int:
        """How many functions and methods of the project have a name."""
        return self._defined[name]

    @cached_property
    def _defined(self) -> Counter[str]:
        return Counter(key.rpartition(".")[2] for file in self._files.values() for key in file.functions)

    @cached_property
    def _uses(self) -> _Uses:
        uses = _Uses()
        for path, file in self._files.items():
            for key, function in file.functions.items():
                ref = FunctionRef(path, key)
                for site in function.calls:
                    name = _called_name(site.call.function)
                    if name:
                        uses.calls[name].append((ref, site))
                    if name == "partial" and site.call.arguments:
                        _add_partial(uses, ref, site)
                    for keyword, value in site.call.keywords:
                        self._add_keyword(uses, keyword, value, (ref, site))
                for binding in function.bindings:
                    _add_alias(uses, binding)
                    if isinstance(binding.value, facts.Display):
                        for keyword, text in _entries(binding.value):
                            uses.texts[keyword].add(text)
                for store in function.stores:
                    uses.stores[store.name].append((ref, store))
                    _add_alias(uses, store)
        return uses

    def _add_keyword(
        self, uses: _Uses, keyword: str | None, value: Expr, site: tuple[FunctionRef, CallSite]
    ) -> None:
        if isinstance(value, facts.Constant):
            if keyword and isinstance(value.value, str):
                uses.texts[keyword].add(value.value)
            return
        name = _last_name(value)
        if name in self._defined:
            uses.passed[name].append(site)
            if keyword is not None and keyword != name:
                uses.aliases[name].add(keyword)

    @cached_property
    def _decorated(self) -> dict[str, list[tuple[FunctionRef | ClassRef, Expr]]]:
        table: dict[str, list[tuple[FunctionRef | ClassRef, Expr]]] = defaultdict(list)
        for path, file in self._files.items():
            definitions: list[tuple[FunctionRef | ClassRef, tuple[Expr, ...]]] = [
                *((FunctionRef(path, key), function.decorators) for key, function in file.functions.items()),
                *((ClassRef(path, key), class_.decorators) for key, class_ in file.classes.items()),
            ]
            for ref, decorators in definitions:
                for decorator in decorators:
                    table[terminal_name(decorator) or ""].append((ref, decorator))
        return table

    @cached_property
    def _derived(self) -> dict[str, list[ClassRef]]:
        table: dict[str, list[ClassRef]] = defaultdict(list)
        for path, file in self._files.items():
            if not file.classes:
                continue
            imported = {
                binding.name: binding.value.name
                for function in file.functions.values()
                for binding in function.bindings
                if isinstance(binding.value, facts.Import) and binding.value.name
            }
            for key, class_ in file.classes.items():
                for base in class_.bases:
                    name = _last_name(base.value if isinstance(base, facts.Subscript) else base)
                    table[imported.get(name, name)].append(ClassRef(path, key))
        return table


def _add_alias(uses: _Uses, bound: Binding | Store) -> None:
    match bound.value:
        case facts.Display("dict", items, keys):
            for key, item in zip(keys, items, strict=False):
                if isinstance(item, facts.Name | facts.Attribute):
                    uses.rows[_last_name(item)].update({bound.name, key} if key else {bound.name})
        case facts.Subscript(table) | facts.Call(facts.Attribute(table, "get")):
            uses.lookups[_last_name(table)].add(bound.name)
        case facts.Name(original) | facts.Call(_, (facts.Name(original), *_)):
            uses.aliases[original].add(bound.name)


def _add_partial(uses: _Uses, where: FunctionRef, site: CallSite) -> None:
    """`partial(step, model)` calls `step` with a model first, whenever that may be."""
    function, *arguments = site.call.arguments
    call = replace(site.call, function=function, arguments=tuple(arguments))
    name = _called_name(function)
    if name:
        uses.calls[name].append((where, replace(site, call=call)))


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


def _entries(value: Expr) -> Iterator[tuple[str, str]]:
    """The texts of literal dictionaries, also in lists of them."""
    if not isinstance(value, facts.Display):
        return
    for key, item in zip(value.keys, value.items, strict=False):
        if key and isinstance(item, facts.Constant) and isinstance(item.value, str):
            yield key, item.value
    for item in value.items:
        yield from _entries(item)
