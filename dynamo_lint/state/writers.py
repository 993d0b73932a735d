"""Writes by uncompiled code between two calls of compiled code."""

from __future__ import annotations

import re

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.program.names import loaded_by
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import Regions
from dynamo_lint.state.free_variables import Names
from dynamo_lint.state.frequency import Drivers
from dynamo_lint.state.initial import Initial
from dynamo_lint.state.model import Key, Outside

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__", "__deepcopy__"})


@dataclass(slots=True)
class ExternalWrites:
    """The rebindings that a training loop, a scheduler or a setter makes."""

    project: Project
    regions: Regions
    scopes: Names
    names: frozenset[str] = field(init=False)
    """Names of attributes that hot code loads and other code rebinds, however often: that is asked later,
    of those that turn out to be the same attribute."""
    drivers: Drivers = field(init=False)
    answers: dict[Key, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hot = frozenset(one.function for one in self.regions.hot)
        compiled = frozenset(one.function for one in self.regions.hot if one.compiled)
        self.drivers = Drivers(self.project, hot, compiled)
        loaded = {name for ref in hot for name in loaded_by(self.project.function(ref))}
        rebound = self.project.named("rebound")
        self.names = frozenset(
            name
            for name in loaded
            if any(ref not in hot and _name(ref) not in CONSTRUCTORS for ref, _ in rebound.get(name, ()))
        )

    def often(self, where: FunctionRef, line: int) -> str:
        """How often a line outside hot code runs, compared with compiled code."""
        return self.drivers.often(where, line)

    def changes(self, key: Key, initial: Initial) -> bool:
        """Whether other code rebinds it again and again between calls."""
        if key not in self.answers:
            self.answers[key] = self._may_change(key) and (
                self.scopes.is_scope(key.owner)
                or any(self._often(outside, key) != "rarely" for outside in initial.outside(key))
            )
        return self.answers[key]

    def _may_change(self, key: Key) -> bool:
        """The same by its name alone."""
        name = key.attribute.partition("[")[0].rpartition(".")[2]
        return name in self.names or (
            self.scopes.is_scope(key.owner) and name in self.scopes.changed_in(key.owner.path)
        )

    def _often(self, outside: Outside, key: Key) -> str:
        if outside.initial or outside.where is None or self._overridden(outside.where, key):
            return "rarely"
        often = self.often(outside.where, outside.line)
        return "perhaps" if outside.generic and often != "rarely" else often

    def _overridden(self, where: FunctionRef, key: Key) -> bool:
        """Whether it is a method in whose place the class of the object has another."""
        owner = self.project.owner(where)
        if owner is None or self.scopes.is_scope(key.owner) or owner not in self.project.mro(key.owner):
            return False
        used = self.project.method(key.owner, _name(where))
        return used is not None and self.project.owner(used) != owner


def _name(ref: FunctionRef) -> str:
    return re.split("[#@]", ref.key.rpartition(".")[2])[0]
