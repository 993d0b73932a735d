"""Type annotations as abstract values."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr, Name
from dynamo_lint.program.hierarchy import concrete_subclasses, subclass_confidence
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    Instance,
    Text,
    Value,
    ValueSet,
    freeze,
    union,
)

_UNION = frozenset({"Optional", "Union"})
_WRAPPING = frozenset({"Annotated", "Final", "ClassVar", "Required"})
_SEQUENCES = frozenset(
    {"list", "List", "Sequence", "Iterable", "Iterator", "set", "Set", "frozenset", "Collection"}
)
_ALIASING = _UNION | _WRAPPING
_DEEPEST = 8
"""How many imports a name of an annotation may go through."""
_TRANSPARENT = _UNION | _WRAPPING | _SEQUENCES | {"tuple", "Tuple"}
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"})
_UNTOLD = frozenset({"typing.Any", "typing.Callable", "collections.abc.Callable"})
"""Types that any value of ours may have: they do not say that it is one of a library."""
_PLAIN = knowledge.names("plain_types") | knowledge.names("tensors")


def is_plain(project: Project, annotation: Expr, context: Context) -> bool:
    """Whether an annotation admits only tensors, numbers and texts: values that lead to no code of ours."""
    match annotation:
        case ir.Constant(None):
            return True
        case ir.Choice(options) | ir.Display("tuple", options):
            return all(is_plain(project, option, context) for option in options)
        case ir.Subscript(base, index):
            name = base.id if isinstance(base, ir.Name) else getattr(base, "name", "")
            return name in _TRANSPARENT and is_plain(project, index, context)
    symbols = project.symbols(annotation, context.function.path, context.function.key)
    return bool(symbols) and all(isinstance(s, ExternalSymbol) and s.dotted in _PLAIN for s in symbols)


def as_overridden(project: Project, parameter: ir.Parameter, where: FunctionRef) -> ValueSet:
    """The values by the annotation of a parameter in the overridden method, where it has none here."""
    owner, name = project.owner(where), where.key.rpartition(".")[2]
    if owner is None or parameter.annotation is not None or name == "__init__":
        return EMPTY
    for base in project.mro(owner)[1:]:
        method = project.method(base, name)
        if method is None:
            continue
        there = Context(FunctionRef(method.path, MODULE_KEY))
        for other in project.function(method).parameters:
            if other.name == parameter.name and other.annotation is not None:
                plain = is_plain(project, other.annotation, there)
                return EMPTY if plain else union([typed(project, other.annotation, there)], Confidence.LIKELY)
    return EMPTY


def typed(project: Project, annotation: Expr, context: Context) -> ValueSet:
    """Instances of an annotated type."""
    match annotation:
        case ir.Choice(options) | ir.Display("tuple", options):
            return union(typed(project, option, context) for option in options)
        case ir.Subscript(base, index):
            name = base.id if isinstance(base, ir.Name) else getattr(base, "name", "")
            inner = index.items if isinstance(index, ir.Display) and index.items else (index,)
            if name in _UNION:
                return union(typed(project, option, context) for option in inner)
            if name == "Literal":
                texts = [i.value for i in inner if isinstance(i, ir.Constant) and isinstance(i.value, str)]
                return {Text(text): Confidence.LIKELY for text in texts}
            if name in _WRAPPING:
                return typed(project, inner[0], context)
            if name in _SEQUENCES or name in ("tuple", "Tuple"):
                items = union(typed(project, option, context) for option in inner)
                return {Container("each", (freeze(items),)): Confidence.CERTAIN} if items else EMPTY
            if name in _MAPPINGS:
                items = typed(project, inner[-1], context)
                return {Container("each", (freeze(items),)): Confidence.CERTAIN} if items else EMPTY
            if name in ("type", "Type"):
                return {
                    ClassValue(v.ref): confidence
                    for v, confidence in typed(project, inner[0], context).items()
                    if isinstance(v, Instance)
                }
            return typed(project, base, context)
    inner_ones = nested(project, annotation, context.receiver)
    if inner_ones:
        return {Instance(inner_ones[0]): Confidence.CERTAIN if len(inner_ones) == 1 else Confidence.LIKELY}
    found: dict[Value, Confidence] = {}
    for symbol in project.symbols(annotation, context.function.path, context.function.key):
        match symbol:
            case ClassRef():
                found[Instance(symbol)] = Confidence.CERTAIN
                # An abstract class has no instances of its own: it stands for its subclasses.
                below = subclass_confidence(project, concrete_subclasses(project, symbol))
                found |= {Instance(subclass): confidence for subclass, confidence in below.items()}
            case ExternalSymbol(dotted) if dotted.rpartition(".")[2] in _ALIASING and isinstance(
                annotation, Name
            ):
                found |= _alias(project, annotation.id, context.function.path)
            case ExternalSymbol(dotted) if not dotted.startswith("builtins.") and dotted not in _UNTOLD:
                found[ExternalInstance(dotted)] = Confidence.CERTAIN
    return found


def _alias(project: Project, name: str, path: str, depth: int = 0) -> ValueSet:
    """The values of a named annotation: `Models = Annotated[NetConfig | …, …]`."""
    bound = project.global_bindings(path).get(name, ())
    match bound:
        case [ir.Subscript() as meant]:
            return typed(project, meant, Context(FunctionRef(path, MODULE_KEY)))
        case [ir.Import(name=str() as other) as source] if depth < _DEEPEST:
            files = [s for s in project.imported_modules(source, path) if isinstance(s, File)]
            return union(_alias(project, other, file.path, depth + 1) for file in files)
    return EMPTY


def nested(project: Project, annotation: Expr, receiver: ClassRef | None) -> list[ClassRef]:
    """The classes in the body of a class, or of its bases, that a bare name in one of its methods means.

    A class that nests a `Config` of its own gets that one, whatever a method of its base was written for.
    """
    if receiver is None or not isinstance(annotation, ir.Name):
        return []
    found = []
    for part in project.mro(receiver):
        key = f"{part.key}.{annotation.id}"
        if annotation.id in project.class_bindings(part) and key in project.files[part.path].classes:
            found.append(ClassRef(part.path, key))
    return found
