"""Methods that a class only declares: an instance of it is one of its heirs, and theirs is what runs."""

from __future__ import annotations

from collections import defaultdict

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Function, Name
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import Project

MAX_HEIRS = 32
"""A base with more heirs than this is a generic slot: to run all of them would say nothing."""

_DECORATORS = frozenset({"abstractmethod", "abstractproperty"})


def only_declares(function: Function) -> bool:
    """A method that only says what its heirs do: marked as abstract, or raising NotImplementedError."""
    return _is_marked(function) or _only_raises(function)


def implementations(project: Project, ref: ClassRef, name: str) -> tuple[tuple[FunctionRef, ClassRef], ...]:
    """What `instance.name` runs on an instance of `ref`, if `ref` cannot be instantiated: with its heirs' class.

    Only classes with `@abstractmethod`s are known to be that; one that raises NotImplementedError may be used
    as it is.
    """
    key = ("implementations", ref, name)
    if key not in project.memo:
        project.memo[key] = _implementations(project, ref, name)
    return project.memo[key]  # type: ignore[return-value]


def _implementations(project: Project, ref: ClassRef, name: str) -> tuple[tuple[FunctionRef, ClassRef], ...]:
    own = project.method(ref, name)
    if own is None or not _is_abstract(project, ref):
        return ()
    found = []
    for heir in _heirs(project).get(ref, ()):
        method = None if _is_abstract(project, heir) else project.method(heir, name)
        if method is not None and method != own and not only_declares(project.function(method)):
            found.append((method, heir))
    return tuple(found) if len(found) <= MAX_HEIRS else ()


def _is_abstract(project: Project, ref: ClassRef) -> bool:
    """Whether some method of a class has no body of its own: Python refuses to instantiate it."""
    key = ("abstract", ref)
    if key not in project.memo:
        names = {name for part in project.mro(ref) for name in project.class_bindings(part)}
        methods = (project.method(ref, name) for name in sorted(names))
        project.memo[key] = any(
            method is not None and _is_marked(project.function(method)) for method in methods
        )
    return bool(project.memo[key])


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
