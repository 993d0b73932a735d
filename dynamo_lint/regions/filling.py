"""What is put into a table elsewhere than where it is read.

In other files, `from registry import TABLE; TABLE["net"] = Net`, or by way of the attribute that has it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index.facts import MODULE_KEY, Attribute, Expr, Import, Name
from dynamo_lint.program.refs import File, FunctionRef
from dynamo_lint.regions.itempath import key_of
from dynamo_lint.regions.project import Project

_DEEPEST = 8
"""How many imports a table may go through."""


def filled_elsewhere(
    project: Project, path: str, name: str
) -> Iterator[tuple[FunctionRef, str | None, Expr]]:
    """What is put into a table from outside its file: where that stands, and its literal key."""
    for where, store in project.items_stored(name):
        if where.path != path and File(path) in _sources(project, store.owner, name, where):
            yield where, key_of(store), store.value


def kept_as(project: Project, table: Expr, where: FunctionRef) -> Attribute | None:
    """The attribute of `self` that has a local table as well: `self.config = config`, which others fill."""
    owner = project.owner(where)
    if not isinstance(table, Name) or owner is None or table.id not in project.locals_of(where):
        return None
    for store in project.function(where).stores:
        shared = store.value == table or store.value in project.locals_of(where)[table.id].bound
        if shared and isinstance(store.owner, Name) and project.is_self(store.owner, where):
            return Attribute(store.owner, store.name)
    return None


def _sources(project: Project, owner: Expr, name: str, where: FunctionRef) -> Iterable[object]:
    """The files that a table may come from, as the name of it in a function says."""
    match owner:
        case Name(own) if own == name:
            home = project.home_of(name, where)
            if home.key == MODULE_KEY:
                return _imported(project, name, where.path)
            local = project.locals_of(home)[name]
            return _from(project, local.bound, name, where.path, 0)
        case Attribute(module, own) if own == name:
            return project.symbols(module, where.path, where.key)
    return ()


def _imported(project: Project, name: str, path: str, depth: int = 0) -> Iterator[File]:
    return _from(project, project.global_bindings(path).get(name, ()), name, path, depth)


def _from(project: Project, bound: Iterable[Expr], name: str, path: str, depth: int) -> Iterator[File]:
    for value in bound:
        if not isinstance(value, Import) or value.name != name or depth > _DEEPEST:
            continue
        for source in project.imported_modules(value, path):
            if isinstance(source, File) and source.path != path:
                yield source
                yield from _imported(project, name, source.path, depth + 1)
