"""Whether anything in the project names a class: a heir that nothing names is hardly ever constructed."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_lint.program.refs import ClassRef, Tier
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
            or ref.name in project.mentioned_in(ref.path)
            or any(
                ref in project.mro(heir) and _is_named(project, heir)
                for heir in project.derived_from(ref.name)
            )
        )
    return bool(project.memo[key])
