"""Record objects: named tuples, namespaces, typed dictionaries, models with declared fields."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, Constant, Display
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    ClassValue,
    Container,
    Context,
    Instance,
    Slot,
    Text,
    ValueSet,
    at_best,
    elements,
    freeze,
    stored,
    union,
)
from dynamo_lint.values.points_to import PointsTo

_OPEN = knowledge.names("takes_attributes")
PARSERS = frozenset({"parse_args", "parse_known_args"})
"""Functions that give such an object: `args.model = Net()` sets a model on it (argparse and subclasses)."""
FIELDS = knowledge.names("field")
"""Functions that declare a field of a class, with its default."""
DEFAULTS = frozenset({"default", "default_factory", "factory"})
_NAMED_TUPLE = "collections.namedtuple"
_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_TYPED_DICTIONARIES = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})
_DICTIONARIES = frozenset({"dict", "OrderedDict", "MappingProxyType"})
_READERS = knowledge.names("reads_into")
_CHOOSING = knowledge.names("chooses")
VALIDATING = knowledge.names("validates")
"""Class methods of libraries that make an object of the class that is called."""
CLASS = "named tuple"
"""The kind of `Group` that stands for a class of named tuples: it has their fields, and holds nothing."""


def of_library(pts: PointsTo, dotted: str, call: Call, context: Context) -> ValueSet | None:
    """The record that something of a library makes, or the class of it; None if it makes none."""
    if dotted == _NAMED_TUPLE:
        return _named_tuple(call)
    if dotted in _READERS:
        return _read(pts, call, context)
    if dotted in _CHOOSING and call.arguments:
        rows = elements(pts.value(call.arguments[0], context))
        return {v: confidence for v, confidence in elements(rows).items() if isinstance(v, Instance)}
    if dotted.rpartition(".")[2] in _OPEN and not dotted.startswith("builtins."):
        return _opened(pts, call, context)
    return _pipeline(pts, dotted, call, context)


def _pipeline(pts: PointsTo, dotted: str, call: Call, context: Context) -> ValueSet | None:
    """A pipeline of diffusers with the modules of ours that it is made of, which it keeps by name
    (diffusers/pipelines/pipeline_utils.py: register_modules)."""
    if not dotted.removesuffix(".from_pretrained").endswith("Pipeline"):
        return None
    given = [(name, pts.value(value, context)) for name, value in call.keywords if name is not None]
    parts = [(name, found) for name, found in given if any(map(pts.holds_module, found))]
    if not parts:
        return None
    return {
        Container(
            "tuple", tuple(freeze(found) for _, found in parts), tuple(n for n, _ in parts)
        ): Confidence.LIKELY
    }


def _named_tuple(call: Call) -> ValueSet:
    """The class that `namedtuple("Parts", ["model", "step"])` makes."""
    match call.arguments:
        case (_, Display("list" | "tuple", items), *_):
            names = [item.value for item in items if isinstance(item, Constant)]
        case (_, Constant(str() as text), *_):
            names = list(text.replace(",", " ").split())
        case _:
            return EMPTY
    return {Container(CLASS, (), tuple(name for name in names if isinstance(name, str))): Confidence.CERTAIN}


def named_tuple(pts: PointsTo, names: tuple[str | None, ...], call: Call, context: Context) -> ValueSet:
    """The named tuple that a call of its class makes."""
    given = dict(zip(names, call.arguments, strict=False)) | dict(call.keywords)
    parts = (pts.value(given.get(name, ir.UNKNOWN), context) for name in names)
    return {Container("tuple", tuple(freeze(part) for part in parts), names): Confidence.CERTAIN}


def field_of(project: Project, ref: ClassRef, index: object) -> str | None:
    """The field that an index means: of a tuple by its place, of a typed dictionary by its name."""
    bases = project.external_bases(ref)
    if isinstance(index, str):
        return index if not _TYPED_DICTIONARIES.isdisjoint(bases) else None
    if not isinstance(index, int) or _NAMED_TUPLES.isdisjoint(bases):
        return None
    fields = [name for part in project.mro(ref) for name, _ in project.class_(part).annotations]
    return fields[index] if -len(fields) <= index < len(fields) else None


def _opened(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """An object that takes any attribute: one for each line that makes some."""
    rows = [(name, pts.value(value, context)) for name, value in call.keywords]
    return {AnonymousModule(context.function.path, call.line): Confidence.CERTAIN, **stored(rows)}


def copied(name: str, values: ValueSet) -> ValueSet:
    """A container that holds the same as others; of pairs a dictionary: `OrderedDict([("net", Net)])`."""
    groups: ValueSet = {
        value: confidence for value, confidence in values.items() if isinstance(value, Container)
    }
    if name not in _DICTIONARIES:
        return groups
    found: list[ValueSet] = []
    for group, confidence in groups.items():
        if not isinstance(group, Container):
            continue
        inner = [pair for item in group.items for pair, _ in item]
        rows = [pair.items for pair in inner if isinstance(pair, Container) and pair.kind == "tuple"]
        if group.kind == "dict" or len(rows) != len(inner) or any(len(row) != 2 for row in rows):
            found.append({group: confidence})
        else:
            found.append(at_best(stored((_text(key), dict(value)) for key, value in rows), confidence))
    return union(found)


def _text(held: Slot) -> str | None:
    texts = [value.value for value, _ in held if isinstance(value, Text)]
    return texts[0] if len(texts) == 1 else None


def _read(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """The object of `tyro.cli(Arguments)`: an instance of the class."""
    given = dict(call.keywords)
    for name in ("config_class", "data_class"):
        if name in given:
            return validated_instances(pts.value(given[name], context))
    match call.arguments:
        case (ir.Subscript(_, asked), *_) | (asked, *_):  # `tyro.conf.FlagConversionOff[Arguments]`
            return validated_instances(pts.value(asked, context))
    return EMPTY


def validated_instances(classes: ValueSet) -> ValueSet:
    """An object of each of the classes."""
    return {
        Instance(one.ref): confidence for one, confidence in classes.items() if isinstance(one, ClassValue)
    }
