"""Packages that import what they offer when it is first asked for, by a `__getattr__` of their own.

However the package finds it, by a table of texts or by a helper of a library, it is what one of its own
modules defines under that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY

if TYPE_CHECKING:
    from dynamo_lint.program.refs import Symbol
    from dynamo_lint.regions.project import Project

_ASKED = "__getattr__"
_MODULES = facts.Attribute(facts.Name("sys"), "modules")
_OWN_NAME = facts.Name("__name__")


def defined_below(project: Project, path: str, name: str) -> tuple[Symbol, ...]:
    """What just one module of a lazy package defines under a name that the package does not bind."""
    if name.startswith("__") or not _is_lazy(project, path):
        return ()
    key = ("defined below", path, name)
    if key not in project.memo:
        found = []
        folder = path.rpartition("/")[0] + "/"
        for other, file in project.files.items():
            if other != path and other.startswith(folder) and file.is_code:
                bound = project.global_bindings(other).get(name, ())
                if any(isinstance(value, facts.Definition) for value in bound):
                    found.append(other)
        found = found if len(found) == 1 else []
        project.memo[key] = tuple(s for one in found for s in project.symbols(facts.Name(name), one))
    return project.memo[key]  # type: ignore[return-value]


def _is_lazy(project: Project, path: str) -> bool:
    if not project.files[path].is_package:
        return False
    if project.global_bindings(path).get(_ASKED):
        return True
    stores = project.files[path].functions[MODULE_KEY].stores
    return any(store.owner == _MODULES and store.index == _OWN_NAME for store in stores)
