"""Abstract containers: displays, comprehensions, module lists, dictionaries, and later stores into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, MODULE_KEY, Attribute, Call, Display, Element, Expr, Import, Name
from dynamo_lint.index.walking import untested, walk
from dynamo_lint.program.item_path import key_of
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, File, FunctionRef
from dynamo_lint.values import alternatives, module_tree
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    Container,
    Context,
    Slot,
    ValueSet,
    at_best,
    each,
    elements,
    freeze,
    stored,
    union,
)
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.receiver import each_subclass

_DEEPEST = 8
"""How many imports a table may go through."""


def filled_elsewhere(
    project: Project, path: str, name: str
) -> Iterator[tuple[FunctionRef, str | None, Expr]]:
    """The expressions put into a table from outside its file: where that stands, and its literal key."""
    for where, store in project.items_stored(name):
        if where.path != path and File(path) in _sources(project, store.owner, name, where):
            yield where, key_of(store), store.value


def kept_as(project: Project, table: Expr, where: FunctionRef) -> Attribute | None:
    """The attribute of `self` that has a local table as well: `self.config = config`, which others fill."""
    owner = project.owner(where)
    if not isinstance(table, Name) or owner is None or table.id not in project.locals_of(where):
        return None
    for store in project.function(where).stores:
        shared = store.value == table or store.value in project.locals_of(where)[table.id].bound
        if shared and isinstance(store.owner, Name) and project.is_self(store.owner, where):
            return Attribute(store.owner, store.name)
    return None


def _sources(project: Project, owner: Expr, name: str, where: FunctionRef) -> Iterable[object]:
    """The files that a table may come from, as the name of it in a function says."""
    match owner:
        case Name(own) if own == name:
            home = project.home_of(name, where)
            if home.key == MODULE_KEY:
                return _imported(project, name, where.path)
            local = project.locals_of(home)[name]
            return _from(project, local.bound, name, where.path, 0)
        case Attribute(module, own) if own == name:
            return project.symbols(module, where.path, where.key)
    return ()


def _imported(project: Project, name: str, path: str, depth: int = 0) -> Iterator[File]:
    return _from(project, project.global_bindings(path).get(name, ()), name, path, depth)


def _from(project: Project, bound: Iterable[Expr], name: str, path: str, depth: int) -> Iterator[File]:
    for value in bound:
        if not isinstance(value, Import) or value.name != name or depth > _DEEPEST:
            continue
        for source in project.imported_modules(value, path):
            if isinstance(source, File) and source.path != path:
                yield source
                yield from _imported(project, name, source.path, depth + 1)


def of_display(
    pts: PointsTo, kind: str, items: tuple[Expr, ...], keys: tuple[str | None, ...], context: Context
) -> ValueSet:
    """The container that a display or a comprehension makes."""
    takes_in = any(isinstance(item, Element) for item in items)
    if kind == "dict" and takes_in:
        return stored(_rows(pts, items, keys, context))
    parts = [pts.value(item, context) for item in items]
    if takes_in:
        kind, parts = "each", [union(parts)]
    # A container of nothing we follow is not worth carrying around.
    if not any(parts) and kind != "tuple":
        return EMPTY
    return {Container(kind, tuple(freeze(part) for part in parts), keys): Confidence.CERTAIN}


def _rows(
    pts: PointsTo, items: tuple[Expr, ...], keys: tuple[str | None, ...], context: Context
) -> Iterator[tuple[str | None, ValueSet]]:
    for key, item in zip(keys, items, strict=True):
        if not isinstance(item, Element):
            yield key, pts.value(item, context)
            continue
        for other, confidence in pts.value(item.iterable, context).items():
            if isinstance(other, Container):
                known = zip_longest(other.keys, other.items)
                yield from ((name, at_best(dict(held), confidence)) for name, held in known)


def put_by(pts: PointsTo, where: FunctionRef, value: Expr) -> ValueSet:
    """The values that a function puts into a table, for each subclass of its class that it runs for."""
    subclasses = each_subclass(pts.project, value, where)
    if subclasses:
        alternatives.note(pts.project, subclasses)
    return subclasses or pts.value(value, Context(where, pts.project.owner(where)))


def of_itself(bound: Sequence[Expr], name: str, found: ValueSet) -> ValueSet:
    """The values of a name that is put into a list if it is none yet: `models = [models]`."""
    for value in bound:
        if isinstance(value, Display) and value.kind in ("list", "tuple") and len(value.items) == 1:
            inner = untested(value.items[0])
            single: ValueSet = {
                one: confidence for one, confidence in found.items() if not isinstance(one, Container)
            }
            if inner == Name(name) and single:
                return union([found, {Container(value.kind, (freeze(single),)): Confidence.CERTAIN}])
    return found


def set_by_functions(pts: PointsTo, name: str, context: Context) -> ValueSet:
    """The values that functions bind to a global name of their file: `model = given`."""
    project = pts.project
    stores = project.set_in(context.function.path).get(name, ()) if context.function.key == MODULE_KEY else ()
    parts = []
    for where, value in stores:
        own = project.locals_of(where)
        if any(isinstance(part, Name) and part.id in own for part in walk(value)):
            parts.append(pts.value(value, Context(where, project.owner(where))))
    return union(parts, Confidence.LIKELY)


MODULE_CONTAINERS = {name.rpartition(".")[2]: kind for name, kind in knowledge.pairs("containers").items()}
_DICTIONARIES = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "collections.defaultdict"}
)


def kind_of(project: Project, ref: ClassRef) -> str | None:
    """The kind of module container that a class of the project is, if it leaves the construction to torch."""
    if not project.is_container(ref) or project.method(ref, "__init__") is not None:
        return None
    bases = (base.rpartition(".")[2] for base in project.external_bases(ref))
    return next((MODULE_CONTAINERS[base] for base in bases if base in MODULE_CONTAINERS), None)


def of_modules(pts: PointsTo, kind: str, first: Expr | None, call: Call, context: Context) -> ValueSet:
    """The values that a call of `nn.ModuleList`, `nn.ModuleDict` or `nn.Sequential` makes."""
    if kind == "sequential":
        starred = any(isinstance(argument, ir.Element) for argument in call.arguments)
        parts = [pts.value(argument, context) for argument in call.arguments]
        if starred:
            return {Container("each", (freeze(union(parts)),)): Confidence.CERTAIN}
        return {Container("sequential", tuple(freeze(part) for part in parts)): Confidence.CERTAIN}
    inner = pts.value(first, context) if first is not None else EMPTY
    return {g: confidence for g, confidence in inner.items() if isinstance(g, Container)}


def keyed(pts: PointsTo, call: Call, context: Context) -> ValueSet:
    """A dictionary, or a record, of what a call gives by keywords."""
    parts = tuple(freeze(pts.value(value, context)) for _, value in call.keywords)
    return {Container("dict", parts, tuple(name for name, _ in call.keywords)): Confidence.CERTAIN}


def pairs(values: ValueSet) -> ValueSet:
    """`named_…()` and `items()`: (name, value) pairs."""
    return each({Container("tuple", (Slot(), freeze(values))): Confidence.CERTAIN})


def put_into(pts: PointsTo, ref: ClassRef) -> ValueSet:
    """The values put into the instances of a class of the project that is a dictionary.

    Its own methods do it, `self[name] = cls`, or code that knows the one instance: `MODELS["net"] = Net`.
    """
    if not any(base in _DICTIONARIES for base in pts.project.external_bases(ref)):
        return EMPTY
    parts = [module_tree.contents(pts, ref)]
    for context, site in pts.constructions(ref):
        names = [
            one.name for one in pts.project.function(context.function).bindings if one.value == site.call
        ]
        if context.function.key == MODULE_KEY:
            parts += [elements(pts.value(Name(name), context)) for name in names]
    return union(parts, Confidence.LIKELY)


def anonymous_module_attribute(pts: PointsTo, bare: AnonymousModule, name: str) -> ValueSet:
    """The values that code of the same file stores as `bare.name`, or puts into the container there."""
    nothing: ValueSet = EMPTY
    return pts.ask(("hung on", bare, name), lambda: _anonymous_module_attribute(pts, bare, name), nothing)


def _anonymous_module_attribute(pts: PointsTo, bare: AnonymousModule, name: str) -> ValueSet:
    held: list[ValueSet] = []
    inside: list[ValueSet] = []
    for key, function in pts.project.files[bare.path].functions.items():
        where = FunctionRef(bare.path, key)
        context = Context(where, pts.project.owner(where))
        for store in function.stores:
            match store.owner:
                case owner if store.name == name and bare in pts.value(owner, context):
                    held.append(pts.value(store.value, context))
                case ir.Attribute(owner, attribute) if store.name == ITEM and attribute == name:
                    if bare in pts.value(owner, context):
                        inside.append(pts.value(store.value, context))
    contents = union(inside)
    if contents:
        held.append({Container("each", (freeze(contents),)): Confidence.CERTAIN})
    return union(held)
