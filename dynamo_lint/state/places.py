"""Access paths: the place an expression names, seen through aliases, and the functions a call may run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from dynamo_lint.calls import contexts
from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import (
    MODULE_KEY,
    UNKNOWN,
    Attribute,
    Call,
    Constant,
    Display,
    Expr,
    Function,
    Name,
    Subscript,
)
from dynamo_lint.index.lower import MOST_LINKS, literal_of
from dynamo_lint.models.tensor_results import TUPLE_MODULES
from dynamo_lint.program.hierarchy import subclasses_with
from dynamo_lint.program.item_path import ANY_ITEM
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, File, FunctionRef
from dynamo_lint.state.abstract_state import indices, is_namespace
from dynamo_lint.state.free_variables import Names
from dynamo_lint.state.model import Callee, FunctionState, Key, Kinds, Place, Value
from dynamo_lint.values.model import ClassValue, Context, ExternalInstance, FunctionValue, Instance
from dynamo_lint.values.points_to import evaluate, points_to_of


def place_of(node: ast.expr, known: Mapping[str, Value], links: int = MOST_LINKS) -> Place | None:
    """The place, given what local names are bound to; None for anything that is computed, or is too long."""
    if not links:
        return None
    match node:
        case ast.Name(id=name):
            local = known.get(name)
            return local.place or (name,) if local is not None else (name,)
        case ast.Attribute(value=value, attr=name):
            base = place_of(value, known, links - 1)
            if base is None:
                return None
            # Class attributes are told apart from instance attributes by where they are initialised.
            return base if name in {"__class__", "__dict__"} else (*base, name)
        case ast.Call(ast.Name("type" | "vars"), [value], []):
            return place_of(value, known, links - 1)
        case ast.Call(ast.Name("getattr"), [value, name, *_]):
            base, text = place_of(value, known, links - 1), literal_of(name)
            return (*base, text) if base is not None and isinstance(text, str) else None
        case ast.Subscript(value=value):
            match indices(node):
                case [ast.Slice()]:
                    return None
                case [index]:
                    base, literal = place_of(value, known, links - 1), literal_of(index)
                    if base is None:
                        return None
                    if is_namespace(value):
                        return (*base, literal) if isinstance(literal, str) else None
                    return (*base, ANY_ITEM if literal is ... else f"[{literal!r}]")
    return None


_LONGEST_PLACE = 30
"""`self.a.b…` of more steps is generated, and every prefix would be looked up."""


@dataclass(slots=True)
class Linker:
    """Answers what the interpreter asks about the rest of the program."""

    project: Project
    reference: FunctionRef
    receiver: ClassRef | None
    function: Function
    initial: Callable[[Key], Kinds]
    """Kinds an attribute has before hot code writes it."""
    constant: Callable[[Key], frozenset[str] | None]
    """The literal an attribute always holds."""
    is_enum: Callable[[ClassRef], bool]
    names: Names
    state_of: Callable[[Callee, frozenset[Place]], FunctionState | None]
    """The reads, writes and calls of a hot function, if known."""
    guards_names: bool = False
    """This torch guards on what a local name is bound to."""
    resolved: dict[Place, frozenset[Key]] = field(default_factory=dict)

    @property
    def self_name(self) -> str | None:
        """The name of the first parameter of a method."""
        if self.receiver is None:
            return None
        return self.project.self_name(self.reference)

    @property
    def only_evaluates(self) -> bool:
        """No model of the project ever trains: somebody calls `model.eval()`, nobody `.train()`."""
        evaluated = any(
            isinstance(site.call.function, Attribute) and not site.call.arguments
            for _, site in self.project.calls_of("eval")
        )
        return evaluated and not any(self.project.calls_of("train"))

    def keys(self, place: Place) -> frozenset[Key]:
        """The attributes a place names: one for each class its owner may have."""
        found = self.resolved.get(place)
        if found is None:
            found = self.resolved[place] = self._keys(place)
        return found

    def _keys(self, place: Place) -> frozenset[Key]:
        if len(place) > _LONGEST_PLACE:
            return frozenset()
        # The longest prefix that is an instance of a project class owns the rest of the path.
        for cut in range(len(place) - 1, 0, -1):
            owners = self.classes(place[:cut]) or self._scopes(place[:cut], place[cut])
            if owners:
                return frozenset(Key(one, _path(place[cut:])) for one in self._holding(owners, place[cut]))
        owner = self.names.owner(place[0], self.reference)
        return frozenset({Key(owner, _path(place))}) if owner is not None else frozenset()

    def _holding(self, owners: tuple[ClassRef, ...], name: str) -> Iterator[ClassRef]:
        """The owners themselves, or the classes below them that alone have an attribute of that name."""
        for owner in owners:
            yield from (not self.names.is_scope(owner) and subclasses_with(self.project, owner, name)) or (
                owner,
            )

    def _scopes(self, place: Place, name: str) -> tuple[ClassRef, ...]:
        """The modules and functions that code sets attributes of: `helper.COUNT`, `step.calls`."""
        stored = bool(self.project.stores_of(name))
        found: list[ClassRef] = []
        for value in self.values(expression(place)) if len(place) == 1 else ():
            match value:
                case File(path=path) if stored or name in self.names.changed_in(path):
                    found.append(ClassRef(path, MODULE_KEY))
                case FunctionValue(ref=ref) if stored:
                    found.append(ClassRef(ref.path, ref.key))
        return tuple(dict.fromkeys(found))

    def classes(self, place: Place) -> tuple[ClassRef, ...]:
        """The project classes that the object at a place may be an instance of (or be)."""
        if place == (self.self_name,) and self.receiver is not None:
            return (self.receiver,)
        owners: list[ClassRef] = []
        for value in self.values(expression(place)):
            match value:
                case Instance(ref=ref):
                    owners.append(ref)
                case ClassValue(ref=ref):
                    own = self.receiver is not None and ref in self.project.mro(self.receiver)
                    owners.append(self.receiver if own and self.receiver is not None else ref)
        return tuple(dict.fromkeys(owners or self._tested_classes(place)))

    def _tested_classes(self, place: Place) -> Iterator[ClassRef]:
        """The classes of which a test asks whether a parameter is one: `isinstance(cache, Pair)`."""
        if len(place) != 1 or all(parameter.name != place[0] for parameter in self.function.parameters):
            return
        for site in self.function.calls:
            match site.call:
                case Call(Name("isinstance"), (Name(name), types)) if name == place[0]:
                    options = types.items if isinstance(types, Display) else (types,)
                    for value in (value for option in options for value in self.values(option)):
                        if isinstance(value, ClassValue):
                            yield value.ref

    def values(self, expr: Expr) -> tuple[object, ...]:
        """The values that the points-to analysis gives for an expression."""
        found = evaluate(self.project, expr, Context(self.reference, self.receiver))
        return tuple(value for value, confidence in found.items() if confidence < Confidence.POSSIBLE)

    def external(self, expr: Expr) -> str | None:
        """The dotted name of something outside the project; builtins go without their module."""
        for symbol in self.project.symbols(expr, self.reference.path, self.reference.key):
            if isinstance(symbol, ExternalSymbol):
                return symbol.dotted.removeprefix("builtins.")
        return None

    def constants(self, place: Place) -> frozenset[str] | None:
        """The literal an attribute starts with, if no hot code writes it."""
        keys = self.keys(place)
        return self.constant(next(iter(keys))) if len(keys) == 1 else None

    def kinds(self, place: Place) -> Kinds:
        """The kinds of what is stored at a place before hot code writes it."""
        keys = self.keys(place)
        found = [self.initial(key) for key in keys]
        return frozenset().union(*found) if found and all(found) else frozenset()

    def callees(self, call: Call) -> tuple[Callee, ...]:
        """The project functions that a call may run."""
        found: list[Callee] = []
        for value in self.values(call.function):
            match value:
                case FunctionValue(ref=ref, receiver=None):
                    found += self._unbound(value, call)
                case FunctionValue(ref=ref, receiver=receiver):
                    found.append(Callee(ref, receiver))
                case Instance(ref=ref):
                    name = "forward" if self.project.is_module(ref) else "__call__"
                    method = self.project.method(ref, name)
                    if method is not None:
                        found.append(Callee(method, ref))
        return tuple(dict.fromkeys(found))

    def _unbound(self, function: FunctionValue, call: Call) -> Iterator[Callee]:
        """A function that was looked up on no instance: a method of a class is passed its `self`."""
        named = self.project.function(function.ref).owner is not None
        explicit = named and self.project.method_kind(function.ref) == "method"
        context = Context(self.reference, self.receiver)
        for bound in contexts.bind_receiver(points_to_of(self.project), function, call, context):
            if isinstance(bound, FunctionValue):
                receiver = bound.receiver or self.project.owner(bound.ref)
                yield Callee(bound.ref, receiver, explicit)

    def enum_member(self, place: Place) -> str | None:
        """`Phase.TRAIN`, if the place is a member of an enumeration named by its class."""
        if len(place) != 2 or place[0] == self.self_name:
            return None
        for value in self.values(Name(place[0])):
            if isinstance(value, ClassValue) and self.is_enum(value.ref):
                return f"{value.ref.name}.{place[1]}"
        return None

    def constructed(self, expr: Expr) -> ClassRef | None:
        """The project class that calling an expression makes an instance of."""
        return next((value.ref for value in self.values(expr) if isinstance(value, ClassValue)), None)

    def is_tensor_module(self, expr: Expr) -> bool:
        """The expression is a module of torch.nn that maps a tensor to a tensor."""
        names = [value.dotted for value in self.values(expr) if isinstance(value, ExternalInstance)]
        return bool(names) and all(
            name.startswith("torch.nn.") and name.rpartition(".")[2] not in TUPLE_MODULES for name in names
        )

    def is_property(self, key: Key) -> bool:
        """The attribute is computed by a method; its state is what the method reads."""
        if self.names.is_scope(key.owner):
            return False
        method = self.project.method(key.owner, key.attribute)
        return method is not None and self.project.method_kind(method) == "property"

    def accessors(self, keys: frozenset[Key], role: str) -> list[tuple[Callee, list[str]]]:
        """The getters (role "") or setters ("@setter") behind properties, with their parameter names."""
        found = []
        for key in sorted(keys):
            getter = self.project.method(key.owner, key.attribute)
            ref = FunctionRef(getter.path, getter.key + role) if getter is not None else None
            if ref is not None and ref.key in self.project.files[ref.path].functions:
                names = [parameter.name for parameter in self.project.function(ref).parameters]
                found.append((Callee(ref, key.owner), names))
        return found


def _path(steps: Place) -> str:
    return "".join(step if step.startswith("[") else f".{step}" for step in steps).removeprefix(".")


def expression(place: Place) -> Expr:
    """A place in the index's language."""
    expr: Expr = Name(place[0])
    for step in place[1:]:
        expr = Subscript(expr, _index(step)) if step.startswith("[") else Attribute(expr, step)
    return expr


@lru_cache(maxsize=1024)
def _index(step: str) -> Expr:
    if step == ANY_ITEM:
        return UNKNOWN
    value = ast.literal_eval(step[1:-1])
    return Constant(value) if isinstance(value, str | int | float) else UNKNOWN
