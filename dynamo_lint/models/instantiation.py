"""Libraries that build objects from descriptions: `instantiate(cfg)`, `get_class(path)`, specs of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Attribute, Call, Constant, Expr, Name, Parameter, Subscript
from dynamo_lint.index.walking import walk
from dynamo_lint.models.config import described
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, File, FunctionRef
from dynamo_lint.values.arguments import argument_for, as_given
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    Instance,
    Text,
    Value,
    ValueSet,
    union,
)
from dynamo_lint.values.points_to import PointsTo

TARGET = "_target_"
"""The key under which hydra looks for the dotted name of what to call (hydra/_internal/instantiate)."""
TARGETS = frozenset({TARGET, *knowledge.pairs("argument_keys")})
"""The keys under which functions of a project look for what they import."""
_IMPORTING = ("import_module", "locate", "__import__", "get_class")
"""Functions that give a class for its dotted name, or a module."""
BUILDERS = knowledge.names("builds")
DESCRIPTIONS = knowledge.names("describes") | knowledge.names("describes_calls")
"""Functions that only wrap a description: its first argument, or `module`, says what is built."""
LAZY_CALLS, _INSTANTIATE = knowledge.last_names("describes_calls"), "instantiate"
"""The class that describes calls in detectron2, and the function that makes them: common names elsewhere."""


def built(pts: PointsTo, description: Expr, context: Context) -> ValueSet:
    """The values that a builder makes of a description.

    Of a configuration that only the run knows it builds what the project's files describe under that key, or
    else one of the modules that the `_target_`s in its code name, if they are few.
    """
    path = context.function.path
    found: list[ValueSet] = []
    for value, confidence in pts.value(description, context).items():
        match value:
            case ClassValue(ref):
                found.append({Instance(ref): confidence})
            case Instance(ref) if pts.project.is_module(
                ref
            ):  # as a file describes it: an argument of another
                found.append({value: max(confidence, Confidence.LIKELY)})
            case Container("dict") if TARGET in value.keys:
                named = union(dict(item) for item in value.at(TARGET))
                found.append(union([_instances(pts, named, path)], confidence))
    if not found:
        found.append(described(pts, description, context))
    if not any(found):
        texts: ValueSet = {Text(text): Confidence.LIKELY for text in pts.project.strings_passed_as(TARGET)}
        found.append(pts.capped(_instances(pts, union([texts, _structured(pts)]), path)))
    return union(found)


def built_by_project(pts: PointsTo, callee: FunctionRef, call: Call, context: Context) -> ValueSet:
    """The values made of a description in a file: `instantiate_from_config(config.model)`."""
    key = "own builders"
    if key not in pts.project.memo:
        pts.project.memo[key] = dict(_importing_functions(pts.project))
    parameter = pts.project.memo[key].get(callee)  # type: ignore[attr-defined]
    lazy = parameter is None and callee.key == _INSTANTIATE
    if lazy:
        parameter = next(iter(pts.project.function(callee).parameters), None)
    if parameter is None:
        return EMPTY
    argument = argument_for(parameter, pts.project.function(callee), call)
    if argument is None:
        return EMPTY
    known: ValueSet = {
        value: max(confidence, Confidence.LIKELY)
        for value, confidence in pts.value(argument, context).items()
        if isinstance(value, Instance) and pts.project.is_module(value.ref)
    }
    if known or lazy:
        return known
    # A module makes one of its parts: it is not known which one. A program makes a whole model.
    owner = pts.project.owner(context.function)
    whole = owner is None or not pts.project.is_module(owner)
    return described(pts, argument, context, anything=whole)


def _importing_functions(project: Project) -> Iterator[tuple[FunctionRef, Parameter]]:
    """The functions that import a class which their argument names, or have another function import it.

    That one may hand the name on: `make(name, **kwargs)` calls `find(name)(**kwargs)`.
    """
    importing = sorted({where for name in _IMPORTING for where, _ in project.calls_of(name)})
    for where in importing:
        yield from _taking(project, where, (site.call for site in project.function(where).calls))
    for where in importing:  # grows
        name = project.function(where).qualname.rpartition(".")[2]
        for caller, site in project.calls_of(name):
            if where in project.symbols(site.call.function, caller.path, caller.key):
                yield from _taking(project, caller, site.call.arguments)
                first = site.call.arguments[:1]
                if caller not in importing and any(as_given(project.function(caller), one) for one in first):
                    importing.append(caller)


def _taking(
    project: Project, where: FunctionRef, asked: Iterable[Expr]
) -> Iterator[tuple[FunctionRef, Parameter]]:
    names = {_class_key(part) for expr in asked for part in walk(expr)}
    yield from ((where, p) for p in project.function(where).parameters[:2] if p.name in names)


def _class_key(expr: Expr) -> str | None:
    """The name that an expression takes a class out of: `config` of `config["target"]`."""
    match expr:
        case (
            Attribute(Name(name), key)
            | Subscript(Name(name), Constant(key))
            | Call(Attribute(Name(name), "get" | "pop"), (Constant(key), *_))
        ) if key in TARGETS:
            return name
    return None


def _instances(pts: PointsTo, named: ValueSet, path: str) -> ValueSet:
    found: dict[Value, Confidence] = {}
    for value, confidence in named.items():
        classes = [value.ref] if isinstance(value, ClassValue) else []
        if isinstance(value, Text):
            classes = _classes(pts, value.value, path)
        found |= {Instance(ref): confidence for ref in classes if pts.project.is_module(ref)}
    return found


def _classes(pts: PointsTo, dotted: str, path: str) -> list[ClassRef]:
    module, _, name = dotted.rpartition(".")
    where = pts.project.find_module(module, path) if module else None
    members = pts.project.members(File(where), name) if where is not None else ()
    return [symbol for symbol in members if isinstance(symbol, ClassRef)]


def _structured(pts: PointsTo) -> ValueSet:
    """`_target_: str = "pkg.Model"` in the configuration classes of the project."""

    def compute() -> ValueSet:
        found: dict[Value, Confidence] = {}
        for ref in pts.project.classes():
            for binding in pts.project.class_(ref).bindings:
                if binding.name == TARGET and isinstance(binding.value, ir.Constant):
                    found[Text(str(binding.value.value))] = Confidence.LIKELY
        return found

    nothing: ValueSet = EMPTY
    return pts.ask(("structured targets",), compute, nothing)
