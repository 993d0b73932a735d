"""Whole-program tables by name, each built when it is first asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Binding, CallSite, Expr, FileFacts, Function, Store
from dynamo_lint.regions.model import ClassRef, FunctionRef


class Tables:
    """Where a name is called, stored, passed on, given another name, or used as a decorator."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files

    def calls_of(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Call sites whose callee ends in `name`."""
        return self._calls.get(name, [])

    def stores_of(self, name: str) -> list[tuple[FunctionRef, Store]]:
        """Attribute stores `anything.name = …`, in every function."""
        return self._stores.get(name, [])

    def aliases_of(self, name: str) -> set[str]:
        """Names that `name` is bound to as it is, through a call (`step = torch.compile(train_step)`), or by
        being passed as a keyword (`Spec(parallelize=parallelize_llama)`)."""
        return self._aliases.get(name, set())

    def passed_on(self, name: str) -> list[tuple[FunctionRef, CallSite]]:
        """Calls that pass the function `name` as a keyword argument."""
        return self._passed.get(name, [])

    def decorated_with(self, name: str) -> list[tuple[FunctionRef | ClassRef, Expr]]:
        """Functions and classes with a decorator that ends in `name`."""
        return self._decorated.get(name, [])

    def derived_from(self, name: str) -> list[ClassRef]:
        """Classes that list a base called `name`, under that name or another that it is imported as."""
        return self._derived.get(name, [])

    def texts_of(self, name: str) -> list[str]:
        """The literal strings passed anywhere as keyword `name`: what a configuration field may say."""
        return sorted(self._texts.get(name, ()))

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

    def _functions(self) -> Iterator[tuple[FunctionRef, Function]]:
        for path, file in self._files.items():
            for key, function in file.functions.items():
                yield FunctionRef(path, key), function

    @cached_property
    def _calls(self) -> dict[str, list[tuple[FunctionRef, CallSite]]]:
        table = defaultdict(list)
        for ref, function in self._functions():
            for site in function.calls:
                callee = site.call.function
                name = None if isinstance(callee, facts.Call) else terminal_name(callee)
                if name:
                    table[name].append((ref, site))
        return table

    @cached_property
    def _stores(self) -> dict[str, list[tuple[FunctionRef, Store]]]:
        table = defaultdict(list)
        for ref, function in self._functions():
            for store in function.stores:
                table[store.name].append((ref, store))
        return table

    @cached_property
    def _defined(self) -> set[str]:
        return {key.rpartition(".")[2] for file in self._files.values() for key in file.functions}

    @cached_property
    def _passed(self) -> dict[str, list[tuple[FunctionRef, CallSite]]]:
        table = defaultdict(list)
        for ref, function in self._functions():
            for site in function.calls:
                for _, given in site.call.keywords:
                    name = _last_name(given)
                    if name in self._defined:
                        table[name].append((ref, site))
        return table

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        table = defaultdict(set)
        for _, function in self._functions():
            bound_here: tuple[Binding | Store, ...] = (*function.bindings, *function.stores)
            for bound in bound_here:
                match bound.value:
                    case facts.Name(original) | facts.Call(_, (facts.Name(original), *_)):
                        table[original].add(bound.name)
            for site in function.calls:
                for keyword, value in site.call.keywords:
                    name = _last_name(value)
                    if keyword is not None and keyword != name and name in self._defined:
                        table[name].add(keyword)
        return table

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

    @cached_property
    def _texts(self) -> dict[str, set[str]]:
        table = defaultdict(set)
        for _, function in self._functions():
            for site in function.calls:
                for keyword, value in site.call.keywords:
                    if keyword and isinstance(value, facts.Constant) and isinstance(value.value, str):
                        table[keyword].add(value.value)
            for binding in function.bindings:
                for keyword, text in _entries(binding.value):
                    table[keyword].add(text)
        return table


def _add_keys(value: Expr, found: set[str]) -> None:
    """The keys of a literal dict: `ModuleDict({"a": …}).a`."""
    match value:
        case facts.Display(keys=keys) if keys:
            found.update(key for key in keys if key)
        case facts.Call(arguments=arguments, keywords=keywords):
            for argument in arguments:
                _add_keys(argument, found)
            found.update(key for key, _ in keywords if key)


def _last_name(value: Expr) -> str:
    match value:
        case facts.Name(name) | facts.Attribute(_, name):
            return name
    return ""


def _entries(value: Expr) -> Iterator[tuple[str, str]]:
    """The texts of literal dictionaries, also in lists of them."""
    if not isinstance(value, facts.Display):
        return
    for key, item in zip(value.keys, value.items, strict=False):
        if key and isinstance(item, facts.Constant) and isinstance(item.value, str):
            yield key, item.value
    for item in value.items:
        yield from _entries(item)
