"""Whether anything in the project names a class: a heir that nothing names is hardly ever constructed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.index.walking import walk
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.project import Project


def doubts(project: Project, candidates: Iterable[ClassRef]) -> dict[ClassRef, Tier]:
    """How sure it is that each heir stands for their abstract base.

    One that nothing names is merely assumed beside one that something does; if nothing names any of them,
    the users of a library construct them all.
    """
    named = {heir: _is_named(project, heir) for heir in candidates}
    some = any(named.values())
    return {heir: Tier.LIKELY if known or not some else Tier.ASSUMED for heir, known in named.items()}


def _is_named(project: Project, ref: ClassRef) -> bool:
    """Decorated, imported by some file, or named in an expression of its own file; or one of its heirs is."""
    key = ("is named", ref)
    if key not in project.memo:
        project.memo[key] = False  # a class that inherits from itself
        project.memo[key] = (
            bool(project.class_(ref).decorators)
            or ref.name in project.named("imported")
            or ref.name in _named_in(project, ref.path)
            or any(
                ref in project.mro(heir) and _is_named(project, heir)
                for heir in project.derived_from(ref.name)
            )
        )
    return bool(project.memo[key])


def _named_in(project: Project, path: str) -> frozenset[str]:
    """The names and texts in what the functions of a file call, assign and return."""
    key = ("named in", path)
    if key not in project.memo:
        file = project.files[path]
        values: list[Expr] = [
            binding.value for class_ in file.classes.values() for binding in class_.bindings
        ]
        for function in file.functions.values():
            values += [binding.value for binding in function.bindings]
            values += [store.value for store in function.stores]
            values += [site.call for site in function.calls]
            values += function.returns
        project.memo[key] = frozenset(name for value in values for name in _names(value))
    return project.memo[key]  # type: ignore[return-value]


def _names(value: Expr) -> Iterator[str]:
    for part in walk(value):
        match part:
            case facts.Name(name) | facts.Attribute(_, name) | facts.Constant(str() as name):
                yield name.rpartition(".")[2]
