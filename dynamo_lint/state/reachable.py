"""A pre-filter: the calls of driver code that may reach compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from dynamo_lint import knowledge
from dynamo_lint.evaluation.parameters import possible_calls
from dynamo_lint.index import ir
from dynamo_lint.index.ir import ITEM, MODULE_KEY, Expr, Function, Parameter
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.models import passing
from dynamo_lint.models.instantiation import BUILDERS, DESCRIPTIONS
from dynamo_lint.program import static_bindings
from dynamo_lint.program.hierarchy import concrete_subclasses, subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef, Symbol
from dynamo_lint.values.annotations import is_plain
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.model import Context, FunctionValue, Instance
from dynamo_lint.values.patches import swaps_of
from dynamo_lint.values.points_to import points_to_of
from dynamo_lint.values.solver import BooleanSolver

_ALWAYS = knowledge.names("holds_wrapped") | {"__call__", "apply"}
"""Attributes that stand for what they are looked up on, or for another method of it."""
_BY_NAME = (
    BUILDERS
    | DESCRIPTIONS
    | {f"builtins.{name}" for name in ("getattr", "globals", "vars")}
    | {"typing.cast"}
)
"""Library code that finds what it gives by a name or a type."""
_Test = Literal["is", "makes"]
"""The question: may it be one of those looked for, or may calling it give one?"""
_NO_NAME = "<no attribute is called so>"


class Reach:
    """The functions and the classes of modules that are asked for, and the names that may hold them."""

    def __init__(
        self, project: Project, functions: Iterable[FunctionRef], classes: Iterable[ClassRef]
    ) -> None:
        self._project = project
        self._functions = frozenset(functions)
        self._classes = frozenset(classes)
        self._named = {project.function(ref).qualname.rpartition(".")[2] for ref in self._functions}
        self._swapped = frozenset(self._swapped_names())
        askers = [*project.named("bodies").get("__getattr__", ())]
        askers += project.named("plain methods").get("__getattr__", ())
        self._anything = any(self._gives_any_name(ref) for ref, _ in askers)
        self._known: dict[str, bool] = {}
        self._called: dict[tuple[str, str], bool] = {}
        self._whether = BooleanSolver()

    def may_be_called(self, callee: Expr, path: str) -> bool:
        """The same by what a callee is called alone, wherever it stands in a file: a first look."""
        match callee:
            case ir.Attribute(_, name):
                if name not in self._known:
                    self._known[name] = self._project.is_known(name) and self._attribute(name, "is")
                return self._known[name]
            case ir.Name(name) if name not in self._project.own_names(path):
                if (path, name) not in self._called:
                    self._called[path, name] = self.may_run(callee, FunctionRef(path, MODULE_KEY))
                return self._called[path, name]
        return True

    def may_run(self, callee: Expr, where: FunctionRef) -> bool:
        """Whether what is called in a function may be one of the functions or an instance of a class."""
        told = static_bindings.bound_symbols(self._project, callee, where)
        if told is not None:
            return any(symbol in self._functions for symbol in told)
        match callee:
            case ir.Attribute():
                return self.may_be_called(callee, where.path)
            case ir.Name(name):
                return self._name(name, where, "is")
            case ir.Call() | ir.Subscript() | ir.Narrowed() | ir.Choice():
                return self._may_be(callee, where, "is")
        return True

    def _name(self, name: str, where: FunctionRef, test: _Test) -> bool:
        """Whether a name, as a function sees it, may hold what is asked for."""
        home = self._project.home_of(name, where)
        if home.key != MODULE_KEY:
            local = self._project.locals_of(home)[name]
            return self._bound(home, name, local.bound, local.parameter, test)
        bound = self._project.global_bindings(home.path).get(name, [])
        return not bound or self._bound(home, name, bound, None, test)

    def _bound(
        self, ref: FunctionRef, name: str, bound: Sequence[Expr], parameter: Parameter | None, test: _Test
    ) -> bool:
        def compute() -> bool:
            items = [value for _, value in self._project.items_of(ref).get(name, ())]
            put = self._project.filled_in(ref.path).get(name, ()) if ref.key == MODULE_KEY else ()
            return (
                any(self._may_be(value, ref, test) for value in (*bound, *items))
                or any(self._may_be(value, where, test) for where, value in put)
                or (parameter is not None and self._given(parameter, ref, test))
            )

        return self._whether.ask((ref, name, test), compute)

    def _given(self, parameter: Parameter, ref: FunctionRef, test: _Test) -> bool:
        """Whether a function may be given it: as its instance, by default, or by some call."""
        project, function = self._project, self._project.function(ref)
        outer = FunctionRef(ref.path, function.outer or MODULE_KEY)
        if function.owner is not None and function.parameters[0] is parameter:
            return project.method_kind(ref) == "staticmethod" or self._instance(
                ClassRef(ref.path, function.owner)
            )
        if parameter.annotation is not None and is_plain(project, parameter.annotation, Context(outer)):
            return False
        if parameter.annotation is not None and self._typed(parameter.annotation, outer):
            return True
        if function.parameters[0] is parameter and self._decorates(function):
            return True
        return (parameter.default is not None and self._may_be(parameter.default, outer, test)) or any(
            given is not None and self._may_be(given, caller.function, test)
            for caller, site in possible_calls(project, ref)
            for given in [argument_for(parameter, function, site.call)]
        )

    def _instance(self, ref: ClassRef) -> bool:
        """Whether `self` in the methods of a class, a result of calling it, or the class is looked for."""
        return any(
            one in self._classes or self._contains(one) for one in (ref, *subclasses(self._project, ref))
        )

    def _decorates(self, function: Function) -> bool:
        """Definitions are handed to it, or to what the function around it returns."""
        names = [function.qualname.rpartition(".")[2]]
        if function.outer not in (None, MODULE_KEY):
            names.append(function.qualname.removesuffix(f".<locals>.{names[0]}").rpartition(".")[2])
        return any(self._project.decorated_with(name) for name in names)

    def _attribute(self, name: str, test: _Test) -> bool:
        """Whether an attribute of this name, of whatever object, may hold what is asked for."""
        return self._whether.ask((name, test), lambda: self._is_held(name, test))

    def _is_held(self, name: str, test: _Test) -> bool:
        if self._anything or name in _ALWAYS or name in self._swapped:
            return True
        named = self._project.named
        if name in (self._named if test == "is" else named("top")):
            return True
        stores = self._project.stores_of(name)
        bodies = list(named("bodies").get(name, ()))
        if test == "makes":  # a method that is asked for itself has its own name
            bodies += named("plain methods").get(name, ())
        bound = (*named("kept").get(name, ()), *named("globals").get(name, ()))
        return (
            any(self._in_body(ref, value, test) for ref, value in bodies)
            or any(self._declared(ref, annotation) for ref, annotation in named("annotations").get(name, ()))
            or any(self._may_be(store.value, where, test) for where, store in stores)
            or any(self._may_be(value, where, test) for where, value in bound)
        )

    def _in_body(self, ref: ClassRef, value: Expr, test: _Test) -> bool:
        match value:
            case ir.Definition(key) if key in self._project.files[ref.path].functions:
                function = FunctionRef(ref.path, key)
                if self._project.method_kind(function) == "property":
                    return self._returns(function, test)
                return function in self._functions if test == "is" else self._returns(function, "is")
            case ir.Definition(key) if test == "makes":
                return self._instance(ClassRef(ref.path, key))
            case ir.Definition():
                return False
            case ir.Name(name) if name in self._project.class_bindings(ref):
                return self._attribute(name, test)  # another member of the class
        outer = FunctionRef(ref.path, self._project.class_(ref).outer or MODULE_KEY)
        return self._may_be(value, outer, test)

    def _declared(self, ref: ClassRef, annotation: Expr) -> bool:
        """A field may be given anything, if the class is constructed without code of its own."""
        outer = FunctionRef(ref.path, self._project.class_(ref).outer or MODULE_KEY)
        if is_plain(self._project, annotation, Context(outer)):
            return False
        inits = (self._project.method(one, "__init__") for one in (ref, *subclasses(self._project, ref)))
        return any(init is None for init in inits) or self._typed(annotation, outer)

    def _typed(self, annotation: Expr, where: FunctionRef) -> bool:
        match annotation:
            case ir.Choice(options) | ir.Display(_, options):
                return any(self._typed(option, where) for option in options)
            case ir.Subscript(base, index):
                return self._typed(base, where) or self._typed(index, where)
            case ir.Name(name) if name in self._project.named("nested"):
                return True
        return any(
            one in self._classes or self._contains(one)
            for symbol in self._project.symbols(annotation, where.path, where.key)
            if isinstance(symbol, ClassRef)
            for one in (symbol, *concrete_subclasses(self._project, symbol))
        )

    def _may_be(self, value: Expr, where: FunctionRef, test: _Test) -> bool:
        """Whether what is stored may be what is asked for, or a container of it."""
        match value:
            case ir.Constant() | ir.UnknownExpression():
                return False
            case ir.Choice(options) | ir.Display(_, options):
                return any(self._may_be(option, where, test) for option in options)
            case ir.Typed(annotation):
                return self._typed(annotation, where)
            case ir.Subscript(inner) | ir.Element(inner) | ir.Narrowed(inner):
                return self._may_be(inner, where, test)
            case ir.Call(callee):
                return self._result(callee, arguments_of(value), where, test)
            case ir.Definition(key):
                if key in self._project.files[where.path].functions:
                    return self._is(FunctionRef(where.path, key), test)
                return self._is(ClassRef(where.path, key), test)
            case ir.Import():
                return self._imported(value, where.path, test)
        told = static_bindings.bound_symbols(self._project, value, where)
        if told is not None:
            return any(self._is(symbol, test) for symbol in told)
        match value:
            case ir.Name(name):
                return self._name(name, where, test)
            case ir.Attribute(_, name):
                return self._attribute(name, test)
        return True

    def _is(self, symbol: Symbol, test: _Test) -> bool:
        """Whether a definition or library code is it, or gives it when it is called."""
        match symbol:
            case FunctionRef():
                return symbol in self._functions if test == "is" else self._returns(symbol, "is")
            case ClassRef():
                return test == "makes" and self._instance(symbol)
            case ExternalSymbol(dotted):
                return test == "makes" and dotted in _BY_NAME
        return False

    def _result(self, callee: Expr, given: tuple[Expr, ...], where: FunctionRef, test: _Test) -> bool:
        """Whether a call may give it: what is called makes it, or hands on what it gets or hangs on."""
        told = static_bindings.bound_symbols(self._project, callee, where)
        if told is not None:
            return any(self._gives(symbol, given, where, test) for symbol in told)
        handed = (*given, callee.value) if isinstance(callee, ir.Attribute) else given
        return (
            test == "makes"
            or self._may_be(callee, where, "makes")
            or any(self._may_be(one, where, test) for one in handed)
        )

    def _gives(self, callee: Symbol, given: tuple[Expr, ...], where: FunctionRef, test: _Test) -> bool:
        """Whether a call of a definition or of library code may give what is asked for."""
        match callee:
            case ClassRef():
                return test == "makes" or self._instance(callee)
            case ExternalSymbol(dotted) if dotted in _BY_NAME:
                return True
            case ExternalSymbol(dotted):
                return passing.passes_on(dotted) and any(self._may_be(one, where, test) for one in given)
            case FunctionRef():
                return self._returns(callee, test) or any(self._may_be(one, where, test) for one in given)
        return True

    def _imported(self, value: ir.Import, path: str, test: _Test) -> bool:
        """Whether what is imported by name may be it, where its module does more than define it."""
        if value.name is None:
            return False
        for source in self._project.imported_modules(value, path):
            if isinstance(source, File):
                bound = self._project.global_bindings(source.path).get(value.name, [])
                module = FunctionRef(source.path, MODULE_KEY)
                if not bound or self._bound(module, value.name, bound, None, test):
                    return True
            elif isinstance(source, ExternalSymbol) and self._is(
                ExternalSymbol(f"{source.dotted}.{value.name}"), test
            ):
                return True
        return False

    def _returns(self, ref: FunctionRef, test: _Test) -> bool:
        """Whether what a function returns may be what is asked for."""

        def compute() -> bool:
            function = self._project.function(ref)
            declared = function.annotation is not None and self._typed(function.annotation, ref)
            return declared or any(self._may_be(value, ref, test) for value in function.returns)

        return self._whether.ask((ref, test), compute)

    def _contains(self, ref: ClassRef) -> bool:
        """Whether instances hold others as a container does."""
        project = self._project
        return project.is_container(ref) or any(ITEM in project.own_stores(part) for part in project.mro(ref))

    def _gives_any_name(self, ref: ClassRef) -> bool:
        """Whether the `__getattr__` of a class may give what is asked for whatever it is asked."""
        for below in (ref, *subclasses(self._project, ref)):
            for value in points_to_of(self._project).attribute(Instance(below), _NO_NAME):
                match value:
                    case Instance(one) if one in self._classes:
                        return True
                    case FunctionValue(one) if one in self._functions:
                        return True
        return False

    def _swapped_names(self) -> Iterator[str]:
        """Attributes in which other code puts instances of the classes."""
        ev = points_to_of(self._project)
        for owners, values in swaps_of(ev) if self._classes else ():
            if not any(isinstance(value, Instance) and value.ref in self._classes for value in values):
                continue
            for owner in owners:
                for below in (owner, *subclasses(self._project, owner)):
                    for part in self._project.mro(below):
                        yield from self._project.own_stores(part)
                        yield from (name for name, _ in self._project.class_(part).annotations)
