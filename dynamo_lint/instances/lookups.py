"""Questions of construction code to the program, answered as terms."""

from __future__ import annotations

import ast

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.lower import as_fact
from dynamo_lint.instances.terms import LONGEST_TABLE, Term, Terms
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.values.model import ClassValue, Context, FunctionValue
from dynamo_lint.values.points_to import points_to_of

_MAX_CANDIDATES = 2
"""A callee that may be more classes than this is a matter of taste: every instance gets the same one."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters that a call fills."""

    positional: tuple[str, ...]
    defaults: tuple[tuple[str, Term], ...]
    """Every parameter, with its value where the call gives none."""
    named: frozenset[str]
    rest: str | None
    """The one that takes all other keywords."""


@dataclass(slots=True)
class Lookups:
    """Answers about names, callees and classes, as terms."""

    project: Project
    terms: Terms
    _selves: dict[FunctionRef, str | None] = field(default_factory=dict)
    _signatures: dict[tuple[FunctionRef, bool], Signature] = field(default_factory=dict)
    _inits: dict[ClassRef, FunctionRef | None] = field(default_factory=dict)
    _parents: dict[tuple[FunctionRef, ClassRef], FunctionRef | str | None] = field(default_factory=dict)
    _members: dict[tuple[ClassRef, str], Term | None] = field(default_factory=dict)
    _outer: dict[tuple[FunctionRef, str], Term] = field(default_factory=dict)
    _named: dict[ast.expr, Term | None] = field(default_factory=dict)
    _callees: dict[tuple[ast.expr, ClassRef | None], Term | None] = field(default_factory=dict)

    # --- functions and classes --------------------------------------------------------------------------

    def self_name(self, function: FunctionRef) -> str | None:
        """The name of the instance in a function."""
        if function not in self._selves:
            self._selves[function] = self.project.self_name(function)
        return self._selves[function]

    def parameters(self, ref: FunctionRef) -> tuple[ir.Parameter, ...]:
        """The parameters of a method without its instance."""
        function = self.project.function(ref)
        skip = function.owner is not None and self.project.method_kind(ref) != "staticmethod"
        return function.parameters[1:] if skip else function.parameters

    def signature(self, ref: FunctionRef, *, method: bool) -> Signature:
        """The parameters with their defaults."""
        found = self._signatures.get((ref, method))
        if found is None:
            parameters = self.parameters(ref) if method else self.project.function(ref).parameters
            rest = next((p.name for p in parameters if p.kind == "kwarg"), None)
            found = self._signatures[ref, method] = Signature(
                tuple(p.name for p in parameters if p.kind == "positional"),
                tuple((p.name, self._default(p, ref)) for p in parameters),
                frozenset(p.name for p in parameters if p.name != rest),
                rest,
            )
        return found

    def _default(self, parameter: ir.Parameter, ref: FunctionRef) -> Term:
        match parameter.default:
            case ir.Constant(value):
                return self.terms.const(value)
            case None:
                return self.terms.make("symbol", f"argument {parameter.name}")
            case default:
                outer = self.project.function(ref).outer or MODULE_KEY
                for symbol in self.project.symbols(default, ref.path, outer):
                    found = self.symbol(symbol)
                    if found is not None:
                        return found
        return self.terms.make("symbol", f"default of {parameter.name}")

    def unknown(self, where: FunctionRef, parameter: ir.Parameter) -> Term:
        """A parameter that nothing is known of; a class or function is taken from its default."""
        default = parameter.default
        if parameter.kind == "kwarg":
            return self.terms.make("symbol", f"options of {where.id}")
        if default is not None:
            outer = self.project.function(where).outer or MODULE_KEY
            for symbol in self.project.symbols(default, where.path, outer):
                found = self.symbol(symbol)
                if found is not None and found.kind in {"class", "function", "external"}:
                    return found
        return self.terms.make("param", parameter.name)

    def init(self, ref: ClassRef) -> FunctionRef | None:
        """The constructor of a class."""
        if ref not in self._inits:
            self._inits[ref] = self.project.method(ref, "__init__")
        return self._inits[ref]

    def fields(self, ref: ClassRef) -> list[str]:
        """The fields of a dataclass in the order of its constructor."""
        order = reversed(self.project.mro(ref))
        return list(dict.fromkeys(n for part in order for n, _ in self.project.class_(part).annotations))

    def parent(self, function: FunctionRef, receiver: ClassRef) -> FunctionRef | str | None:
        """The constructor that `super().__init__` means, or the torch.nn class that it belongs to."""
        if (function, receiver) not in self._parents:
            self._parents[function, receiver] = self._parent(function, receiver)
        return self._parents[function, receiver]

    def _parent(self, function: FunctionRef, receiver: ClassRef) -> FunctionRef | str | None:
        owner = self.project.owner(function)
        if owner is None:
            return None
        order = self.project.mro(receiver)
        for part in order[order.index(owner) + 1 :] if owner in order else ():
            for binding in self.project.class_bindings(part).get("__init__", ()):
                if isinstance(binding.value, ir.Definition):
                    return FunctionRef(part.path, binding.value.key)
        bases = self.project.external_bases(owner)
        return next((b for b in bases[::-1] if b.startswith("torch.nn.") and not b.endswith(".Module")), None)

    def member(self, ref: ClassRef, name: str) -> Term | None:
        """`Class.name`."""
        if (ref, name) not in self._members:
            self._members[ref, name] = self._only(self.project.members(ref, name))
        return self._members[ref, name]

    # --- names ------------------------------------------------------------------------------------------

    def symbol(self, symbol: Symbol) -> Term | None:
        """A definition as a term."""
        match symbol:
            case ClassRef():
                return self.terms.make("class", symbol)
            case FunctionRef():
                return self.terms.make("function", symbol)
            case ExternalSymbol(dotted):
                return self.terms.make("external", dotted.removeprefix("builtins."))
        return None

    def _only(self, symbols: tuple[Symbol, ...]) -> Term | None:
        found = [term for term in map(self.symbol, symbols) if term is not None]
        return found[0] if len(found) == 1 else None

    def outer(self, name: str, where: FunctionRef) -> Term:
        """The term of a name that the function itself does not bind."""
        found = self._outer.get((where, name))
        if found is None:
            found = self._outer[where, name] = self._bound_outside(name, where)
        return found

    def _bound_outside(self, name: str, where: FunctionRef) -> Term:
        found = self._only(self.project.symbols(ir.Name(name), where.path, where.key))
        if found is not None:
            return found
        bound = self.project.global_bindings(where.path).get(name, [])
        match bound:
            case [ir.Constant(value)]:
                return self.terms.const(value)
            case [ir.Display("dict", items, keys)] if 2 <= len(items) <= LONGEST_TABLE:
                symbols = [self._only(self.project.symbols(item, where.path, where.key)) for item in items]
                values = tuple(value for value in symbols if value is not None)
                names = tuple(key for key in keys if key is not None)
                if len(names) == len(values) == len(items):
                    return self.terms.make("seq", "dict", values, names)
        return self.terms.make("symbol", f"{where.path}: {name}")

    def named(self, node: ast.Attribute, where: FunctionRef) -> Term | None:
        """The term that `module.name` means by binding alone."""
        if node not in self._named:
            expr = ir.Attribute(as_fact(node.value), node.attr)
            self._named[node] = self._only(self.project.symbols(expr, where.path, where.key))
        return self._named[node]

    def callee(self, node: ast.expr, where: FunctionRef, receiver: ClassRef | None) -> Term | None:
        """The callee that the region stage finds for an expression that construction code passes around."""
        if (node, receiver) not in self._callees:
            self._callees[node, receiver] = self._callee(node, where, receiver)
        return self._callees[node, receiver]

    def _callee(self, node: ast.expr, where: FunctionRef, receiver: ClassRef | None) -> Term | None:
        values = points_to_of(self.project).value(as_fact(node), Context(where, receiver))
        found = []
        for value, confidence in values.items():
            if isinstance(value, ClassValue | FunctionValue) and confidence < Confidence.POSSIBLE:
                kind = "class" if isinstance(value, ClassValue) else "function"
                found.append(self.terms.make(kind, value.ref))
        if not found or len(found) > _MAX_CANDIDATES:
            return None
        result = found[0]
        for other in found[1:]:
            test = self.terms.make("symbol", f"{where.id}: which {ast.unparse(node)}")
            result = self.terms.choice(test, result, other)
        return result
