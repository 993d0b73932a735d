"""What is put around a function or a forward: closures of decorators, and wrappers that classes receive."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.absent import left_out, may_run
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import FunctionValue, Scope
from dynamo_lint.values.points_to import evaluate, evaluation_of

_PLAIN_DECORATORS = frozenset({"property", "staticmethod", "classmethod", "setter", "override", "no_grad"})
_SUBCLASSED = "__init_subclass__"


def wrappers(project: Project, ref: FunctionRef) -> list[FunctionRef]:
    """The closures that decorators of this project put around a function, the outermost first."""
    found = []
    function = project.function(ref)
    for decorator in function.decorators:
        callee = decorator.function if isinstance(decorator, facts.Call) else decorator
        if terminal_name(callee) in _PLAIN_DECORATORS:
            continue
        scope = Scope(FunctionRef(ref.path, function.outer or MODULE_KEY))
        for value in evaluate(project, decorator, scope):
            if not isinstance(value, FunctionValue):
                continue
            inner = evaluation_of(project).returns(value.ref, None)
            made_by = project.symbols(callee, ref.path, scope.function.key)
            absent = frozenset().union(
                *(left_out(project, one, decorator) for one in made_by if isinstance(one, FunctionRef))
            )
            found += [
                v.ref
                for v in inner
                if isinstance(v, FunctionValue)
                and v.ref.stands_in(value.ref)
                and may_run(project, v.ref, absent)
                and not (_is_applied(project, v.ref) or _makes_functions(project, v.ref))
            ]
    return found


def _makes_functions(project: Project, ref: FunctionRef) -> bool:
    """Whether a function gives back a closure of its own: a decorator, not what it puts around others."""
    made = evaluation_of(project).returns(ref, None)
    return any(
        isinstance(v, FunctionValue) and v.ref.path == ref.path and project.function(v.ref).outer == ref.key
        for v in made
    )


def _is_applied(project: Project, closure: FunctionRef) -> bool:
    """Whether the function around a closure gives back what the closure makes of a parameter of its own.

    `return decorator(function)` in a decorator that may be used with and without arguments: the closure runs
    where the decorated function is defined, not where it is called.
    """
    around = project.files[closure.path].functions[project.function(closure).outer or MODULE_KEY]
    given = {facts.Name(parameter.name) for parameter in around.parameters}
    name = facts.Name(closure.key.rpartition(".")[2])
    return any(
        isinstance(part, facts.Call) and part.function == name and not given.isdisjoint(part.arguments)
        for value in around.returns
        for part in walk(value)
    )


def outermost(project: Project, ref: ClassRef, name: str) -> FunctionRef | None:
    """The function whose code runs first when `instance.name(…)` is called: it is what Dynamo compiles."""
    order = project.mro(ref)
    for position, part in enumerate(order):
        decorated = _stored(project, _class_decorators(project, part), name)
        if decorated is not None:
            return decorated
        above = (FunctionRef(p.path, f"{p.key}.{_SUBCLASSED}") for p in order[position + 1 :])
        given = _stored(project, (f for f in above if f.key in project.files[f.path].functions), name)
        if given is not None:
            return given
        if name in project.class_bindings(part):
            break
    method = project.method(ref, name)
    if method is None:
        return None
    return next(iter(wrappers(project, method)), method)


def _class_decorators(project: Project, ref: ClassRef) -> Iterator[FunctionRef]:
    class_ = project.class_(ref)
    for decorator in class_.decorators:
        callee = decorator.function if isinstance(decorator, facts.Call) else decorator
        for symbol in project.symbols(callee, ref.path, class_.outer or MODULE_KEY):
            if isinstance(symbol, FunctionRef):
                yield symbol


def _stored(project: Project, functions: Iterator[FunctionRef], name: str) -> FunctionRef | None:
    """The closure that one of some functions puts at `name` of the class that it is given."""
    for ref in functions if project.stores_of(name) else ():
        function = project.function(ref)
        if not function.parameters:
            continue
        given = facts.Name(function.parameters[0].name)
        for store in function.stores:
            if store.name == name and store.owner == given:
                found = _closure(project, ref, store.value)
                if found is not None:
                    return found
    return None


def _closure(project: Project, ref: FunctionRef, value: Expr) -> FunctionRef | None:
    made = (v for v in evaluate(project, value, Scope(ref)) if isinstance(v, FunctionValue))
    return next((v.ref for v in made if project.function(v.ref).outer not in (None, MODULE_KEY)), None)


def is_within(closure: FunctionRef, ref: FunctionRef) -> bool:
    """Whether a closure is, or stands in, a function; no matter what of one that is none."""
    return "<locals>" in closure.key and (closure == ref or closure.stands_in(ref))


def is_wrapped(project: Project, callee: Expr, wrapper: FunctionRef) -> bool:
    """Whether a closure calls what the function around it was given."""
    outer = project.function(wrapper).outer
    while outer not in (None, MODULE_KEY) and isinstance(callee, facts.Name):
        around = project.function(FunctionRef(wrapper.path, outer or MODULE_KEY))
        if any(parameter.name == callee.id for parameter in around.parameters):
            return True
        outer = around.outer
    return False
