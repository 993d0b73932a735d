"""Call edges of a construction: `__new__`, `__init__`, defaults of dataclass fields, partial objects."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls import contexts
from dynamo_lint.index.ir import Attribute, Call, Constant, Definition, Element, Expr, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import untested
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import EMPTY, ClassValue, Context, FunctionValue, Instance, ValueSet, union
from dynamo_lint.values.points_to import PointsTo

_NEW = "__new__"


def constructed_values(pts: PointsTo, ref: ClassRef, call: Call, context: Context) -> ValueSet:
    """The values that a call of a class gives: an instance, or the modules that its `__new__` returns."""
    own: ValueSet = {Instance(ref): Confidence.CERTAIN}
    new = pts.project.method(ref, _NEW)
    if new is None:
        return own
    returned = pts.returns(new, ref, contexts.bind_arguments(pts, new, call, context))
    others = {v: confidence for v, confidence in returned.items() if v not in own and pts.holds_module(v)}
    calls = pts.project.function(new).calls
    itself = not others or any(terminal_name(site.call.function) == _NEW for site in calls)
    return union([own if itself else EMPTY, union([others], Confidence.LIKELY)])


_AFTER = knowledge.pairs("after_init")
"""The method that a generated `__init__` calls at its end, by decorator."""


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
        after = after_init(project, part)
        if after is not None:
            method = project.method(ref, after)
            yield from (method,) if method is not None else ()
            yield from _defaults(project, ref, call)
            return


def after_init(project: Project, ref: ClassRef) -> str | None:
    """The method that the generated `__init__` of a decorated class calls at its end, if there is one."""
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


def partial_object(pts: PointsTo, ref: ClassRef, call: Call, context: Context) -> ValueSet:
    """The functions and classes that an object calls when it is called: what its constructor is given first.

    It stands for them as a `functools.partial` does: all objects of the class together would call anything.
    """
    if not _calls_first(pts.project, ref):
        return EMPTY
    init = pts.project.method(ref, "__init__")
    if init is None:
        return EMPTY
    function = pts.project.function(init)
    given = argument_for(function.parameters[1], function, call)
    found = pts.value(given, context) if given is not None else EMPTY
    return {
        value: confidence
        for value, confidence in found.items()
        if isinstance(value, ClassValue | FunctionValue)
    }


def _calls_first(project: Project, ref: ClassRef) -> bool:
    """Whether a class keeps what it is made with first, and gives back what a call of that gives."""
    key = ("calls first", ref)
    if key not in project.memo:
        run, init = project.method(ref, "__call__"), project.method(ref, "__init__")
        first = project.function(init).parameters[1:2] if init is not None else ()
        kept = {
            name
            for part in project.mro(ref)
            for name, stores in project.own_stores(part).items()
            if first
            and any(at == init and untested(store.value) == Name(first[0].name) for at, store in stores)
        }
        project.memo[key] = (
            run is not None
            and not project.is_module(ref)
            and any(
                isinstance(value, Call)
                and isinstance(value.function, Attribute)
                and value.function.name in kept
                and project.is_self(value.function.value, run)
                for value in project.function(run).returns
            )
        )
    return bool(project.memo[key])
