"""The values of `owner.name`: class bodies, stores anywhere, dataclass fields, swapped modules."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.conditions import arguments
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, MODULE_KEY, Store
from dynamo_lint.models import hosts
from dynamo_lint.program import hierarchy
from dynamo_lint.program.classes import OF_MODULES
from dynamo_lint.program.hierarchy import subclass_confidence
from dynamo_lint.program.item_path import key_of
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef
from dynamo_lint.values import classes, containers, module_tree, patches
from dynamo_lint.values.annotations import typed
from dynamo_lint.values.classes import field_arguments, put_into_table, set_on_class
from dynamo_lint.values.model import (
    EMPTY,
    AnonymousModule,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    SuperProxy,
    Text,
    Value,
    ValueSet,
    at_best,
    freeze,
    stored,
    union,
)
from dynamo_lint.values.patches import is_put_back, is_undone
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.reflection import LOADERS, loaded

_UNWRAPPING = knowledge.names("holds_wrapped")
"""Where DDP and torch.compile keep the module they wrap."""
_FEW = 8
"""A base with more subclasses than this is one of a library."""
Stored = tuple[tuple[frozenset[ClassRef], frozenset[ClassRef], Context, Store], ...]
"""The classes of the objects that something is stored on at a place, and the classes that it is stored on."""
NOTHING_STORED: Stored = ()


def of_value(pts: PointsTo, owner: Value, name: str) -> ValueSet:
    """The values that `owner.name` may hold."""
    match owner:
        case Instance(ref) if name == "__call__" and not pts.project.method(ref, name):
            return {owner: Confidence.CERTAIN} if pts.project.is_module(ref) else EMPTY
        case Instance(ref) if name == "__class__":
            return {ClassValue(ref): Confidence.CERTAIN}
        case Instance(ref) if name == "_modules" and pts.project.is_module(ref):
            return {Container("each", (freeze(module_tree.children(pts, ref)),)): Confidence.CERTAIN}
        case Instance(ref) if name == "value" and classes.is_enumeration(pts.project, ref):
            return classes.enumeration_values(pts, ref)
        case Instance(ref):
            return pts.ask(("attribute", ref, name), lambda: _of_instance(pts, ref, name), EMPTY)
        case ClassValue(ref):
            return _of_class(pts, ref, name)
        case SuperProxy(start, receiver):
            order = pts.project.mro(receiver)
            after = order[order.index(start) + 1 :] if start in order else ()
            inherited = (
                found for part in after if (found := _in_body(pts, part, name, receiver)) is not None
            )
            if name == "__call__" and pts.project.is_module(receiver):  # nn.Module's own runs forward
                return next(inherited, None) or of_value(pts, Instance(receiver), "forward")
            found = next(inherited, None)
            return EMPTY if found is None else found
        case File(path):
            return _of_file(pts, path, name)
        case ExternalSymbol():
            return pts.of_symbols(pts.project.members(owner, name))
        case ExternalInstance(dotted) if dotted in LOADERS:
            return loaded(pts, name)
        case ExternalInstance(dotted) if dotted == SOME_MODULE:
            return {owner: Confidence.POSSIBLE}
        case AnonymousModule():
            return containers.anonymous_module_attribute(pts, owner, name)
        case Container("dict" | "tuple") if name in owner.keys:  # ModuleDict, SimpleNamespace, a named tuple
            return union(dict(item) for item in owner.at(name))
        case FunctionValue() if name in ("__call__", "__func__"):
            return {owner: Confidence.CERTAIN}
    return EMPTY


def _of_file(pts: PointsTo, path: str, name: str) -> ValueSet:
    if name == "__dict__":
        return {File(path): Confidence.CERTAIN}
    if pts.project.global_bindings(path).get(name):
        return pts.value(ir.Name(name), Context(FunctionRef(path, MODULE_KEY)))
    return pts.of_symbols(pts.project.members(File(path), name))


def _of_class(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    for part in pts.project.mro(ref):
        found = _in_body(pts, part, name, None)
        if found is not None:
            found = _seen_from(pts.project, found, ref) if part != ref else found
            return union([found, set_on_class(pts, part, name)])
    if name == "apply" and any(
        b.endswith(("autograd.Function", "autograd.function.Function"))
        for b in pts.project.external_bases(ref)
    ):
        return union(_of_class(pts, ref, method) for method in ("forward", "setup_context", "backward"))
    return EMPTY


def _seen_from(project: Project, inherited: ValueSet, subclass: ClassRef) -> ValueSet:
    """The inherited value as a subclass sees it: its class methods construct the class they are called on.

    The many classes of a library that are no modules do so too, and nobody compiles what they make.
    """
    return {
        value._replace(receiver=subclass)
        if isinstance(value, FunctionValue)
        and value.receiver is not None
        and (project.is_module(subclass) or len(hierarchy.subclasses(project, value.receiver)) <= _FEW)
        and hierarchy.makes_own(project, value.ref, subclass)
        else value: confidence
        for value, confidence in inherited.items()
    }


def _in_body(pts: PointsTo, ref: ClassRef, name: str, receiver: ClassRef | None) -> ValueSet | None:
    """The values that one class body binds `name` to, seen from a `receiver`; None if nothing."""
    bindings = pts.project.class_bindings(ref).get(name)
    if not bindings:
        return None
    outer = FunctionRef(ref.path, pts.project.class_(ref).outer or MODULE_KEY)
    parts: list[ValueSet] = []
    for binding in bindings:
        if isinstance(binding.value, ir.Definition):
            for symbol in pts.project.symbols(binding.value, ref.path):
                if isinstance(symbol, FunctionRef):
                    parts.append(_method(pts, symbol, ref, receiver))
                else:
                    parts.append(pts.of_symbols((symbol,)))
        else:
            # Names in a class body may be other members of it.
            inner = binding.value.id if isinstance(binding.value, ir.Name) else None
            siblings = pts.project.class_bindings(ref)
            if inner is not None and inner != name and inner in siblings:
                parts.append(_in_body(pts, ref, inner, receiver) or EMPTY)
            else:
                parts.append(pts.value(binding.value, Context(outer)))
                if isinstance(binding.value, ir.Display | ir.Call):
                    parts.append(put_into_table(pts, ref, name))
    return union(parts)


def _method(pts: PointsTo, function: FunctionRef, owner: ClassRef, receiver: ClassRef | None) -> ValueSet:
    kind = pts.project.method_kind(function)
    if kind == "property":
        return pts.returns(function, receiver) if receiver is not None else EMPTY
    bound = (
        None if kind == "staticmethod" else (owner if kind == "classmethod" and not receiver else receiver)
    )
    return {FunctionValue(function, bound): Confidence.CERTAIN}


def _of_instance(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    project = pts.project
    parts: list[ValueSet] = []
    for part in project.mro(ref):
        found = _in_body(pts, part, name, ref)
        if found is not None:
            parts += [found, _implemented(pts, ref, name, found)]
            break
    for part in project.mro(ref):
        stores = project.own_stores(part)
        parts += [
            arguments.stored(pts, where, s.line, pts.value(s.value, Context(where, ref)))
            for where, s in stores.get(name, ())
            if not (is_put_back(project, where, s) or (name == "forward" and is_undone(project, where, s)))
        ]
        puts = stores.get(name + ITEM, ())
        parts.append(stored((key_of(put), pts.value(put.value, Context(where, ref))) for where, put in puts))
        inner = stored(
            _put(pts, put, Context(where, ref)) for where, put in stores.get(name + ITEM + ITEM, ())
        )
        parts.append({Container("each", (freeze(inner),)): Confidence.LIKELY} if inner else EMPTY)
        outer = Context(FunctionRef(part.path, project.class_(part).outer or MODULE_KEY))
        annotations = [a for key, a in project.class_(part).annotations if key == name]
        if annotations:
            parts += [typed(project, a, outer) for a in annotations]
            parts.append(_field(pts, part, ref, name))
    parts.append(_foreign_stores(pts, ref, name))
    found = union(parts)
    if not found:
        holders = hierarchy.subclasses_with(project, ref, name)
        found = union(
            (pts.attributes({Instance(subclass): Confidence.CERTAIN}, name) for subclass in holders),
            Confidence.LIKELY,
        )
    if not found:
        ways = (_kept_by_library, hosts.kept_by_library, _delegated)
        found = next((held for way in ways if (held := way(pts, ref, name))), EMPTY)
    if patches.may_swap(pts, ref, found) and pts.swaps:
        found = union([found, patches.swapped(pts, ref, found)])
    found = pts.capped(found, (ref, name))
    # `DDP(model)` stands for the model here, and so does what is behind its `.module`.
    return {Instance(ref): Confidence.LIKELY} if not found and name in _UNWRAPPING else found


def _put(pts: PointsTo, put: Store, context: Context) -> tuple[str | None, ValueSet]:
    """The values that a store puts into a container, by its key, which may be a constant of the project."""
    texts = [v.value for v in pts.value(put.index or ir.UNKNOWN, context) if isinstance(v, Text)]
    return texts[0] if len(texts) == 1 else None, at_best(pts.value(put.value, context), Confidence.LIKELY)


def _kept_by_library(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """The values that a constructor passes to that of a library's class, which keeps them under the same
    name.

    Composer's HuggingFaceModel is given `super().__init__(model=net)`, and its forward calls `self.model`.
    """
    project = pts.project
    own = [part for part in project.mro(ref) if "__init__" in project.class_bindings(part)]
    init = project.method(own[-1], "__init__") if own and project.external_bases(own[-1]) else None
    if init is None:
        return EMPTY
    given: list[ValueSet] = []
    for site in project.function(init).calls:
        match site.call.function:
            case ir.Attribute(ir.Call(ir.Name("super")), "__init__"):
                passed = [value for key, value in site.call.keywords if key == name]
                given += [pts.value(value, Context(init, ref)) for value in passed]
    held = union(given, Confidence.LIKELY)
    return {value: confidence for value, confidence in held.items() if pts.holds_module(value)}


def _delegated(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """The values that `__getattr__` gives for an unknown name: a wrapper asks what it wraps."""
    if name.startswith("__") or (name in OF_MODULES and pts.project.is_module(ref)):
        return EMPTY
    asked = pts.project.method(ref, "__getattr__")
    parameters = pts.project.function(asked).parameters if asked is not None else ()
    if asked is None or len(parameters) != 2:
        return EMPTY
    given = ((parameters[1].name, freeze({Text(name): Confidence.CERTAIN})),)
    return union([pts.returns(asked, ref, given)], Confidence.LIKELY)


def delegates(pts: PointsTo, ref: ClassRef, name: str) -> bool:
    """Whether an attribute of an instance is what its `__getattr__` gives."""
    project = pts.project
    own = any(name in project.own_stores(p) or name in project.class_bindings(p) for p in project.mro(ref))
    return not own and bool(_delegated(pts, ref, name))


def _implemented(pts: PointsTo, ref: ClassRef, name: str, declared: ValueSet) -> ValueSet:
    """The methods of the subclasses, where that of the class itself only says what they do."""
    functions = [v.ref for v in declared if isinstance(v, FunctionValue)]
    if not functions or not all(hierarchy.only_declares(pts.project.function(f)) for f in functions):
        return EMPTY
    made = hierarchy.overrides(pts.project, ref, name)
    sure = subclass_confidence(pts.project, made)
    return {FunctionValue(function, subclass): sure[subclass] for subclass, function in made.items()}


def _field(pts: PointsTo, part: ClassRef, ref: ClassRef, name: str) -> ValueSet:
    """The values that constructions pass for a field of a class or a base of it."""
    plain = ir.Constant | ir.UnknownExpression
    given = (one for one in field_arguments(pts, part, ref, name) if not isinstance(one[0], plain))
    return union((pts.value(value, context) for value, context in given), Confidence.LIKELY)


def _foreign_stores(pts: PointsTo, ref: ClassRef, name: str) -> ValueSet:
    """`model.mixer = Mixer()` in other code, where `model` may be an instance of this class."""
    if name.startswith("__"):
        return EMPTY  # Python looks special methods up on the class
    found = pts.ask_within(("foreign", name), lambda: _stored_elsewhere(pts, name), NOTHING_STORED)
    if not found:
        return EMPTY
    order = pts.project.mro(ref)
    own = next((n for n, part in enumerate(order) if name in pts.project.class_bindings(part)), len(order))
    # What a class gets is hidden by what a subclass of it has for itself.
    whole, seen = set(order), set(order[: own + 1])
    return union(
        union([_value_for(pts, ref, store, context)], Confidence.LIKELY)
        for owners, classes, context, store in found
        if owners & whole or classes & seen
    )


def _value_for(pts: PointsTo, ref: ClassRef, store: Store, context: Context) -> ValueSet:
    """The values that a store puts on this instance: of `m.plain = m.forward` its own alone."""
    match store.value:
        case ir.Attribute(owner, name) if owner == store.owner and name != store.name:
            return of_value(pts, Instance(ref), name)
    return pts.value(store.value, context)


def _stored_elsewhere(pts: PointsTo, name: str) -> Stored:
    found = []
    for where, store in pts.project.stores_of(name):
        if not pts.project.is_self(store.owner, where) and _may_hold_code(pts, where, store):
            context = Context(where, pts.project.owner(where))
            held = pts.value(store.owner, context)
            owners = frozenset(v.ref for v in held if isinstance(v, Instance))
            classes = frozenset(v.ref for v in held if isinstance(v, ClassValue))
            if owners or classes:
                found.append((owners, classes, context, store))
    return tuple(found)


def _may_hold_code(pts: PointsTo, where: FunctionRef, store: Store) -> bool:
    """Whether a store may put other code somewhere: `m.forward = torch.compile(m.forward)` does not."""
    match store.value:
        case ir.Constant() | ir.UnknownExpression():
            return False
    return not (is_put_back(pts.project, where, store) or is_undone(pts.project, where, store))


SOME_MODULE = "torch.nn.Module"
"""An instance of this very class is a module we know nothing of; so are the modules in it."""
