"""Attributes and calls of modules: what every `nn.Module` has, and what a call of an instance runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.program.graph import c3_merge
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef

SELF_RETURNING = knowledge.names("returns_self")
"""Methods of nn.Module that return the module itself."""
OF_MODULES = SELF_RETURNING | knowledge.names("of_modules")
"""Attributes of every nn.Module: `__getattr__` is not asked for them."""
Base = ClassRef | str
"""A class of the project, or the dotted name of one outside of it."""
_OF_TORCH = knowledge.in_order("modules")
_ENDINGS = knowledge.in_order("module_endings")
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
    order = resolution_order(project, ref)
    before = order[: order.index(owner)] if owner in order else ()
    return None if any(map(_is_torchs, before)) else method


def resolution_order(project: Project, ref: ClassRef) -> tuple[Base, ...]:
    """The class and its bases in method resolution order, those outside the project too, by dotted name.

    Of a base outside the project no bases are known: `nn.Linear` stands for `nn.Module` as well.
    """
    key = ("resolution order", ref)
    if key not in project.memo:
        project.memo[key] = (ref,)  # a class that inherits from itself stops here
        parents: list[Base] = [
            base.dotted if isinstance(base, ExternalSymbol) else base
            for base in project.bases(ref)
            if isinstance(base, ClassRef | ExternalSymbol) and base != ref
        ]
        orders: list[list[Base]] = [
            [*resolution_order(project, p)] if isinstance(p, ClassRef) else [p] for p in parents
        ]
        first: Base = ref
        merged = orders[0] if len(orders) == 1 else c3_merge([*orders, parents], first)
        project.memo[key] = (ref, *(base for base in merged if base != ref))
    return project.memo[key]  # type: ignore[return-value]


def definer(project: Project, ref: ClassRef, name: str, after: ClassRef | None = None) -> Base | None:
    """The base that gives instances of a class a method: the first that has it, or may, being unknown.

    `after` is the class whose `super()` is asked. Of the standard library no base has anything of modules.
    """
    order = resolution_order(project, ref)
    for base in order[order.index(after) + 1 :] if after in order else order:
        if isinstance(base, ClassRef):
            if project.class_bindings(base).get(name):
                return base
        elif base.partition(".")[0] not in sys.stdlib_module_names:
            return base
    return None


def defines_itself(project: Project, ref: ClassRef, name: str, after: ClassRef | None = None) -> bool:
    """Whether a class of the project says what a method of modules does: in a body, or stored on `self`."""
    stored = after is None and any(name in project.own_stores(part) for part in project.mro(ref))
    return stored or isinstance(definer(project, ref, name, after), ClassRef)


def unknown_definer(project: Project, ref: ClassRef, name: str, after: ClassRef | None = None) -> str | None:
    """A base that may have its own of a method of modules: an unknown one before the one that is a module."""
    base = definer(project, ref, name, after)
    if not isinstance(base, str) or _is_torchs(base):
        return None
    order = resolution_order(project, ref)
    later = order[order.index(base) + 1 :]
    return base if any(map(_is_torchs, later)) and not base.endswith(_ENDINGS) else None


def _is_torchs(base: Base) -> bool:
    return isinstance(base, str) and base.startswith(_OF_TORCH)


def _outside(project: Project, ref: ClassRef) -> Iterator[str]:
    return (base for base in project.external_bases(ref) if not base.startswith(("abc.", "typing.")))
