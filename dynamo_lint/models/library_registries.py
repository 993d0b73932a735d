"""Registries of libraries: mmengine's and fvcore's, auto classes of transformers, timm's `register_model`.

What they hold is told by what the project registers: with a decorator, or by a call. Which of it is meant is
told by the call, or by configurations in Python: `cfg.model` is what one has as `model = dict(type="Net")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, CallSite, Constant, Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import arguments_of, walk
from dynamo_lint.models.config import config_keys as keys_of
from dynamo_lint.program.files import is_for_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef, Symbol
from dynamo_lint.values import alternatives
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    ConfigKey,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    LibraryRegistry,
    Text,
    Value,
    ValueSet,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.registries import (
    GETTING,
    HELD,
    Place,
    given_to,
    of_sort,
    place_of,
    registers,
    registrations,
)

_MAKING = frozenset({"get", "create", "build", "make", "load"})
"""How functions of libraries begin that make what was registered: timm's `create_model`, fms' `get_model`."""
CLASS = "Registry"
"""The ending of the names of library classes whose instances are registries."""
_MAPPING = "_model_mapping"
"""Where an auto class of transformers keeps its registry (transformers/models/auto/auto_factory.py)."""
_Entry = tuple[str, "ClassRef | FunctionRef"]
"""Something registered, and its name."""


def built(pts: PointsTo, call: Call, callee: Attribute, owners: ValueSet, context: Context) -> ValueSet:
    """The values that a method of a registry gives: of what is registered there, what the call names."""
    by_name = place_of(pts.project, callee.value, context.function.path, context.function.key)
    if by_name is not None and by_name.path == HELD and not _are_own(pts.project, owners):
        by_name = None
    places = {place for owner in owners if (place := _of_value(pts.project, owner)) is not None}
    if by_name is not None:
        places.add(by_name)
    entries = _entries_for(pts, places, context)
    if not entries:
        return EMPTY
    named = _named(pts, call, context)
    chosen = [ref for name, ref in entries if name in named or ref in named]
    found = [_given(pts, ref, itself=callee.name in GETTING) for ref in chosen or [ref for _, ref in entries]]
    if by_name is not None and by_name.path == HELD and not any(found):  # what has the models is made so
        found = [pts.returns(ref, None) for _, ref in entries if isinstance(ref, FunctionRef)]
    if not chosen:
        alternatives.note(
            pts.project, (made for _, ref in entries for made in _given(pts, ref, itself=False))
        )
    return union(found, Confidence.LIKELY)


def created_by_library(pts: PointsTo, dotted: str, call: Call, context: Context) -> ValueSet:
    """The values that `create_model(name)` of a library makes: of what the project gave its
    `register_model`, the named.

    All of it if a configuration says the name, whatever its default is; nothing of it if the code says
    another, for the library has models of its own.
    """
    verb, _, sort = dotted.rpartition(".")[2].partition("_")
    entries = _entries_for(pts, {of_sort(dotted, sort)}, context) if verb in _MAKING and sort else []
    if not entries:
        return EMPTY
    configured = isinstance(next(iter(arguments_of(call)), ir.UNKNOWN), Attribute | ir.Subscript)
    texts = set() if configured else {name for name in _named(pts, call, context) if isinstance(name, str)}
    refs = dict.fromkeys(ref for name, ref in entries if name in texts or not texts)
    found = union((_given(pts, ref, itself=False) for ref in refs), Confidence.LIKELY)
    if not texts:
        alternatives.note(pts.project, found)
    return found


def _entries_for(pts: PointsTo, places: set[Place], context: Context) -> list[_Entry]:
    """The entries of some registries as a function sees them: a test's registrations are for that test."""
    entries = [entry for place in sorted(places) for entry in _registered(pts, place)]
    return [(n, ref) for n, ref in entries if not is_for_tests(ref.path, context.function.path)]


def _given(pts: PointsTo, ref: ClassRef | FunctionRef, *, itself: bool) -> ValueSet:
    if isinstance(ref, ClassRef):
        return (
            {ClassValue(ref) if itself else Instance(ref): Confidence.LIKELY}
            if pts.project.is_module(ref)
            else EMPTY
        )
    if itself:
        _functions(pts.project).add(ref)
        return {FunctionValue(ref): Confidence.LIKELY}
    return {
        value: confidence for value, confidence in pts.returns(ref, None).items() if pts.holds_module(value)
    }


def _named(pts: PointsTo, call: Call, context: Context) -> set[str | ClassRef | FunctionRef]:
    """The names or definitions that the first argument selects, by itself or through configurations."""
    asked = next(iter(arguments_of(call)), ir.UNKNOWN)
    match asked:
        case Attribute(owner, "type" | "TYPE") | Call(
            Attribute(owner, "pop" | "get"), (Constant("type" | "TYPE"), *_)
        ):
            asked = owner
    found: set[str | ClassRef | FunctionRef] = set()
    keys: list[str] = []
    for value in pts.value(asked, context):
        match value:
            case Text(text):
                found.add(text)
            case Container("dict") if "type" in value.keys:
                for kind, _ in (row for held in value.at("type") for row in held):
                    found |= {kind.value} if isinstance(kind, Text) else {getattr(kind, "ref", "")}
            case ConfigKey(name):
                keys.append(name)
    if not found:
        rows = pts.project.named("configured")
        for key in keys or dict.fromkeys(keys_of(pts, asked, context)):
            for where, one in rows.get(key, ()):
                kind = one.call.function
                found |= {str(kind.value)} if isinstance(kind, Constant) else set()
                found.update(
                    s
                    for s in pts.project.symbols(kind, where.path)
                    if not isinstance(s, ExternalSymbol | File)
                )
    return found


def remade(pts: PointsTo, made: ValueSet, call: Call, context: Context) -> ValueSet:
    """The values that a call gives, and the registry that it is: one for each call, whatever makes it for
    the caller.

    A helper makes another one at each call, and a subclass of a library's class is a registry too.
    """
    if context.function.key != MODULE_KEY or not any(_is_registry(pts.project, value) for value in made):
        return made
    others: ValueSet = {
        value: confidence for value, confidence in made.items() if not isinstance(value, LibraryRegistry)
    }
    return union([others, {LibraryRegistry(context.function.path, call.line): Confidence.CERTAIN}])


def _is_registry(project: Project, value: Value) -> bool:
    if isinstance(value, Instance):
        return any(base.endswith(CLASS) for base in project.external_bases(value.ref))
    return isinstance(value, LibraryRegistry)


def _functions(project: Project) -> set[FunctionRef]:
    """The functions that registries have given so far."""
    return project.memo.setdefault("registered functions", set())  # type: ignore[return-value]


def without_factories(pts: PointsTo, found: ValueSet) -> ValueSet:
    """The values of a factory that calls registered functions, or by a switch only binds their
    arguments.

    Of a registered function that stands beside all that it gives, these are what the factory is there for.
    """
    registered = _functions(pts.project)
    if not registered or not any(isinstance(value, Instance | ExternalInstance) for value in found):
        return found
    left = {}
    for value, confidence in found.items():
        built = EMPTY
        if isinstance(value, FunctionValue) and value.ref in registered:
            built = pts.returns(value.ref, value.receiver)
        if not built or not all(one in found for one in built):
            left[value] = confidence
    return left


def configured(pts: PointsTo, wanted: Iterable[Symbol]) -> Iterator[tuple[Context, CallSite]]:
    """The descriptions of what is registered, as calls of it: `model = dict(type="Model", width=2)`."""
    project = pts.project
    for ref in wanted:
        if isinstance(ref, ExternalSymbol | File):
            continue
        definition = project.class_(ref) if isinstance(ref, ClassRef) else project.function(ref)
        for decorator in definition.decorators:
            if registers(terminal_name(decorator) or ""):
                for name in _names(decorator, ref):
                    yield from ((Context(at), site) for at, site in project.named("typed").get(name, ()))


def _of_value(project: Project, owner: Value) -> Place | None:
    """The registry that a value is: an auto class of transformers, or one of the project with a mapping."""
    match owner:
        case ExternalSymbol(dotted):
            return Place("", dotted)
        case LibraryRegistry(path, line):
            return Place(path, str(line))
        case ClassValue(ref):
            mapping = project.class_bindings(ref).get(_MAPPING, ())
            inner = (place_of(project, one.value, ref.path, MODULE_KEY) for one in mapping)
            return next((place for place in inner if place is not None), None)
    return None


def _registered(pts: PointsTo, place: Place) -> tuple[_Entry, ...]:
    nothing: tuple[_Entry, ...] = ()
    return pts.ask(("registered", place), lambda: tuple(dict.fromkeys(_entries(pts, place))), nothing)


def _entries(pts: PointsTo, place: Place) -> Iterator[_Entry]:
    for call, where in registrations(pts.project).get(place, ()):
        if not isinstance(where, Context):
            yield from ((name, where) for name in _names(call, where))
            continue
        for argument in given_to(call):
            if not isinstance(argument, Constant | ir.UnknownExpression):
                for value in pts.value(argument, where):
                    if isinstance(value, ClassValue | FunctionValue):
                        yield from ((name, value.ref) for name in _names(call, value.ref))


def _names(registering: Expr, ref: ClassRef | FunctionRef) -> list[str]:
    """Under which names something is registered: those that the call gives, or else its own."""
    texts = [
        part.value for value in given_to(registering) for part in walk(value) if isinstance(part, Constant)
    ]
    return [text for text in texts if isinstance(text, str)] or [ref.key.split("#")[0].rpartition(".")[2]]


def _are_own(project: Project, owners: ValueSet) -> bool:
    """Whether values are registries of the project's own classes: objects that something registers with."""
    classes = [value.ref for value in owners if isinstance(value, Instance)]
    return bool(classes) and not any(
        project.is_module(ref) or not any(map(registers, _methods(project, ref))) for ref in classes
    )


def _methods(project: Project, ref: ClassRef) -> Iterator[str]:
    for part in project.mro(ref):
        yield from project.class_bindings(part)
