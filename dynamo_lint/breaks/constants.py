"""Constant propagation for tests in code that may break the graph, and the truth of a test."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from dynamo_lint.breaks.names import LOG_SETTINGS, LOGGER, SETTINGS
from dynamo_lint.index import ir
from dynamo_lint.index.conditions import truth_when_compiling
from dynamo_lint.index.ir import UNKNOWN, Expr, Function
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import evaluate

MISSING = object()
"""Where no constant is known."""
_AROUND = frozenset({"enumerate", "zip", "reversed", "list", "tuple"})
_OF_ITEMS = frozenset({"values", "items", "children"})
_TENSORS = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor"})


@dataclass(frozen=True, slots=True)
class Values:
    """The names of one function, on one class of `self`."""

    project: Project
    function: FunctionRef
    receiver: ClassRef | None
    own: str | None
    captures_nothing: bool
    """No setting of Dynamo lets it capture what depends on the values in tensors."""
    writing_breaks: bool
    """No setting of Dynamo lets it move or drop messages."""

    def dotted(self, node: ast.expr) -> str:
        """`torch.rand` for what is defined outside the project; empty for anything else."""
        expr = expression(node)
        found = self.project.symbols(expr, self.function.path, self.function.key) if expr != UNKNOWN else ()
        return found[0].dotted if len(found) == 1 and isinstance(found[0], ExternalSymbol) else ""

    def is_logger(self, name: str) -> bool:
        """Whether a global is what `logging.getLogger(…)` gives."""
        if name in self.project.locals_of(self.function):
            return False
        bound = self.project.global_bindings(self.function.path).get(name, [])
        return bool(bound) and all(
            isinstance(value, ir.Call)
            and ExternalSymbol(LOGGER) in self.project.symbols(value.function, self.function.path)
            for value in bound
        )

    def repeats(self, iterable: ast.expr) -> bool:
        """Whether a loop over it has a first round: it runs over modules, or counts so far."""
        match iterable:
            case ast.Call(ast.Name("range"), [ast.Constant(int() as count)]):
                return count > 0
            case ast.Call(ast.Name("range"), [ast.Call(ast.Name("len"), [inner])]):
                return self.repeats(inner)
            case ast.Call(ast.Name(name), [inner, *_]) if name in _AROUND:
                return self.repeats(inner)
            case ast.Call(ast.Attribute(inner, name), []) if name in _OF_ITEMS:
                return self.repeats(inner)
            case ast.Subscript(inner, ast.Slice()):
                return self.repeats(inner)
        expr = expression(iterable)
        if expr == UNKNOWN:
            return False
        found = evaluate(self.project, ir.Element(expr), Context(self.function, self.receiver))
        return any(isinstance(one, Instance) and self.project.is_module(one.ref) for one in found)

    def constant(self, node: ast.expr) -> object:
        """A literal, or what an attribute of `self` holds unless somebody configures it otherwise."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Attribute(ast.Name(name), attribute) if name == self.own and self.receiver is not None:
                return self._attribute(self.receiver, attribute)
            case ast.Attribute(ast.Attribute(ast.Name(name), holder), attribute) if name == self.own:
                expr = ir.Attribute(ir.Name(name), holder)
                return self._configured(expr, attribute, Context(self.function, self.receiver))
        return MISSING

    def _attribute(self, owner: ClassRef, name: str) -> object:
        """The value of an attribute that a single line in a constructor stores."""
        stores = [
            (where, store)
            for part in self.project.mro(owner)
            for where, store in self.project.own_stores(part).get(name, ())
        ]
        if not stores:
            return self._in_class(owner, name)
        where, store = stores[0]
        if len(stores) > 1 or where.key.rpartition(".")[2] != "__init__" or store.augmented:
            return MISSING
        match store.value:
            case ir.Constant(value):
                return value
            case ir.Attribute(ir.Name() as holder, field):
                return self._configured(holder, field, Context(where, owner))
        return MISSING

    def _configured(self, holder: Expr, name: str, context: Context) -> object:
        """The value that the class of a configuration gives a field."""
        found = [*evaluate(self.project, holder, context)]
        classes = [one.ref for one in found if isinstance(one, Instance)]
        known = {repr(value): value for value in (self._in_class(ref, name) for ref in classes)}
        return next(iter(known.values())) if len(known) == 1 and len(classes) == len(found) else MISSING

    def _in_class(self, owner: ClassRef, name: str) -> object:
        _, given = self.project.member(owner, name)
        match given:
            case [ir.Constant(value)]:
                return value
        return MISSING


def expression(node: ast.expr) -> Expr:
    """A dotted name in the index's own language."""
    match node:
        case ast.Name(name):
            return ir.Name(name)
        case ast.Attribute(value, name):
            inner = expression(value)
            return UNKNOWN if inner == UNKNOWN else ir.Attribute(inner, name)
    return UNKNOWN


def tensor_parameters(project: Project, ref: FunctionRef, function: Function) -> set[str]:
    """The parameters that are declared to be tensors, and nothing else."""
    return {
        parameter.name
        for parameter in function.parameters
        if isinstance(parameter.annotation, ir.Name | ir.Attribute)
        and parameter.default is None
        and any(
            isinstance(one, ExternalSymbol) and one.dotted in _TENSORS
            for one in project.symbols(parameter.annotation, ref.path, function.outer or ir.MODULE_KEY)
        )
    }


def moves_messages(project: Project) -> bool:
    """Whether the project lets Dynamo write messages after the graph, or not at all."""
    if any(project.stores_of(name) for name in LOG_SETTINGS):
        return True
    calls = (site.call.function for method in ("add", "update") for _, site in project.calls_of(method))
    return any(
        isinstance(function, ir.Attribute)
        and isinstance(function.value, ir.Attribute)
        and function.value.name in LOG_SETTINGS
        for function in calls
    )


def captures(project: Project) -> bool:
    """Whether the project lets Dynamo capture what depends on data, or go on after any break."""
    stored = any(project.stores_of(name) for name in SETTINGS)
    return stored or any(
        keyword in SETTINGS for _, site in project.calls_of("patch") for keyword, _ in site.call.keywords
    )


Truth = frozenset[bool] | None
"""Whether a test holds; both, if it does at times; None where that is not known."""
_BOTH: Truth = frozenset({True, False})
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def truth(test: ast.expr, values: Values, counters: Collection[str]) -> Truth:
    """Return the truth of a test in training and in evaluation; `counters` count the rounds of loops."""
    known = truth_when_compiling(test, {})
    if known is not None:
        return frozenset({known})
    match test:
        case ast.Attribute(ast.Name(name), "training") if name == values.own:
            return _BOTH
        case ast.UnaryOp(ast.Not(), operand):
            inner = truth(operand, values, counters)
            return inner and frozenset(not one for one in inner)
        case ast.BoolOp(op, parts):
            return _joined([truth(part, values, counters) for part in parts], isinstance(op, ast.Or))
        case ast.Compare(ast.Name(name), [_], [ast.Constant()]) if name in counters:
            return _BOTH
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            pair = values.constant(left), values.constant(right)
            if MISSING in pair:
                return None
            try:
                return frozenset({bool(_OPERATORS[type(op)](*pair))})
            except TypeError:
                return None
        case ast.Attribute():
            value = values.constant(test)
            return None if value is MISSING else frozenset({bool(value)})
    return None


def _joined(parts: list[Truth], settling: bool) -> Truth:
    """`a or b` (settled by what holds) and `a and b`."""
    if frozenset({settling}) in parts:
        return frozenset({settling})
    if None in parts:
        return None
    some = any(settling in part for part in parts if part is not None)
    return frozenset({settling, not settling}) if some else frozenset({not settling})
