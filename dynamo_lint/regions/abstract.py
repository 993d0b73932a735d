"""What a class leaves to its heirs: methods it only declares, and attributes that only some of them have."""

from __future__ import annotations

from collections import defaultdict

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Function, Name
from dynamo_lint.regions.model import ClassRef
from dynamo_lint.regions.project import Project

_MAX_HOLDERS = 8
"""An attribute that more classes below a base have than this says little about which of them is meant."""
_KNOWN_BASES = frozenset({"abc.ABC", "builtins.object", "object", "typing.Generic", "typing.Protocol"})
"""Outside bases without attributes of their own."""
_DECORATORS = frozenset({"abstractmethod", "abstractproperty"})


def only_declares(function: Function) -> bool:
    """A method that only says what its heirs do: marked as abstract, or raising NotImplementedError."""
    return _is_marked(function) or _only_raises(function)


def holders(project: Project, ref: ClassRef, name: str) -> tuple[ClassRef, ...]:
    """The classes below `ref` that have an attribute which `ref` itself does not have.

    `value.name` on a value declared as the base is only sound if it is one of them, whether a test says so
    or not.
    """
    key = ("holders", ref, name)
    if key not in project.memo:
        heirs = () if _may_have(project, ref, name) else _heirs(project).get(ref, ())
        found = [heir for heir in heirs if any(_gives(project, part, name) for part in project.mro(heir))]
        project.memo[key] = tuple(found) if len(found) <= _MAX_HOLDERS else ()
    return project.memo[key]  # type: ignore[return-value]


def _may_have(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether a class has an attribute, or has a base outside the project that may."""
    outside = not _KNOWN_BASES.issuperset(project.external_bases(ref))
    return outside or name.startswith("__") or any(_gives(project, part, name) for part in project.mro(ref))


def _gives(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether the code of one class mentions the attribute: in its body, or stored by its methods."""
    declared = any(name == annotated for annotated, _ in project.class_(ref).annotations)
    return declared or name in project.class_bindings(ref) or name in project.own_stores(ref)


def _heirs(project: Project) -> dict[ClassRef, list[ClassRef]]:
    """All classes below each class that has any."""
    key = "heirs"
    if key not in project.memo:
        table: dict[ClassRef, list[ClassRef]] = defaultdict(list)
        for ref in project.classes():
            for base in project.mro(ref)[1:]:
                table[base].append(ref)
        project.memo[key] = dict(table)
    return project.memo[key]  # type: ignore[return-value]


def _is_marked(function: Function) -> bool:
    return any(terminal_name(decorator) in _DECORATORS for decorator in function.decorators)


def _only_raises(function: Function) -> bool:
    raises = any(site.call.function == Name("NotImplementedError") for site in function.calls)
    return raises and not (function.returns or function.stores or function.bindings)
