"""What an expression may hold, asked on demand: flow-insensitive, across functions, classes and files.

A name may hold whatever is assigned to it anywhere in its scope, an attribute whatever any method stores in
it, a parameter what its annotation says or what any call site passes. Only what is asked for is computed.
"""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Expr, Function, Parameter, Store
from dynamo_lint.regions import results
from dynamo_lint.regions.annotations import typed
from dynamo_lint.regions.model import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.project import External, File, Project, Symbol
from dynamo_lint.regions.questions import Questions
from dynamo_lint.regions.values import (
    EMPTY,
    ClassValue,
    FunctionValue,
    Group,
    Instance,
    Parent,
    Scope,
    Text,
    Value,
    Values,
    elements,
    freeze,
    union,
)

_UNWRAPPING = frozenset({"module", "_orig_mod"})
"""Where DDP and torch.compile keep the module they wrap."""
FAN_OUT = 8
"""An attribute or parameter with more module classes than this is a generic slot: demoted to assumed."""
_MAX_CALL_SITES = 200
"""Per name; a parameter that is passed more often than this is known well enough by then."""

Stored = tuple[tuple[frozenset[ClassRef], Scope, Store], ...]
Called = tuple[tuple[Scope, facts.Call], ...]
NOTHING_STORED: Stored = ()
NOTHING_CALLED: Called = ()


def evaluate(project: Project, expr: Expr, scope: Scope) -> Values:
    """The values `expr` may hold in `scope`, each with the tier of its proof."""
    return evaluation_of(project).value(expr, scope)


def evaluation_of(project: Project) -> Evaluation:
    """The project's one `Evaluation`, so that every stage shares its answers."""
    evaluation = project.memo.get(Evaluation)
    if not isinstance(evaluation, Evaluation):
        evaluation = project.memo[Evaluation] = Evaluation(project)
    return evaluation


class Evaluation:
    """One project's answers so far."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._ask = Questions().ask

    # --- expressions ------------------------------------------------------------------------------------

    def value(self, expr: Expr, scope: Scope) -> Values:
        """The values of one expression."""
        match expr:
            case facts.Name(name):
                return self._name(name, scope)
            case facts.Attribute(owner, name):
                return self.attributes(self.value(owner, scope), name)
            case facts.Call():
                return results.of_call(self, expr, scope)
            case facts.Subscript(owner, facts.Constant(index)):
                return self._item(self.value(owner, scope), index)
            case facts.Subscript(owner):
                return self._item(self.value(owner, scope), None)
            case facts.Element(iterable):
                return elements(self.value(iterable, scope))
            case facts.Choice(options):
                return union(self.value(option, scope) for option in options)
            case facts.Display(kind, items, keys):
                return self._display(kind, items, keys, scope)
            case facts.Constant(str() as text):
                return {Text(text): Tier.CERTAIN}
            case facts.Typed(annotation):
                return typed(self.project, annotation, scope)
            case facts.Definition(key):
                path = scope.function.path
                if key in self.project.files[path].classes:
                    return {ClassValue(ClassRef(path, key)): Tier.CERTAIN}
                return {FunctionValue(FunctionRef(path, key), scope.receiver): Tier.CERTAIN}
            case facts.Import():
                return self._of_symbols(self.project.symbols(expr, scope.function.path))
        return EMPTY

    def _display(
        self, kind: str, items: tuple[Expr, ...], keys: tuple[str | None, ...], scope: Scope
    ) -> Values:
        parts = [self.value(item, scope) for item in items]
        if any(isinstance(item, facts.Element) for item in items):
            kind, parts = "each", [union(parts)]
        # A container of nothing we follow is not worth carrying around.
        if not any(parts) and kind != "tuple":
            return EMPTY
        return {Group(kind, tuple(freeze(part) for part in parts), keys): Tier.CERTAIN}

    def _item(self, owners: Values, index: object) -> Values:
        parts: list[Values] = []
        for owner, tier in owners.items():
            match owner:
                case Group():
                    parts += [union([dict(item)], tier) for item in owner.at(index)]
                case ClassValue() | External():  # Base[T]
                    parts.append({owner: tier})
        return union(parts)

    def _of_symbols(self, symbols: tuple[Symbol, ...]) -> Values:
        found: dict[Value, Tier] = {}
        for symbol in symbols:
            match symbol:
                case ClassRef():
                    found[ClassValue(symbol)] = Tier.CERTAIN
                case FunctionRef():
                    found[FunctionValue(symbol)] = Tier.CERTAIN
                case File() | External():
                    found[symbol] = Tier.CERTAIN
        return found

    # --- names ------------------------------------------------------------------------------------------

    def _name(self, name: str, scope: Scope) -> Values:
        path, key = scope.function.path, scope.function.key
        file = self.project.files[path]
        while key != MODULE_KEY:
            function = file.functions[key]
            if name not in function.globals:
                bound = [b.value for b in function.bindings if b.name == name]
                parameter = next((p for p in function.parameters if p.name == name), None)
                if bound or parameter:
                    return self._local(
                        name, bound, function, parameter, Scope(FunctionRef(path, key), scope.receiver)
                    )
            key = function.outer or MODULE_KEY
        module = Scope(FunctionRef(path, MODULE_KEY))
        bound = self.project.global_bindings(path).get(name, [])
        if bound:
            return self._ask((path, name), lambda: union(self.value(value, module) for value in bound), EMPTY)
        return self._of_symbols(self.project.symbols(facts.Name(name), path))

    def _local(
        self, name: str, bound: list[Expr], function: Function, parameter: Parameter | None, scope: Scope
    ) -> Values:
        def compute() -> Values:
            parts = [self.value(value, scope) for value in bound]
            if parameter is not None:
                parts.append(self._parameter(parameter, function, scope))
            return union(parts)

        return self._ask((scope, name), compute, EMPTY)

    # --- attributes -------------------------------------------------------------------------------------

    def attributes(self, owners: Values, name: str) -> Values:
        """What `owner.name` may hold, for any of the owners."""
        return union(union([self._attribute(owner, name)], tier) for owner, tier in owners.items())

    def _attribute(self, owner: Value, name: str) -> Values:
        match owner:
            case Instance(ref):
                return self._ask(("attribute", ref, name), lambda: self._instance_attribute(ref, name), EMPTY)
            case ClassValue(ref):
                return self._class_attribute(ref, name)
            case Parent(start, receiver):
                order = self.project.mro(receiver)
                after = order[order.index(start) + 1 :] if start in order else ()
                return next(
                    (found for part in after if (found := self._in_body(part, name, receiver)) is not None),
                    EMPTY,
                )
            case File(path):
                return self._file_attribute(path, name)
            case External(dotted):
                return {External(f"{dotted}.{name}"): Tier.CERTAIN}
            case Group("dict") if name in owner.keys:  # ModuleDict and SimpleNamespace
                return union(dict(item) for item in owner.at(name))
            case FunctionValue() if name == "__call__":
                return {owner: Tier.CERTAIN}
        return EMPTY

    def _file_attribute(self, path: str, name: str) -> Values:
        if self.project.global_bindings(path).get(name):
            return self._name(name, Scope(FunctionRef(path, MODULE_KEY)))
        return self._of_symbols(self.project.members(File(path), name))

    def _class_attribute(self, ref: ClassRef, name: str) -> Values:
        for part in self.project.mro(ref):
            found = self._in_body(part, name, None)
            if found is not None:
                return found
        if name == "apply" and any(
            b.endswith(("autograd.Function", "autograd.function.Function"))
            for b in self.project.external_bases(ref)
        ):
            return union(self._class_attribute(ref, method) for method in ("forward", "backward"))
        return EMPTY

    def _in_body(self, ref: ClassRef, name: str, receiver: ClassRef | None) -> Values | None:
        """What one class body binds `name` to, seen from an instance of `receiver`; None if nothing."""
        bindings = self.project.class_bindings(ref).get(name)
        if not bindings:
            return None
        outer = FunctionRef(ref.path, self.project.class_(ref).outer or MODULE_KEY)
        parts: list[Values] = []
        for binding in bindings:
            if isinstance(binding.value, facts.Definition):
                for symbol in self.project.symbols(binding.value, ref.path):
                    if isinstance(symbol, FunctionRef):
                        parts.append(self._method(symbol, ref, receiver))
                    else:
                        parts.append(self._of_symbols((symbol,)))
            else:
                # Names in a class body may be other members of it.
                inner = binding.value.id if isinstance(binding.value, facts.Name) else None
                siblings = self.project.class_bindings(ref)
                if inner is not None and inner != name and inner in siblings:
                    parts.append(self._in_body(ref, inner, receiver) or EMPTY)
                else:
                    parts.append(self.value(binding.value, Scope(outer)))
        return union(parts)

    def _method(self, function: FunctionRef, owner: ClassRef, receiver: ClassRef | None) -> Values:
        kind = self.project.method_kind(function)
        if kind == "property":
            return self.returns(function, receiver) if receiver is not None else EMPTY
        bound = (
            None
            if kind == "staticmethod"
            else (owner if kind == "classmethod" and not receiver else receiver)
        )
        return {FunctionValue(function, bound): Tier.CERTAIN}

    def _instance_attribute(self, ref: ClassRef, name: str) -> Values:
        parts: list[Values] = []
        for part in self.project.mro(ref):
            found = self._in_body(part, name, ref)
            if found is not None:
                parts.append(found)
                break
        for part in self.project.mro(ref):
            stores = self.project.own_stores(part)
            parts += [self.value(s.value, Scope(where, ref)) for where, s in stores.get(name, ())]
            contents = union(
                self.value(s.value, Scope(where, ref)) for where, s in stores.get(name + ITEM, ())
            )
            if contents:
                parts.append({Group("each", (freeze(contents),)): Tier.CERTAIN})
            outer = Scope(FunctionRef(part.path, self.project.class_(part).outer or MODULE_KEY))
            parts += [
                typed(self.project, a, outer)
                for key, a in self.project.class_(part).annotations
                if key == name
            ]
        parts.append(self._foreign_stores(ref, name))
        found = self._capped(union(parts))
        # `DDP(model)` stands for the model here, and so does what is behind its `.module`.
        return {Instance(ref): Tier.LIKELY} if not found and name in _UNWRAPPING else found

    def _foreign_stores(self, ref: ClassRef, name: str) -> Values:
        """`model.mixer = Mixer()` in other code, where `model` may be an instance of this class."""
        order = set(self.project.mro(ref))
        found = self._ask(("foreign", name), lambda: self._stored_elsewhere(name), NOTHING_STORED)
        return union(
            union([self.value(store.value, scope)], Tier.LIKELY)
            for owners, scope, store in found
            if owners & order
        )

    def _stored_elsewhere(self, name: str) -> Stored:
        found = []
        for where, store in self.project.stores_of(name):
            if _may_hold_code(store) and not _on_self(self.project, where, store):
                scope = Scope(where, self.project.owner(where))
                owners = {v.ref for v in self.value(store.owner, scope) if isinstance(v, Instance)}
                if owners:
                    found.append((frozenset(owners), scope, store))
        return tuple(found)

    def _capped(self, values: Values) -> Values:
        classes = {
            v.ref for v in values if isinstance(v, Instance | ClassValue) and self.project.is_module(v.ref)
        }
        return union([values], Tier.ASSUMED) if len(classes) > FAN_OUT else values

    # --- functions --------------------------------------------------------------------------------------

    def returns(self, function: FunctionRef, receiver: ClassRef | None) -> Values:
        """What calling the function may give."""
        facts_ = self.project.function(function)
        scope = Scope(function, receiver)
        return self._ask(
            ("returns", scope), lambda: union(self.value(value, scope) for value in facts_.returns), EMPTY
        )

    def _parameter(self, parameter: Parameter, function: Function, scope: Scope) -> Values:
        kind = self.project.method_kind(scope.function) if function.owner is not None else "staticmethod"
        if function.owner is not None and function.parameters[0] is parameter and kind != "staticmethod":
            ref = scope.receiver or ClassRef(scope.function.path, function.owner)
            return {ClassValue(ref) if kind == "classmethod" else Instance(ref): Tier.CERTAIN}
        outer = Scope(FunctionRef(scope.function.path, function.outer or MODULE_KEY))
        declared = (
            typed(self.project, parameter.annotation, outer) if parameter.annotation is not None else EMPTY
        )
        if any(isinstance(v, Instance | ClassValue | Group) for v in declared):
            return declared
        default = self.value(parameter.default, outer) if parameter.default is not None else EMPTY
        passed = union([self._passed(parameter, function, scope)], Tier.LIKELY)
        return self._capped(union([declared, default, passed]))

    def _passed(self, parameter: Parameter, function: Function, scope: Scope) -> Values:
        """What the call sites of the function pass for one parameter."""
        ref = scope.function
        position = function.parameters.index(parameter) - (1 if function.owner is not None else 0)
        if parameter.kind != "positional":
            position = -1
        parts = []
        for caller, call in self._ask(
            ("sites", ref), lambda: self._call_sites(ref, function), NOTHING_CALLED
        ):
            argument = _argument(call, parameter.name, position)
            if argument is not None:
                parts.append(self.value(argument, caller))
        return union(parts)

    def _call_sites(self, ref: FunctionRef, function: Function) -> Called:
        """The calls in the project that run a function, directly or by constructing its class."""
        name = function.qualname.rpartition(".")[2]
        constructed = self.project.classes_with_init(ref) if name == "__init__" else []
        wanted = {ref, *constructed}
        names = {name, *(heir.name for heir in constructed), *self.project.aliases_of(name)}
        found = []
        for called in sorted(names):
            for where, site in self.project.calls_of(called)[:_MAX_CALL_SITES]:
                owner = self.project.owner(where)
                if called == "__init__" and (
                    owner is None or ClassRef(ref.path, function.owner or "") not in self.project.mro(owner)
                ):
                    continue  # super().__init__() of an unrelated class
                caller = Scope(where, owner)
                if any(
                    getattr(value, "ref", None) in wanted for value in self.value(site.call.function, caller)
                ):
                    found.append((caller, site.call))
        return tuple(found)


def _argument(call: facts.Call, name: str, position: int) -> Expr | None:
    """The expression a call passes for a parameter, by keyword or at `position`; None if it passes none."""
    for keyword, value in call.keywords:
        if keyword == name:
            return value
    if not 0 <= position < len(call.arguments):
        return None
    if any(isinstance(argument, facts.Element) for argument in call.arguments[: position + 1]):
        return None
    return call.arguments[position]


def _may_hold_code(store: Store) -> bool:
    return not isinstance(store.value, facts.Constant | facts.Unknown)


def _on_self(project: Project, where: FunctionRef, store: Store) -> bool:
    return isinstance(store.owner, facts.Name) and store.owner.id == project.self_name(where)
