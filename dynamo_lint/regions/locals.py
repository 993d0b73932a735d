"""What functions put into containers that have a name, found once."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Expr
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.regions.project import Project


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


def filled_in(project: Project, path: str) -> dict[str, list[tuple[FunctionRef, Expr]]]:
    """What the functions of a file put into its global containers: `REGISTRY[name] = cls` in a decorator."""
    key = ("filled", path)
    if key not in project.memo:
        table: dict[str, list[tuple[FunctionRef, Expr]]] = {}
        for name, function in project.files[path].functions.items():
            if name == MODULE_KEY:
                continue
            for store in function.stores:
                if store.name == ITEM and isinstance(store.owner, facts.Name):
                    table.setdefault(store.owner.id, []).append((FunctionRef(path, name), store.value))
        project.memo[key] = {
            name: [(where, value) for where, value in stored if _is_global(project, where, name)]
            for name, stored in table.items()
        }
    return project.memo[key]  # type: ignore[return-value]


def _is_global(project: Project, where: FunctionRef, name: str) -> bool:
    """Whether no function around a place has the name for itself."""
    key = where.key
    while key != MODULE_KEY:
        if name in project.locals_of(FunctionRef(where.path, key)):
            return False
        key = project.files[where.path].functions[key].outer or MODULE_KEY
    return True
