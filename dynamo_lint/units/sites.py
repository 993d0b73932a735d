"""Where instances of a class are made, and which functions lead there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.regions.evaluate import evaluation_of
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import ClassValue, FunctionValue, Scope

_MAX_CLIMB = 4
_MAX_TOPS = 12
_MAX_SITES = 60


@dataclass(slots=True)
class Sites:
    """Remembers who makes what."""

    project: Project
    aliases: dict[str, set[str]] | None = None
    makers: dict[ClassRef | FunctionRef, tuple[FunctionRef, ...]] = field(default_factory=dict)

    def tops(self, ref: ClassRef) -> list[tuple[FunctionRef, frozenset[FunctionRef]]]:
        """The outermost functions that make instances of a class, each with the way down to them."""
        found: dict[FunctionRef, frozenset[FunctionRef]] = {}

        def climb(function: FunctionRef, path: frozenset[FunctionRef], depth: int) -> None:
            above = [up for up in self._above(function) if up not in path] if depth < _MAX_CLIMB else []
            for up in above[:_MAX_TOPS]:
                climb(up, path | {up}, depth + 1)
            if not above and len(found) < _MAX_TOPS:
                found[function] = found.get(function, frozenset()) | path

        for maker in self.makers_of(ref):
            climb(maker, frozenset({maker}), 0)
        return list(found.items())

    def _above(self, function: FunctionRef) -> list[FunctionRef]:
        """The functions that run a function while they build a model."""
        owner = self.project.owner(function)
        if function.key == MODULE_KEY:
            return []
        if owner is not None and function.key.rpartition(".")[2] == "__init__":
            found: list[FunctionRef] = []
            for ref in self.project.classes_with_init(function)[:_MAX_TOPS]:
                found += self.makers_of(ref)
            # A factory of whole models knows nothing of what differs inside one.
            return [up for up in dict.fromkeys(found) if self._builds_module(up)]
        return [up for up in self.makers_of(function) if owner is not None or self._builds_module(up)]

    def _builds_module(self, function: FunctionRef) -> bool:
        owner = self.project.owner(function)
        return owner is not None and self.project.is_module(owner)

    def makers_of(self, ref: ClassRef | FunctionRef) -> tuple[FunctionRef, ...]:
        """The functions that call a class or function."""
        if ref not in self.makers:
            self.makers[ref] = tuple(dict.fromkeys(self._makers(ref)))
        return self.makers[ref]

    def _makers(self, ref: ClassRef | FunctionRef) -> Iterator[FunctionRef]:
        name = ref.name if isinstance(ref, ClassRef) else ref.key.split("#")[0].rpartition(".")[2]
        evaluation = evaluation_of(self.project)
        for called in (name, *sorted(self._aliases(name) - {name})):
            for where, site in self.project.calls_of(called)[:_MAX_SITES]:
                values = evaluation.value(site.call.function, Scope(where, self.project.owner(where)))
                for value, tier in values.items():
                    if (
                        isinstance(value, ClassValue | FunctionValue)
                        and value.ref == ref
                        and tier < Tier.ASSUMED
                    ):
                        yield where

    def _aliases(self, name: str) -> set[str]:
        """Names under which a class may be called: `block_fn=Block`, `layer_type = Block`, `[Block, …]`."""
        if self.aliases is None:
            self.aliases = _build_aliases(self.project)
        found = set(self.aliases.get(name, ()))
        for alias in sorted(found):
            found |= self.aliases.get(alias, set())
        return found


def _build_aliases(project: Project) -> dict[str, set[str]]:
    table: dict[str, set[str]] = defaultdict(set)
    for ref in project.functions():
        function = project.function(ref)
        for binding in function.bindings:
            if not isinstance(binding.value, facts.Import | facts.Definition):
                for mentioned in _mentions(binding.value, 3):
                    table[mentioned].add(binding.name)
        for store in function.stores:
            for mentioned in _mentions(store.value, 2):
                table[mentioned].add(store.name)
        for parameter in function.parameters:
            if parameter.default is not None:
                for mentioned in _mentions(parameter.default, 1):
                    table[mentioned].add(parameter.name)
        for site in function.calls:
            for keyword, value in site.call.keywords:
                if keyword is not None:
                    for mentioned in _mentions(value, 1):
                        table[mentioned].add(keyword)
    return table


def _mentions(expr: Expr, depth: int) -> Iterator[str]:
    """Names that an expression may have as its value, or holds as elements."""
    match expr:
        case facts.Name() | facts.Attribute():
            name = terminal_name(expr)
            if name is not None:
                yield name
        case facts.Choice(options) | facts.Display(_, options):
            for option in options:
                yield from _mentions(option, depth)
        case facts.Subscript(value):
            yield from _mentions(value, depth)
        case facts.Call(_, arguments) if depth > 1:
            for argument in arguments:
                yield from _mentions(argument, depth - 1)
