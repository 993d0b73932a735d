"""Attributes and calls of modules: what every `nn.Module` has, and what a call of an instance runs."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef

SELF_RETURNING = knowledge.names("returns_self")
"""Methods of nn.Module that return the module itself."""
OF_MODULES = SELF_RETURNING | knowledge.names("of_modules")
"""Attributes of every nn.Module: `__getattr__` is not asked for them."""
_BARE = knowledge.in_order("module") + knowledge.in_order("bare_modules")


def inherits_code(project: Project, ref: ClassRef) -> bool:
    """Whether a module has a base outside the project that may have a forward."""
    return any(not base.endswith(_BARE) for base in _outside(project, ref))


def call_of(project: Project, ref: ClassRef) -> FunctionRef | None:
    """The `__call__` of the project that a call of an instance runs.

    `class Op(nn.Module, Operation)` has that of nn.Module, which stands before what Operation declares.
    """
    method = project.method(ref, "__call__")
    owner = project.owner(method) if method is not None and project.is_module(ref) else None
    if owner is None or project.is_module(owner):
        return method
    return method if _goes_first(project, ref, owner) else None


def _goes_first(project: Project, ref: ClassRef, mixin: ClassRef) -> bool:
    """Whether a base that is no module stands before nn.Module among the bases of a class."""
    for base in project.bases(ref):
        if isinstance(base, ClassRef):
            if mixin in project.mro(base):
                return base == mixin or _goes_first(project, base, mixin)
            if project.is_module(base):
                return False
        elif base.sort == "external" and base.dotted.startswith("torch.nn."):
            return False
    return True


def _outside(project: Project, ref: ClassRef) -> Iterator[str]:
    return (base for base in project.external_bases(ref) if not base.startswith(("abc.", "typing.")))
