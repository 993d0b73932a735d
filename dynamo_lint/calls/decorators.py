"""Decorators: the functions they are called with, the closures and objects they put around them."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Definition, Expr, Function
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import walk
from dynamo_lint.program.names import LAMBDA, names_for
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import ClassValue, Context, FunctionValue, Instance, Value, ValueSet
from dynamo_lint.values.points_to import PointsTo, evaluate, points_to_of

_NONE = ir.Constant(None)
Absent = frozenset[tuple[FunctionRef, str]]
"""Parameters that are None, each with its function."""


def left_out(project: Project, ref: FunctionRef, decorator: Expr) -> Absent:
    """The parameters that a decoration by a function leaves at their default None."""
    call = decorator if isinstance(decorator, ir.Call) else ir.Call(decorator, (ir.UNKNOWN,))
    if any(name is None for name, _ in call.keywords):
        return frozenset()
    function = project.function(ref)
    left = (p for p in function.parameters if p.default == _NONE and not argument_for(p, function, call))
    return frozenset((ref, parameter.name) for parameter in left)


def may_run(project: Project, closure: FunctionRef, absent: Absent) -> bool:
    """Whether a closure does not call what is None, whatever happens in it."""
    function = project.function(closure)
    for site in function.calls:
        match site.call.function:
            case ir.Name(name) if name not in site.given and not function.is_conditional(site.call.line):
                if (project.home_of(name, closure), name) in absent:
                    return False
    return True


_MOST = 200
"""Decorators of one name that are evaluated to see what they call."""


def decorated_by(pts: PointsTo, function: Function, context: Context) -> ValueSet:
    """The functions and classes that the function decorates: it is called with each of them."""
    names = {function.qualname.rpartition(".")[2]}
    if LAMBDA in names:  # `fuse = lambda f: torch.compile(f)`
        around = pts.project.function(FunctionRef(context.function.path, function.outer or MODULE_KEY))
        names = set(names_for(Definition(context.function.key), around))
    if function.outer not in (None, MODULE_KEY):  # `@factory(…)` calls the function that it returns
        outer = pts.project.files[context.function.path].functions[function.outer or MODULE_KEY]
        names.add(outer.qualname.rpartition(".")[2])
    runs: set[object] = {context.function}
    if function.owner is not None:  # a class that decorates is given it, or an instance of the class is
        owner = ClassRef(context.function.path, function.owner)
        called = (
            ClassValue(owner) if "__init__" in names else Instance(owner) if "__call__" in names else None
        )
        if called is not None:
            names.add(owner.name)
            runs.add(called)
    found: dict[Value, Confidence] = {}
    for name in _decorating(pts.project, frozenset(names)):
        for ref, decorator in pts.project.decorated_with(name)[:_MOST]:
            project = pts.project
            definition = project.function(ref) if isinstance(ref, FunctionRef) else project.class_(ref)
            where = Context(FunctionRef(ref.path, definition.outer or MODULE_KEY))
            decorators = pts.value(decorator, where)
            if any(v in runs or getattr(v, "ref", None) in runs for v in decorators):
                # `fuse = plain` and, on a condition, `fuse = compiled`: only a run can say which it is.
                confidence = Confidence.CERTAIN if len(decorators) == 1 else Confidence.LIKELY
                found[FunctionValue(ref) if isinstance(ref, FunctionRef) else ClassValue(ref)] = confidence
    return found


def _decorating(project: Project, names: frozenset[str]) -> list[str]:
    """The names that something so called decorates by."""
    key = ("decorating", names)
    if key not in project.memo:
        project.memo[key] = sorted(filter(project.decorated_with, project.other_names(names)))
    return project.memo[key]  # type: ignore[return-value]


_DEEPEST = 2
"""Functions that give back what another makes: further than this nobody nests them."""


def decorator_objects(pts: PointsTo, ref: FunctionRef) -> Iterator[tuple[FunctionRef, ClassRef]]:
    """The `__call__`s, with their classes, that run around a function because classes decorate it."""
    function = pts.project.function(ref)
    if not function.decorators or "__call__" not in pts.project.named("methods"):
        return
    for decorator in function.decorators:
        for made in _classes_returned(pts.project, decorator, ref.path, function.outer or MODULE_KEY):
            method = None if pts.project.is_module(made) else pts.project.method(made, "__call__")
            if method is not None:
                yield method, made


def _classes_returned(
    project: Project, decorator: Expr, path: str, where: str, depth: int = 0
) -> Iterator[ClassRef]:
    """The classes that a decorator makes an instance of, read off as it is written."""
    match decorator:
        case ir.Call(callee, arguments):
            for symbol in project.symbols(callee, path, where):
                if symbol == ExternalSymbol("functools.partial") and arguments:
                    yield from _classes_returned(project, arguments[0], path, where, depth)
                elif isinstance(symbol, FunctionRef) and depth < _DEEPEST:
                    for value in project.function(symbol).returns:
                        yield from _classes_returned(project, value, symbol.path, symbol.key, depth + 1)
        case _:
            for symbol in project.symbols(decorator, path, where):
                if isinstance(symbol, ClassRef):
                    yield symbol
                elif isinstance(symbol, FunctionRef):
                    for value in project.function(symbol).returns:
                        made = value.function if isinstance(value, ir.Call) else ir.UNKNOWN
                        classes = project.symbols(made, symbol.path, symbol.key)
                        yield from (one for one in classes if isinstance(one, ClassRef))


def keeps_function(project: Project, callee: Expr, context: Context) -> bool:
    """Whether a method of such an object calls what the object was put around: its constructor's first."""
    if context.receiver is None or not isinstance(callee, ir.Attribute):
        return False
    if not project.is_self(callee.value, context.function):
        return False
    for part in project.mro(context.receiver):
        for where, store in project.own_stores(part).get(callee.name, ()):
            given = project.function(where).parameters[1:2]
            if where.key.endswith(".__init__") and any(store.value == ir.Name(p.name) for p in given):
                return True
    return False


_PLAIN_DECORATORS = frozenset({"property", "staticmethod", "classmethod", "setter", "override", "no_grad"})
_SUBCLASSED = "__init_subclass__"


def wrappers(project: Project, ref: FunctionRef) -> list[FunctionRef]:
    """The closures that decorators of this project put around a function, the outermost first."""
    found = []
    function = project.function(ref)
    for decorator in function.decorators:
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        if terminal_name(callee) in _PLAIN_DECORATORS:
            continue
        context = Context(FunctionRef(ref.path, function.outer or MODULE_KEY))
        for value in evaluate(project, decorator, context):
            if not isinstance(value, FunctionValue):
                continue
            inner = points_to_of(project).returns(value.ref, None)
            made_by = project.symbols(callee, ref.path, context.function.key)
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


def is_replaced(project: Project, ref: FunctionRef) -> bool:
    """Whether a decorator of its class puts another function in the place of a method."""
    owner = project.owner(ref)
    if owner is None:
        return False
    name, class_ = ref.key.rpartition(".")[2], project.class_(owner)
    for decorator in class_.decorators:
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        symbols = project.symbols(callee, owner.path, class_.outer or MODULE_KEY)
        used = [symbol for symbol in symbols if isinstance(symbol, FunctionRef)]
        for where, store in project.stores_of(name) if used else ():
            given = {one.name for one in project.function(where).parameters}
            inside = any(where == one or where.stands_in(one) for one in used)
            if inside and isinstance(store.owner, ir.Name) and store.owner.id in given:
                return True
    return False


def _makes_functions(project: Project, ref: FunctionRef) -> bool:
    """Whether a function gives back a closure of its own: a decorator, not what it puts around others."""
    made = points_to_of(project).returns(ref, None)
    return any(
        isinstance(v, FunctionValue) and v.ref.path == ref.path and project.function(v.ref).outer == ref.key
        for v in made
    )


def _is_applied(project: Project, closure: FunctionRef) -> bool:
    """Whether the function around a closure gives back what the closure makes of what it is given.

    `return decorator(function)` in a decorator that may be used with and without arguments: the closure runs
    where the decorated function is defined, not where it is called.
    """
    around = project.files[closure.path].functions[project.function(closure).outer or MODULE_KEY]
    name = ir.Name(closure.key.rpartition(".")[2])
    return any(
        isinstance(part, ir.Call) and part.function == name and part.arguments
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
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        for symbol in project.symbols(callee, ref.path, class_.outer or MODULE_KEY):
            if isinstance(symbol, FunctionRef):
                yield symbol


def _stored(project: Project, functions: Iterator[FunctionRef], name: str) -> FunctionRef | None:
    """The closure that one of some functions puts at `name` of the class that it is given."""
    for ref in functions if project.stores_of(name) else ():
        function = project.function(ref)
        if not function.parameters:
            continue
        given = ir.Name(function.parameters[0].name)
        for store in function.stores:
            if store.name == name and store.owner == given:
                found = _closure(project, ref, store.value)
                if found is not None:
                    return found
    return None


def _closure(project: Project, ref: FunctionRef, value: Expr) -> FunctionRef | None:
    made = (v for v in evaluate(project, value, Context(ref)) if isinstance(v, FunctionValue))
    return next((v.ref for v in made if project.function(v.ref).outer not in (None, MODULE_KEY)), None)


def is_within(closure: FunctionRef, ref: FunctionRef) -> bool:
    """Whether a closure is, or stands in, a function; no matter what of one that is none."""
    return "<locals>" in closure.key and (closure == ref or closure.stands_in(ref))


def is_wrapped(project: Project, callee: Expr, wrapper: FunctionRef) -> bool:
    """Whether a closure calls what the function around it was given."""
    outer = project.function(wrapper).outer
    while outer not in (None, MODULE_KEY) and isinstance(callee, ir.Name):
        around = project.function(FunctionRef(wrapper.path, outer or MODULE_KEY))
        if any(parameter.name == callee.id for parameter in around.parameters):
            return True
        outer = around.outer
    return False
