"""The initial abstract value of an attribute, and of the items of a container that it starts with."""

from __future__ import annotations

import re
from collections import defaultdict

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.program.dependencies import question
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.item_path import ANY_ITEM, ItemPath, item_path, step_of
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef
from dynamo_lint.state import kinds as K
from dynamo_lint.state.free_variables import Names
from dynamo_lint.state.model import Key, Kind, Kinds, Outside
from dynamo_lint.values.model import Context, ExternalInstance, Instance
from dynamo_lint.values.points_to import FAN_OUT, evaluate

NO_ITEMS = ir.Choice(())
"""The item of an empty container."""
_STEP = re.compile(r"""\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]""")


def below(item: str, path: ItemPath, index: Expr) -> str | None:
    """The rest of an item when a store fills `path[index]`; None if that is another item."""
    steps = tuple(_STEP.findall(item))
    stored = (*path.steps, step_of(index))
    if len(stored) > len(steps):
        return None
    same = all(ANY_ITEM in pair or pair[0] == pair[1] for pair in zip(stored, steps, strict=False))
    return "".join(steps[len(stored) :]) if same else None


def item_of(value: Expr, item: str) -> Expr:
    """The element that an index names in a new container, or what any of its elements may be."""
    for step in _STEP.findall(item):
        if isinstance(value, ir.Choice):
            options = (_item(option, step) for option in value.options)
            value = ir.Choice(tuple(option for option in options if option != NO_ITEMS))
        else:
            value = _item(value, step)
    return value


def _item(value: Expr, item: str) -> Expr:
    if isinstance(value, ir.Call):
        return _constructed_item(value, item)
    if not isinstance(value, ir.Display):
        return ir.UNKNOWN
    if not value.items and value.kind != "tuple":
        return NO_ITEMS
    if item == ANY_ITEM:
        return ir.Choice(value.items)
    text = item[1:-1]
    if value.kind == "dict":
        keys = {repr(key): part for key, part in zip(value.keys, value.items, strict=False)}
        return keys.get(text, NO_ITEMS if None not in value.keys else ir.UNKNOWN)
    if text.isdigit() and int(text) < len(value.items):
        return value.items[int(text)]
    return ir.UNKNOWN


def _constructed_item(value: ir.Call, item: str) -> Expr:
    """The element of `OrderedDict(n=0)`, of `dict.fromkeys(names, 0)`, or a new one of `defaultdict(int)`."""
    match value.function:
        case ir.Attribute(ir.Name("dict" | "OrderedDict"), "fromkeys") if value.arguments:
            return value.arguments[1] if len(value.arguments) > 1 else ir.Constant(None)
        case ir.Name("dict" | "OrderedDict") | ir.Attribute(_, "OrderedDict"):
            named = {repr(name): part for name, part in value.keywords}
            return named.get(item.strip("[]"), ir.UNKNOWN)
        case ir.Name("Counter") | ir.Attribute(_, "Counter"):
            return ir.Constant(0)
        case ir.Name("defaultdict") | ir.Attribute(_, "defaultdict"):
            match value.arguments:
                case (ir.Name("int"), *_):
                    return ir.Constant(0)
                case (ir.Name("float"), *_):
                    return ir.Constant(0.0)
    return ir.UNKNOWN


_KINDS = {
    "list": "list",
    "dict": "dict",
    "OrderedDict": "dict",
    "defaultdict": "dict",
    "Counter": "dict",
    "set": "set",
    "deque": "deque",
}


BASES = knowledge.names("optimizer")
GROUPS, STATE = "param_groups", "state"


def fills(attribute: str) -> bool:
    """An entry of a group (`param_groups[...]['lr']`) or of a parameter's state: its container is torch's."""
    return attribute.startswith((f"{GROUPS}[", f"{STATE}[")) and attribute.count("[") > 1


def default(project: Project, owner: ClassRef, item: str) -> tuple[FunctionRef, int, Expr] | None:
    """Where an optimizer passes the default of an entry such as `[...]['lr']`, and the value it passes."""
    entry = item[item.find("[", 1) :] if item.count("[") == 2 else ""
    init = project.method(owner, "__init__")
    if not entry or init is None:
        return None
    function = project.function(init)
    for site in function.calls:
        match site.call:
            case ir.Call(ir.Attribute(_, "__init__"), arguments, keywords):
                defaults = dict(keywords).get("defaults", arguments[-1] if arguments else ir.UNKNOWN)
                if isinstance(defaults, ir.Name):
                    bound = [b.value for b in function.bindings if b.name == defaults.id]
                    defaults = bound[0] if len(bound) == 1 else ir.UNKNOWN
                value = item_of(defaults, entry)
                return (init, site.call.line, value) if value != ir.UNKNOWN else None
    return None


SETUP = ("__init__", "__new__", "__post_init__", "setup", "reset_parameters")
PLAIN_BASES = knowledge.names("plain_bases")
_FEW = 2
"""Classes that a written object may be of: with more, which it is depends on who runs the line."""
_MAX_DEPTH = 8
_MAX_ASKED = 3000
_Numbered = dict[int, tuple[FunctionRef, ir.Store, bool]]


@dataclass(slots=True)
class Initial:
    """Remembers what is known of each attribute outside hot code."""

    project: Project
    hot: frozenset[FunctionRef]
    hot_names: frozenset[str]
    """Attribute names that hot code stores."""
    names: Names
    known: dict[Key, tuple[Outside, ...]] = field(default_factory=dict)
    asked: int = 0
    setup: dict[ClassRef, frozenset[FunctionRef]] = field(default_factory=dict)
    stored: dict[str, dict[ClassRef, _Numbered]] = field(default_factory=dict)
    items: dict[str, list[tuple[frozenset[ClassRef], FunctionRef, ir.Store, ItemPath]]] = field(
        default_factory=dict
    )
    registered: dict[str, list[tuple[FunctionRef, ir.Call]]] = field(init=False)
    """Buffers and parameters by name, with the call that registers them."""

    def __post_init__(self) -> None:
        self.registered = {}
        for register in ("register_buffer", "register_parameter"):
            for where, site in self.project.calls_of(register):
                match site.call.arguments:
                    case (ir.Constant(str() as name), *_):
                        self.registered.setdefault(name, []).append((where, site.call))

    def kinds(self, key: Key) -> Kinds:
        """The kinds of an attribute before hot code writes it; initial values decide where there are any."""
        found = self.outside(key)
        first = [o for o in found if o.initial] or list(found)
        if not first or not all(o.kinds for o in first):
            return K.UNKNOWN
        return frozenset().union(*(o.kinds for o in first))

    def constant(self, key: Key) -> frozenset[str] | None:
        """The literal that an attribute always holds."""
        found = self.outside(key)
        name = key.attribute.partition("[")[0].rpartition(".")[2]
        if len(found) != 1 or found[0].constant is None or name in self.hot_names:
            return None
        return frozenset({found[0].constant})

    def declared_in(self, key: Key) -> ClassRef:
        """The class of the hierarchy that first gives the attribute a value."""
        if self.names.is_scope(key.owner):
            return key.owner
        name = key.attribute.partition(".")[0].partition("[")[0]
        for base in reversed(self.project.mro(key.owner)):
            stores = self.project.own_stores(base).get(name, [])
            buffers = [
                where for where, _ in self.registered.get(name, []) if self.project.owner(where) == base
            ]
            if stores or buffers or name in self.project.class_bindings(base):
                return base
        return key.owner

    def external(self, key: Key) -> bool:
        """A base outside the project may set the attribute, where nothing visible does."""
        if self.names.is_scope(key.owner):
            return False
        bases = set(self.project.external_bases(key.owner)) - PLAIN_BASES
        if fills(key.attribute):
            bases -= BASES
        bases = {base for base in bases if not base.startswith("typing.")}
        return bool(bases) and not any(o.initial for o in self.outside(key))

    def outside(self, key: Key) -> tuple[Outside, ...]:
        """Every write that is not in hot code, construction first."""
        if key not in self.known:
            self.known[key] = ()  # an attribute that is initialised from itself ends here
            self.known[key] = tuple(sorted(_one_each(self._outside(key)), key=lambda o: not o.initial))
        return self.known[key]

    def _outside(self, key: Key) -> list[Outside]:
        name, bracket, rest = key.attribute.partition("[")
        if "." in name or "." in rest.partition("]")[2]:
            if bracket or self.names.is_scope(key.owner):
                return []
            return self._in_namespace(key.owner, *name.split(".", 1))
        item = bracket + rest
        if self.names.is_scope(key.owner):
            return self._of_name_in(key.owner, name, item)
        found: list[Outside] = []
        for base in self.project.mro(key.owner):
            found += self._in_body(base, name, item)
            if found:
                break
        for base in self.project.mro(key.owner):
            stores = self.project.own_stores(base).get(name, [])
            literal = {(where, s.line) for where, s in stores if isinstance(s.value, ir.Constant)}
            for where, store in stores:
                if where in self.hot and not self._is_setup(where, key.owner):
                    continue
                if isinstance(store.value, ir.Typed) and (where, store.line) in literal:
                    continue  # told by its value
                initial = self._is_setup(where, key.owner)
                found.append(self._store(where, store, item, initial, key.owner))
        order = self.project.mro(key.owner)[::-1]  # what is known of the class itself goes before its bases
        for where, call in self.registered.get(name, []):
            initial = self._is_setup(where, key.owner)
            if self.project.owner(where) in order and (initial or where not in self.hot):
                none = call.arguments[1:2] == (ir.Constant(None),)
                kinds = frozenset({Kind.NONE if none else Kind.TENSOR})
                constant = "None" if none else None
                found.append(Outside(where.path, call.line, 1, kinds, constant, initial))
        others = {n: one for part in order for n, one in self._stored(name).get(part, {}).items()}
        for _, (where, store, generic) in sorted(others.items()):
            if self.project.owner(where) not in order or not self.project.is_self(store.owner, where):
                found.append(replace(self._store(where, store, item, False, None), generic=generic))
        for owners, where, store, path in self._item_stored(name) if item else ():
            left = (
                below(item, path, store.index)
                if owners.intersection(order) and store.index is not None
                else None
            )
            if left is not None:
                initial = self._is_setup(where, key.owner)
                found.append(self._store(where, store, left, initial, None))
        for owners, where, line in self._cleared(name) if not item else ():
            if owners.intersection(order) and not self._is_setup(where, key.owner):
                found.append(
                    Outside(where.path, line, 1, frozenset({Kind.CONTAINER}), None, False, where=where)
                )
        if name == GROUPS and (given := default(self.project, key.owner, item)):
            found.append(self._write(given[0], given[2], given[1], "", True, key.owner))
        # An empty container says nothing of items that other code puts into it.
        filled = [outside for outside in found if outside.value != NO_ITEMS]
        return filled if filled or item.count("[") > 1 else found

    def _in_namespace(self, owner: ClassRef, name: str, attribute: str) -> list[Outside]:
        """The first value of `self.state.n` in `self.state = types.SimpleNamespace(n=0)`."""
        found = []
        for base in self.project.mro(owner):
            for where, store in self.project.own_stores(base).get(name, []):
                match store.value:
                    case ir.Call(ir.Name("SimpleNamespace") | ir.Attribute(_, "SimpleNamespace")):
                        value = dict(store.value.keywords).get(attribute, NO_ITEMS)
                        found.append(self._write(where, value, store.line, "", True, owner))
        return [one for one in found if one.value != NO_ITEMS]

    def _item_stored(self, name: str) -> list[tuple[frozenset[ClassRef], FunctionRef, ir.Store, ItemPath]]:
        """The stores into a container of this name outside hot code, with the classes that may own it."""
        if name not in self.items:
            self.items[name] = []
            for where, store in self.project.items_stored(name):
                path = item_path(store.owner, self.project.function(where)) if where not in self.hot else None
                if path is not None and path.owner is not None and path.name == name:
                    values = evaluate(self.project, path.owner, Context(where, self.project.owner(where)))
                    owners = frozenset(value.ref for value in values if isinstance(value, Instance))
                    self.items[name].append((owners, where, store, path))
        return self.items[name]

    def _cleared(self, name: str) -> list[tuple[frozenset[ClassRef], FunctionRef, int]]:
        """`owner.name.clear()` outside hot code, with the classes the owner may have."""
        found = []
        for where, site in self.project.calls_of("clear"):
            match site.call.function:
                case ir.Attribute(ir.Attribute(owner, held)) if held == name and where not in self.hot:
                    values = evaluate(self.project, owner, Context(where, self.project.owner(where)))
                    owners = frozenset(value.ref for value in values if isinstance(value, Instance))
                    found.append((owners, where, site.call.line))
        return found

    def _store(
        self, where: FunctionRef, store: ir.Store, item: str, initial: bool, receiver: ClassRef | None
    ) -> Outside:
        made = self._write(where, store.value, store.line, item, initial, receiver)
        return replace(made, augmented=store.augmented)

    def _of_name_in(self, owner: ClassRef, name: str, item: str) -> list[Outside]:
        """The writes of a global or a closure cell, or of an attribute of a module or function."""
        home = FunctionRef(owner.path, owner.key)
        found: list[Outside] = []
        for key, function in self.project.files[owner.path].functions.items():
            where = FunctionRef(owner.path, key)
            if where in self.hot or (where != home and name not in function.globals):
                continue
            for binding in function.bindings:
                if binding.name == name:
                    looped = any(first <= binding.line <= last for first, last in function.loops)
                    initial = where == home and not looped and not binding.augmented
                    made = self._write(where, binding.value, binding.line, item, initial, None)
                    found.append(replace(made, augmented=binding.augmented))
        for where, store in self.project.items_stored(name) if item else ():
            here = where.path == owner.path and where not in self.hot
            path = item_path(store.owner, self.project.function(where)) if here else None
            if path is not None and (path.owner, path.name) == (None, name) and store.index is not None:
                rest = below(item, path, store.index)
                found += [self._store(where, store, rest, False, None)] if rest is not None else []
        for where, store in self.project.stores_of(name):
            context = self.project.symbols(store.owner, where.path, where.key)
            names_it = File(owner.path) in context if owner.key == MODULE_KEY else home in context
            if names_it and where not in self.hot:
                found.append(self._store(where, store, item, where == home and not store.augmented, None))
        for where, site in self.project.calls_of("clear"):
            here = where.path == owner.path and where not in self.hot
            if here and site.call.function == ir.Attribute(ir.Name(name), "clear"):
                cleared = frozenset({Kind.CONTAINER})
                found.append(Outside(where.path, site.call.line, 1, cleared, None, False, where=where))
        for parameter in self.project.function(home).parameters:
            if parameter.name == name:
                kinds = K.of_annotation(parameter.annotation) if parameter.annotation else K.UNKNOWN
                found.append(Outside(owner.path, self.project.function(home).line, 1, kinds, None, True))
        return found

    def _stored(self, name: str) -> dict[ClassRef, _Numbered]:
        """The stores to an attribute outside hot code, numbered, by the class that they may belong to.

        Each with the function that it stands in, and whether it may as well belong to many others.
        """
        if name not in self.stored:
            found = self.stored[name] = defaultdict(dict)
            for number, (where, store) in enumerate(self.project.stores_of(name)):
                if where not in self.hot:
                    values = evaluate(self.project, store.owner, Context(where, self.project.owner(where)))
                    classes = [value.ref for value in values if isinstance(value, Instance)]
                    for ref in classes:
                        any_of_many = len(classes) > _FEW and not self.project.is_module(ref)
                        generic = any_of_many or len(subclasses(self.project, ref)) > FAN_OUT
                        found[ref][number] = where, store, generic
        return self.stored[name]

    def _in_body(self, base: ClassRef, name: str, item: str) -> list[Outside]:
        where = FunctionRef(base.path, self.project.class_(base).outer or MODULE_KEY)
        bound = self.project.class_bindings(base).get(name, ())
        if bound:
            return [self._write(where, b.value, b.line, item, True, None) for b in bound]
        return [
            Outside(base.path, self.project.class_(base).line, 1, K.of_annotation(annotation), None, True)
            for declared, annotation in self.project.class_(base).annotations
            if declared == name and not item
        ]

    def _write(
        self, where: FunctionRef, value: Expr, line: int, item: str, initial: bool, receiver: ClassRef | None
    ) -> Outside:
        if item:
            value = item_of(value, item)
        constant = repr(value.value) if isinstance(value, ir.Constant) else None
        found = self.of_expr(value, Context(where, receiver or self.project.owner(where)))
        if found == {Kind.ENUM} and isinstance(value, ir.Attribute):
            names = self.project.symbols(value.value, where.path, where.key)
            constant = next((f"{s.name}.{value.name}" for s in names if isinstance(s, ClassRef)), None)
        return Outside(where.path, line, 1, found, constant, initial, value, where)

    # --- set-up -----------------------------------------------------------------------------------------

    def _is_setup(self, where: FunctionRef, owner: ClassRef) -> bool:
        if owner not in self.setup:
            self.setup[owner] = self._setup(owner)
        return where in self.setup[owner]

    def _setup(self, owner: ClassRef) -> frozenset[FunctionRef]:
        """`__init__` along the hierarchy, the methods it calls on itself, and the setters that it runs."""
        found: set[FunctionRef] = set()
        waiting = [
            FunctionRef(base.path, binding.value.key)
            for base in self.project.mro(owner)
            for name in SETUP
            for binding in self.project.class_bindings(base).get(name, ())
            if isinstance(binding.value, ir.Definition)
        ]
        while waiting:
            ref = waiting.pop()
            if ref in found or ref.key not in self.project.files[ref.path].functions:
                continue
            found.add(ref)
            for method in _methods_called(self.project.function(ref), self.project.self_name(ref) or ""):
                called = self.project.method(owner, method)
                if called is not None:
                    waiting.append(called)
            for name in _attributes_set(self.project.function(ref), self.project.self_name(ref) or ""):
                getter = self.project.method(owner, name)
                if getter is not None and self.project.method_kind(getter) == "property":
                    waiting.append(FunctionRef(getter.path, f"{getter.key}@setter"))
        return frozenset(found)

    # --- kinds of index expressions ---------------------------------------------------------------------

    def of_expr(self, expr: Expr, context: Context, depth: int = 0) -> Kinds:
        """The kinds of an expression in the index's language."""
        # Names that are bound to each other again and again would take exponential time.
        self.asked = self.asked + 1 if depth else 0
        if depth > _MAX_DEPTH or self.asked > _MAX_ASKED:
            return K.UNKNOWN
        match expr:
            case ir.Constant(value):
                return K.of_constant(value)
            case ir.Typed(annotation):
                return K.of_annotation(annotation)
            case ir.Display(kind, items):
                if kind != "tuple":
                    return frozenset({Kind.CONTAINER})
                return K.of_tuple([self.of_expr(item, context, depth + 1) for item in items])
            case ir.Choice(options):
                parts = [self.of_expr(option, context, depth + 1) for option in options]
                return frozenset().union(*parts) if all(parts) else K.UNKNOWN
            case ir.Name(name):
                return self._of_name(name, context, depth)
            case ir.Element(ir.Call(ir.Name("range"))) | ir.Subscript(
                ir.Element(ir.Call(ir.Name("enumerate"))), ir.Constant(0)
            ):
                return frozenset({Kind.INT})  # the number of a round
            case ir.Call(function):
                return self._of_call(function, expr, context)
            case ir.Attribute(owner, name):
                return self._of_attribute(owner, name, context)
        return K.UNKNOWN

    def _of_name(self, name: str, context: Context, depth: int) -> Kinds:
        function = self.project.function(context.function)
        bound = [b.value for b in self.project.bindings_of(context.function).get(name, ())]
        for parameter in function.parameters:
            if parameter.name == name and not bound:
                if parameter.annotation is not None:
                    return K.of_annotation(parameter.annotation)
                if isinstance(parameter.default, ir.Constant) and parameter.default.value is not None:
                    return K.of_constant(parameter.default.value)
                return self._of_passed(parameter.name, context, depth)
        if not bound:
            bound = self.project.global_bindings(context.function.path).get(name, [])
            context = Context(FunctionRef(context.function.path, MODULE_KEY))
        if not bound:
            return K.UNKNOWN
        return self.of_expr(ir.Choice(tuple(bound)), context, depth + 1)

    def _of_passed(self, name: str, context: Context, depth: int) -> Kinds:
        """The kinds that set-up code passes for a parameter: of a method of its own, or of a constructor."""
        function = self.project.function(context.function)
        names = [p.name for p in function.parameters if p.kind == "positional"][1:]
        method = function.qualname.rpartition(".")[2]
        owner = self.project.owner(context.function)
        called = owner.name if method == "__init__" and owner is not None else method
        found: list[Kinds] = []
        for where, site in self.project.calls_of(called):
            if called == method:
                inside = context.receiver is not None and self._is_setup(where, context.receiver)
                here = Context(where, context.receiver)
            else:
                inside = owner in self.project.symbols(site.call.function, where.path, where.key)
                here = Context(where, self.project.owner(where))
            if not inside:
                continue
            passed = dict(site.call.keywords) | dict(zip(names, site.call.arguments, strict=False))
            if name in passed:
                found.append(self.of_expr(passed[name], here, depth + 1))
        return frozenset().union(*found) if found and all(found) else K.UNKNOWN

    def _of_call(self, function: Expr, call: Expr, context: Context) -> Kinds:
        for symbol in self.project.symbols(function, context.function.path, context.function.key):
            match symbol:
                case ExternalSymbol(dotted):
                    found = K.of_call(dotted.removeprefix("builtins."))
                    if found:
                        return found
                case ClassRef():
                    return self._of_instance(symbol)
        values = evaluate(self.project, call, context)
        known = any(isinstance(value, Instance | ExternalInstance) for value in values)
        return frozenset({Kind.OBJECT}) if known else K.UNKNOWN

    def _of_instance(self, ref: ClassRef) -> Kinds:
        return frozenset({Kind.ENUM if self.is_enum(ref) else Kind.OBJECT})

    def is_enum(self, ref: ClassRef) -> bool:
        """The class is an enumeration."""
        return any(base.startswith("enum.") for base in self.project.external_bases(ref))

    def _of_attribute(self, owner: Expr, name: str, context: Context) -> Kinds:
        for symbol in self.project.symbols(owner, context.function.path, context.function.key):
            if isinstance(symbol, ClassRef) and self.is_enum(symbol):
                return frozenset({Kind.ENUM})
        for value in evaluate(self.project, owner, context):
            if isinstance(value, Instance):
                return self.kinds(Key(value.ref, name))
        return K.UNKNOWN


def _one_each(found: list[Outside]) -> list[Outside]:
    """`self.table: Tensor | None = None` is one store: the annotation helps where the value is unknown."""
    typed = {(o.path, o.line): o.kinds for o in found if isinstance(o.value, ir.Typed)}
    valued = [o for o in found if not isinstance(o.value, ir.Typed)]
    told = {(o.path, o.line) for o in valued}
    merged = [o if o.kinds else replace(o, kinds=typed.get((o.path, o.line), K.UNKNOWN)) for o in valued]
    return [*merged, *(o for o in found if isinstance(o.value, ir.Typed) and (o.path, o.line) not in told)]


@question
def _attributes_set(function: ir.Function, name: str) -> tuple[str, ...]:
    """The attributes of something that a function assigns, by the name that this has."""
    return tuple(dict.fromkeys(store.name for store in function.stores if store.owner == ir.Name(name)))


@question
def _methods_called(function: ir.Function, name: str) -> tuple[str, ...]:
    """The methods of something that a function calls, by the name that this has."""
    callees = dict.fromkeys(site.call.function for site in function.calls)
    return tuple(c.name for c in callees if isinstance(c, ir.Attribute) and c.value == ir.Name(name))
