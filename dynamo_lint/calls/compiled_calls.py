"""Functions of the project that compile one of their arguments, and calls of what they give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dynamo_lint.index.ir import MODULE_KEY, Call, Function
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.dependencies import question
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.names import last_name, names_for
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.values.model import Compiled, Instance, Value, ValueSet, union


def overridden(
    project: Project, name: str, wanted: Collection[ClassRef | FunctionRef]
) -> frozenset[ClassRef | FunctionRef | None] | None:
    """The methods that a compiling one overrides, if no other of its name is anywhere in the project.

    A call of that name that runs nothing else, or nothing known, is a call of it: `for p in plugins:
    model = p.prepare(model)`. None for all other functions.
    """
    methods = [ref for ref in wanted if isinstance(ref, FunctionRef)]
    if len(wanted) != 1 or not methods:
        return None
    owner, function = project.owner(methods[0]), project.function(methods[0])
    if function.owner is None or owner is None:
        return None
    if not compiles_something(function):
        return None
    above = [part for part in project.mro(owner) if name in project.class_bindings(part)]
    below = subclasses(project, above[-1]) if above else ()
    family = {*above, *(part for part in below if name in project.class_bindings(part))}
    if project.times_defined(name) > len(family):
        return None
    return frozenset(project.method(part, name) for part in above[1:])


def held_as(project: Project, ref: FunctionRef) -> set[str]:
    """The names that hold a closure or an object that compiles: `compiler = make_compiler(cfg)`, and
    `self.compiler = compiler or Compiler()` for the `__call__` of one."""
    function = project.function(ref)
    outer, owner = function.outer or MODULE_KEY, project.owner(ref)
    if not compiles_something(function):
        return set()
    makers: list[str] = []
    if function.owner is None and outer != MODULE_KEY:
        makers = [outer.rpartition(".")[2]]
    elif owner is not None and ref.key.endswith(".__call__") and not project.is_module(owner):
        makers = [owner.name, *(subclass.name for subclass in subclasses(project, owner))]
    found = {
        name
        for maker in makers
        for where, site in project.calls_of(maker)
        for name in (*names_for(site.call, project.function(where)), *_parameters(project, where, site.call))
    }
    return found.union(*(project.named("called as").get(name, ()) for name in found))


def compilers(project: Project, values: Iterable[Value]) -> Iterator[FunctionRef]:
    """The `__call__` methods that compile, of instances that are called."""
    for value in values:
        method = project.method(value.ref, "__call__") if isinstance(value, Instance) else None
        if method is not None and compiles_something(project.function(method)):
            yield method


def _parameters(project: Project, where: FunctionRef, made: Call) -> Iterator[str]:
    """The parameters that get what a call gives: `Trainer(compiler=Compiler())`, `build(Compiler())`."""
    for site in project.function(where).calls:
        yield from (keyword for keyword, value in site.call.keywords if value == made and keyword is not None)
        if made in site.call.arguments:
            called = project.named("calling given").get(last_name(site.call.function), ())
            place = site.call.arguments.index(made)
            yield from (parameter for _, at, parameter in called if at == place)


@question
def compiles_something(function: Function) -> bool:
    """Whether a function has a compile site of its own."""
    return any(terminal_name(site.call.function) == "compile" for site in function.calls)


def compiled(values: ValueSet, path: str, line: int) -> ValueSet:
    """The values of `torch.compile(…)`: of our own code the same, of a library function its place."""
    outside = [value for value in values if isinstance(value, ExternalSymbol) and value.dotted != COMPILE]
    if not outside:
        return values
    made: ValueSet = {Compiled(value.dotted, path, line): values[value] for value in outside}
    return union([made, {value: confidence for value, confidence in values.items() if value not in outside}])
