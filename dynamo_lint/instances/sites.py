"""Construction sites of a class, and the outermost functions that lead to them."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.model import ClassValue, Context, FunctionValue
from dynamo_lint.values.points_to import points_to_of

_MAX_CLIMB = 4
_MAX_TOPS = 12
_MAX_SITES = 60


@dataclass(slots=True)
class Sites:
    """Remembers who makes what."""

    project: Project
    makers: dict[ClassRef | FunctionRef, tuple[FunctionRef, ...]] = field(default_factory=dict)
    called: dict[str, list[tuple[FunctionRef, frozenset[ClassRef | FunctionRef]]]] = field(
        default_factory=dict
    )

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
        for called in (name, *sorted(self._aliases(name) - {name})):
            for where, refs in self._called(called):
                if ref in refs:
                    yield where

    def _called(self, name: str) -> list[tuple[FunctionRef, frozenset[ClassRef | FunctionRef]]]:
        """The calls of a name, and what they call: `block_fn` stands for many classes."""
        if name not in self.called:
            evaluation = points_to_of(self.project)
            self.called[name] = [
                (
                    where,
                    frozenset(
                        value.ref
                        for value, confidence in evaluation.value(
                            site.call.function, Context(where, self.project.owner(where))
                        ).items()
                        if isinstance(value, ClassValue | FunctionValue) and confidence < Confidence.POSSIBLE
                    ),
                )
                for where, site in self.project.calls_of(name)[:_MAX_SITES]
            ]
        return self.called[name]

    def _aliases(self, name: str) -> set[str]:
        """Names under which a class may be called: `block_fn=Block`, `layer_type = Block`, `[Block, …]`."""
        aliases = self.project.named("called as")
        found = set(aliases.get(name, ()))
        for alias in sorted(found):
            found.update(aliases.get(alias, ()))
        return found
