"""Which calls may run something compiled, by the names that their callees end in.

What an expression holds takes long to work out, and most calls of a project have nothing to do with what is
compiled. What is bound to the name of a callee, anywhere in the project, tells that of most of them. The
answer errs on the safe side: it is yes wherever `evaluate` finds something compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import ITEM, MODULE_KEY, Expr, Parameter
from dynamo_lint.regions import results
from dynamo_lint.regions.abstract import heirs, heirs_of_abstract
from dynamo_lint.regions.annotations import is_plain
from dynamo_lint.regions.attributes import of_value
from dynamo_lint.regions.builders import BUILDERS, DESCRIPTIONS
from dynamo_lint.regions.evaluate import evaluation_of
from dynamo_lint.regions.locals import filled_in, items_of
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import External, File, Project, Symbol
from dynamo_lint.regions.swaps import swaps_of
from dynamo_lint.regions.values import FunctionValue, Instance, Scope
from dynamo_lint.state.slots import Slots

_ALWAYS = frozenset({"module", "_orig_mod", "__call__", "apply"})
"""Attributes that stand for what they are looked up on, or for another method of it."""
_BY_NAME = (
    BUILDERS
    | DESCRIPTIONS
    | {f"builtins.{name}" for name in ("getattr", "globals", "vars")}
    | {"typing.cast"}
)
"""Library code that finds what it gives by a name or a type."""
_NO_NAME = "<no attribute is called so>"


class Reach:
    """The functions and the classes of modules that are asked for, and the names that may hold them."""

    def __init__(
        self, project: Project, functions: Iterable[FunctionRef], classes: Iterable[ClassRef]
    ) -> None:
        self._project = project
        self._functions = frozenset(functions)
        self._classes = frozenset(classes)
        self._slots = Slots.of(project)
        self._named = {project.function(ref).qualname.rpartition(".")[2] for ref in self._functions}
        self._swapped = frozenset(self._swapped_names())
        self._anything = any(self._gives_any_name(ref) for ref, _ in self._slots.bodies["__getattr__"])
        self._known: dict[str, bool] = {}
        self._names: dict[tuple[FunctionRef, str], bool] = {}
        self._returning: dict[FunctionRef, bool] = {}
        self._settled: dict[tuple[str, str], bool] = {}

    def may_run(self, callee: Expr, where: FunctionRef) -> bool:
        """Whether what is called in a function may be one of the functions or an instance of a class."""
        told = self._told(callee, where)
        if told is not None:
            return any(symbol in self._functions for symbol in told)
        match callee:
            case facts.Attribute(_, name):
                if name not in self._known:
                    self._known[name] = self._attribute(name)
                return self._known[name]
            case facts.Name(name):
                return self._name(name, where)
        return True

    def _name(self, name: str, where: FunctionRef) -> bool:
        """Whether a name, as a function sees it, may hold what is asked for; a parameter may be anything."""
        path, key = where.path, where.key
        while key != MODULE_KEY:
            ref = FunctionRef(path, key)
            local = self._project.locals_of(ref).get(name)
            if local is not None:
                return self._bound(ref, name, local.bound, local.parameter)
            key = self._project.files[path].functions[key].outer or MODULE_KEY
        bound = self._project.global_bindings(path).get(name, [])
        return not bound or self._bound(FunctionRef(path, MODULE_KEY), name, bound, None)

    def _bound(self, ref: FunctionRef, name: str, bound: list[Expr], parameter: Parameter | None) -> bool:
        if (ref, name) not in self._names:
            self._names[ref, name] = True  # one that is bound to itself is not looked through
            items = items_of(self._project, ref).get(name, ())
            put = filled_in(self._project, ref.path).get(name, ()) if ref.key == MODULE_KEY else ()
            self._names[ref, name] = (
                (parameter is not None and not self._is_plain(parameter, ref))
                or any(self._may_be(value, ref) for value in (*bound, *items))
                or any(self._may_be(value, where) for where, value in put)
            )
        return self._names[ref, name]

    def _is_plain(self, parameter: Parameter, ref: FunctionRef) -> bool:
        """Its annotation admits only tensors, numbers and texts."""
        function = self._project.function(ref)
        if parameter.annotation is None or (
            function.owner is not None and function.parameters[0] is parameter
        ):
            return False
        outer = Scope(FunctionRef(ref.path, function.outer or MODULE_KEY))
        return is_plain(self._project, parameter.annotation, outer)

    def _attribute(self, name: str) -> bool:
        """Whether an attribute of this name, of whatever object, may hold what is asked for."""
        if self._anything or name in _ALWAYS or name in self._named or name in self._swapped:
            return True
        slots, stores = self._slots, self._project.stores_of(name)
        bound = (*slots.items.get(name, ()), *slots.globals.get(name, ()))
        return (
            any(self._in_body(ref, value) for ref, value in slots.bodies.get(name, ()))
            or any(self._declared(ref, annotation) for ref, annotation in slots.annotations.get(name, ()))
            or any(self._may_be(store.value, where) for where, store in stores)
            or any(self._may_be(value, where) for where, value in bound)
        )

    def _in_body(self, ref: ClassRef, value: Expr) -> bool:
        match value:
            case facts.Definition(key) if key in self._project.files[ref.path].functions:
                function = FunctionRef(ref.path, key)
                return function in self._functions or self._project.method_kind(function) == "property"
            case facts.Definition() | facts.Constant() | facts.Unknown():
                return False
        return True

    def _declared(self, ref: ClassRef, annotation: Expr) -> bool:
        """A field may be given anything, if the class is constructed without code of its own."""
        outer = FunctionRef(ref.path, self._project.class_(ref).outer or MODULE_KEY)
        inits = (self._project.method(one, "__init__") for one in (ref, *heirs(self._project, ref)))
        return any(init is None for init in inits) or self._typed(annotation, outer)

    def _typed(self, annotation: Expr, where: FunctionRef) -> bool:
        match annotation:
            case facts.Choice(options) | facts.Display(_, options):
                return any(self._typed(option, where) for option in options)
            case facts.Subscript(base, index):
                return self._typed(base, where) or self._typed(index, where)
            case facts.Name(name) if name in self._slots.nested:
                return True
        return any(
            one in self._classes or self._contains(one)
            for symbol in self._project.symbols(annotation, where.path, where.key)
            if isinstance(symbol, ClassRef)
            for one in (symbol, *heirs_of_abstract(self._project, symbol))
        )

    def _may_be(self, value: Expr, where: FunctionRef) -> bool:
        """Whether what is stored may be what is asked for, or a container of it."""
        match value:
            case facts.Constant() | facts.Unknown():
                return False
            case facts.Choice(options) | facts.Display(_, options):
                return any(self._may_be(option, where) for option in options)
            case facts.Subscript(inner) | facts.Element(inner):
                return self._may_be(inner, where)
            case facts.Call(callee, arguments, keywords):
                told = self._told(callee, where)
                given = (*arguments, *(given for _, given in keywords))
                return told is None or any(self._gives(symbol, given, where) for symbol in told)
            case facts.Definition(key):
                return FunctionRef(where.path, key) in self._functions
        told = self._told(value, where)
        if told is not None:
            return any(symbol in self._functions for symbol in told)
        return self._name(value.id, where) if isinstance(value, facts.Name) else True

    def _gives(self, callee: Symbol, given: tuple[Expr, ...], where: FunctionRef) -> bool:
        """Whether a call of a definition or of library code may give what is asked for."""
        match callee:
            case ClassRef():
                return callee in self._classes or self._contains(callee)
            case External(dotted) if dotted in _BY_NAME:
                return True
            case External(dotted):
                return results.passes_on(dotted) and any(self._may_be(one, where) for one in given)
            case FunctionRef():
                return self._returns(callee)
        return True

    def _returns(self, ref: FunctionRef) -> bool:
        """Whether what a function returns may be what is asked for."""
        if ref not in self._returning:
            self._returning[ref] = True  # one that returns what itself returns is not looked through
            function = self._project.function(ref)
            declared = function.annotation is not None and self._typed(function.annotation, ref)
            self._returning[ref] = declared or any(self._may_be(value, ref) for value in function.returns)
        return self._returning[ref]

    def _contains(self, ref: ClassRef) -> bool:
        """Whether instances hold others as a container does."""
        project = self._project
        return project.is_container(ref) or any(ITEM in project.own_stores(part) for part in project.mro(ref))

    # --- what bindings alone tell -----------------------------------------------------------------------

    def _told(self, expr: Expr, where: FunctionRef) -> tuple[Symbol, ...] | None:
        """What a dotted name means, if only imports and definitions bind it; None where flow decides."""
        match expr:
            case facts.Name(name) if self._is_bound_by_import(name, where):
                pass
            case facts.Attribute(owner, name):
                owners = self._told(owner, where)
                if owners is None or not all(isinstance(one, File | External) for one in owners):
                    return None
                if any(isinstance(one, File) and not self._is_settled(name, one.path) for one in owners):
                    return None
            case _:
                return None
        return self._project.symbols(expr, where.path, where.key) or None

    def _is_bound_by_import(self, name: str, where: FunctionRef) -> bool:
        """A name whose every binding, in the scope that it belongs to, is an import or a definition."""
        path, key = where.path, where.key
        while key != MODULE_KEY:
            local = self._project.locals_of(FunctionRef(path, key)).get(name)
            if local is not None:
                return local.parameter is None and all(self._is_fixed(value, path) for value in local.bound)
            key = self._project.files[path].functions[key].outer or MODULE_KEY
        return self._is_settled(name, path)

    def _is_settled(self, name: str, path: str) -> bool:
        """The same of a name of a module, and of wherever it is imported from."""
        if (name, path) not in self._settled:
            self._settled[name, path] = True  # imports may be circular
            bound = self._project.global_bindings(path).get(name, ())
            self._settled[name, path] = all(self._is_fixed(value, path) for value in bound)
        return self._settled[name, path]

    def _is_fixed(self, value: Expr, path: str) -> bool:
        if not isinstance(value, facts.Import) or value.name is None:
            return isinstance(value, facts.Import | facts.Definition)
        return all(
            self._is_settled(value.name, source.path)
            for source in self._project.imported_modules(value, path)
            if isinstance(source, File) and source.path != path
        )

    def _gives_any_name(self, ref: ClassRef) -> bool:
        """Whether the `__getattr__` of a class may give what is asked for whatever it is asked."""
        for below in (ref, *heirs(self._project, ref)):
            for value in of_value(evaluation_of(self._project), Instance(below), _NO_NAME):
                match value:
                    case Instance(one) if one in self._classes:
                        return True
                    case FunctionValue(one) if one in self._functions:
                        return True
        return False

    def _swapped_names(self) -> Iterator[str]:
        """Attributes in which other code puts instances of the classes."""
        ev = evaluation_of(self._project)
        for owners, types, values in swaps_of(ev) if self._classes else ():
            mine = any(isinstance(value, Instance) and value.ref in self._classes for value in values)
            if not mine or not (types or ev.guesses):
                continue
            for owner in owners:
                for below in (owner, *heirs(self._project, owner)):
                    for part in self._project.mro(below):
                        yield from self._project.own_stores(part)
                        yield from (name for name, _ in self._project.class_(part).annotations)
