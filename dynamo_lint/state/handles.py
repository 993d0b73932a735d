"""Whether a call runs what `torch.compile(f)` gave back or `f` itself, which stays as eager as it was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.index.walking import itself
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.program.static_bindings import bound_symbols
from dynamo_lint.regions.model import CompiledFunction, Entry

_GIVES_ITSELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_"}
)
"""Methods of a module that give back the module (torch/nn/modules/module.py)."""


@dataclass(frozen=True, slots=True)
class Handles:
    """Which targets are compiled only where somebody calls a handle, and which names are surely no handle."""

    project: Project
    idioms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """How the entries compile each target."""

    @staticmethod
    def of(project: Project, entries: Iterable[Entry]) -> Handles:
        """From all compile entries of a project."""
        handles = Handles(project)
        for entry in entries:
            handles.idioms[entry.target].add(entry.idiom)
        return handles

    def is_raw(self, callee: Expr, where: FunctionRef, hot: CompiledFunction) -> bool:
        """Whether a call, in eager code, surely runs the function or module from which a handle was made."""
        function = self.idioms.get(hot.function.id, set())
        model = self.idioms.get(hot.receiver.id, set()) if hot.receiver is not None else set()
        if function | model != {"call"}:
            return False  # compiled in place: by a decorator, by `model.compile()`, by a declaration
        if hot.receiver is None:
            return self._is_defined(callee, where)
        return not function and self._is_made(callee, where)

    def _is_defined(self, callee: Expr, where: FunctionRef) -> bool:
        """A name that nothing but a definition binds, here and where it is imported from."""
        found = bound_symbols(self.project, callee, where) or ()
        return len(found) == 1 and isinstance(found[0], FunctionRef)

    def _is_made(self, callee: Expr, where: FunctionRef) -> bool:
        """A name that stands for a module as its class makes it."""
        bound = self._bound(callee.id, where) if isinstance(callee, facts.Name) else []
        return bool(bound) and all(
            value == callee or (isinstance(value, facts.Call) and self._constructs(value, where))
            for value in (itself(one, _GIVES_ITSELF) for one in bound)
        )

    def _constructs(self, call: facts.Call, where: FunctionRef) -> bool:
        found = self.project.symbols(call.function, where.path, where.key)
        return len(found) == 1 and isinstance(found[0], ClassRef)

    def _bound(self, name: str, where: FunctionRef) -> Sequence[Expr]:
        """All that a name is bound to in the scope where it is found; nothing for a parameter."""
        home = self.project.home_of(name, where)
        if home.key == MODULE_KEY:
            return self.project.global_bindings(home.path).get(name, [])
        local = self.project.locals_of(home)[name]
        return local.bound if local.parameter is None else ()
