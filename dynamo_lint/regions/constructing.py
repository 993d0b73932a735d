"""What constructing a plain class runs: `__new__` and `__init__`, or what a dataclass has in their place."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Call, Constant, Definition, Element, Expr
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.project import Project

_AFTER = {
    "dataclass": "__post_init__",
    **dict.fromkeys(("define", "frozen", "mutable", "attrs", "s"), "__attrs_post_init__"),
}
"""What the `__init__` that a decorator writes calls at its end (dataclasses.py, attr/_make.py)."""


def constructors(project: Project, ref: ClassRef, call: Call, where: FunctionRef) -> Iterator[FunctionRef]:
    """The functions of the project that a call of a class runs; of a module none: Dynamo makes no modules.

    Its `__new__` may give an instance of another class, so that it counts where the class itself is called.
    """
    if project.is_module(ref):
        return
    new = project.method(ref, "__new__")
    if new is not None and ref in project.symbols(call.function, where.path, where.key):
        yield new
    for part in project.mro(ref):
        if "__init__" in project.class_bindings(part):
            init = project.method(part, "__init__")
            if init is not None:
                yield init
            return
        after = _after(project, part)
        if after is not None:
            method = project.method(ref, after)
            yield from (method,) if method is not None else ()
            yield from _defaults(project, ref, call)
            return


def _after(project: Project, ref: ClassRef) -> str | None:
    """What the `__init__` calls that a decorator of the class writes; None if none does."""
    for decorator in project.class_(ref).decorators:
        off = isinstance(decorator, Call) and ("init", Constant(False)) in decorator.keywords
        callee = decorator.function if isinstance(decorator, Call) else decorator
        after = None if off else _AFTER.get(terminal_name(callee) or "")
        if after is not None:
            return after
    return None


def _defaults(project: Project, ref: ClassRef, call: Call) -> Iterator[FunctionRef]:
    """The lambdas that make what a call does not pass: `field(default_factory=lambda: [])`."""
    given = {name for name, _ in call.keywords}
    if None in given or any(isinstance(one, Element) for one in call.arguments):
        return
    fields: list[str] = []
    for part in reversed(project.mro(ref)):
        fields += [name for name, _ in project.class_(part).annotations if name not in fields]
    given.update(fields[: len(call.arguments)])
    for part in project.mro(ref):
        for name, bound in project.class_bindings(part).items():
            for factory in (_factory(one.value) for one in bound if name not in given):
                if isinstance(factory, Definition) and factory.key in project.files[part.path].functions:
                    yield FunctionRef(part.path, factory.key)


def _factory(value: Expr) -> Expr | None:
    if not isinstance(value, Call) or terminal_name(value.function) not in ("field", "Factory", "ib"):
        return None
    words = ("default_factory", "factory")
    return next((given for word, given in value.keywords if word in words), None)
