"""The names of one function, found once: what each is assigned, its parameter, and what is put into it."""

from __future__ import annotations

from typing import NamedTuple

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, Expr, Parameter
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.regions.project import Project


class Local(NamedTuple):
    """One name of a function's own scope."""

    bound: list[Expr]
    parameter: Parameter | None = None


def locals_of(project: Project, ref: FunctionRef) -> dict[str, Local]:
    """The names that belong to a function itself: assigned in it and not `global`, or its parameters."""
    key = ("own names", ref)
    if key not in project.memo:
        function = project.function(ref)
        table: dict[str, Local] = {}
        for binding in function.bindings:
            if binding.name not in function.globals:
                table.setdefault(binding.name, Local([])).bound.append(binding.value)
        for parameter in reversed(function.parameters):
            table[parameter.name] = table.get(parameter.name, Local([]))._replace(parameter=parameter)
        project.memo[key] = table
    return project.memo[key]  # type: ignore[return-value]


def items_of(project: Project, ref: FunctionRef) -> dict[str, list[Expr]]:
    """What a function puts into containers, by the name of the container: `name[…] = value`."""
    key = ("items", ref)
    if key not in project.memo:
        table: dict[str, list[Expr]] = {}
        for store in project.function(ref).stores:
            if store.name == ITEM and isinstance(store.owner, facts.Name):
                table.setdefault(store.owner.id, []).append(store.value)
        project.memo[key] = table
    return project.memo[key]  # type: ignore[return-value]
