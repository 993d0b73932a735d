"""What other code does to hot state between two calls: which names it rebinds, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import itemgetter

from dynamo_lint.regions.model import FunctionRef, Regions
from dynamo_lint.regions.naming import loaded_by
from dynamo_lint.regions.project import Project
from dynamo_lint.state.drivers import Drivers
from dynamo_lint.state.model import AttributeState, Key
from dynamo_lint.state.names import Names

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__", "__deepcopy__"})


@dataclass(slots=True)
class Between:
    """The rebindings that a training loop, a scheduler or a setter makes."""

    project: Project
    regions: Regions
    scopes: Names
    names: frozenset[str] = field(init=False)
    """Names of attributes that hot code loads and other code rebinds again and again."""
    drivers: Drivers = field(init=False)

    def __post_init__(self) -> None:
        hot = frozenset(one.function for one in self.regions.hot)
        compiled = frozenset(one.function for one in self.regions.hot if one.compiled)
        self.drivers = Drivers(self.project, hot, compiled)
        loaded = {name for ref in hot for name in loaded_by(self.project.function(ref))}
        self.names = frozenset(self._rebound(hot, loaded))

    def _rebound(self, hot: frozenset[FunctionRef], loaded: set[str]) -> set[str]:
        rebound = self.project.named("rebound")
        lines: dict[FunctionRef, list[tuple[str, int]]] = {}
        for name in loaded:
            for ref, line in rebound.get(name, ()):
                if ref not in hot and _name(ref) not in CONSTRUCTORS:
                    lines.setdefault(ref, []).append((name, line))
        found: set[str] = set()
        for ref in self.project.in_order(lines):
            for name, line in sorted(lines[ref], key=itemgetter(1)):
                if name not in found and self.often(ref, line) != "rarely":
                    found.add(name)
        return found

    def often(self, where: FunctionRef, line: int) -> str:
        """How often a line outside hot code runs, compared with compiled code."""
        return self.drivers.often(where, line)

    def changes(self, key: Key) -> bool:
        """Whether other code may rebind it between calls, judged by its name alone."""
        name = key.attribute.partition("[")[0].rpartition(".")[2]
        return name in self.names or (
            self.scopes.is_scope(key.owner) and name in self.scopes.changed_in(key.owner.path)
        )

    def annotate(self, state: AttributeState, read_source: Callable[[str], str]) -> AttributeState:
        """Say of every write outside hot code how often it happens, and where exactly it stands."""
        # Names were asked about when they were collected; a container may be emptied by other means as well.
        if not self.changes(state.key) and not state.mutations:
            return state
        done = []
        for outside in state.outside:
            often = "rarely"
            if not outside.initial and outside.where is not None:
                often = self.often(outside.where, outside.line)
            if often != "rarely":
                text = read_source(outside.path).splitlines()[outside.line - 1]
                first = len(text) - len(text.lstrip()) + 1
                outside = replace(outside, often=often, column=first, end_column=len(text.rstrip()) + 1)
            done.append(outside)
        return replace(state, outside=tuple(done))


def _name(ref: FunctionRef) -> str:
    return ref.key.rpartition(".")[2].partition("#")[0]
