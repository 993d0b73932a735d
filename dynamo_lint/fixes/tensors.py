"""Whether an expression is a tensor, or one without dimensions, as far as the text shows."""

from __future__ import annotations

import ast
from collections import defaultdict

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.fixes.callers import may_be_replaced, passed, uses_of
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench
from dynamo_lint.index.ir import UNKNOWN
from dynamo_lint.index.lower import as_fact
from dynamo_lint.index.walking import nodes
from dynamo_lint.models import tensor_results as results
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.state import kinds as K
from dynamo_lint.state.model import Key, Kind, Kinds
from dynamo_lint.values.model import Context, ExternalInstance, FunctionValue, Instance
from dynamo_lint.values.points_to import evaluate

NOT_TENSORS = results.INT_METHODS | {"item", "tolist", "numpy"}
_BY_USE = results.TENSOR_METHODS - results.NOT_TENSOR_METHODS
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Judge:
    """Answers for the expressions of one file."""

    bench: Workbench
    file: OpenFile
    by_use: bool = False
    """What is used as hardly anything but a tensor can be counts as one."""
    assume: bool = False
    """An argument of which nothing is known counts as one as well: for edits that a person judges."""
    asked: tuple[str, Kind | None] | None = None
    """An attribute that is being asked about, and the kind that it has so far."""
    kept: str | None = None
    """The name of an attribute that is a tensor once the edits are made."""

    def is_tensor(self, node: ast.expr, depth: int = 0, names: frozenset[str] = frozenset()) -> bool:
        """Certainly a tensor; `names` are those that are being asked, each one if it was one before."""
        if depth > _DEPTH:
            return False
        match node:
            case ast.Name(id=name):
                values = self.bound(node, name)
                if name in names:
                    return not self.is_parameter(node, name) or self._is_tensor_parameter(node, name)
                if values:
                    names |= {name}
                    return all(
                        value is not None and self.is_tensor(value, depth + 1, names) for value in values
                    )
                return self._is_tensor_parameter(node, name)
            case ast.BinOp(left=left, right=right):
                return self.is_tensor(left, depth + 1, names) or self.is_tensor(right, depth + 1, names)
            case ast.UnaryOp(op=ast.USub(), operand=value) | ast.Subscript(value=value):
                return self.is_tensor(value, depth + 1, names)
            case ast.Attribute(attr=attr) if attr == self.kept:
                return True
            case ast.Attribute(value=value, attr="T" | "mT" | "data" | "grad"):
                return self.is_tensor(value, depth + 1, names)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if self.is_tensor(
                value, depth + 1, names
            ):
                return attr not in NOT_TENSORS
            case ast.Call(func=ast.Attribute(attr=attr)) if self.by_use and attr in _BY_USE:
                return True
            case ast.Call(func=func):
                return self._makes_tensor(func)
        return False

    def is_scalar(self, node: ast.expr, depth: int = 0) -> bool:
        """Certainly a floating point tensor without dimensions, or a Python number."""
        if depth > _DEPTH:
            return False
        match node:
            case ast.Constant(value=value):
                return isinstance(value, int | float) and not isinstance(value, bool)
            case ast.Name(id=name):
                values = self.bound(node, name)
                return bool(values) and all(v is not None and self.is_scalar(v, depth + 1) for v in values)
            case ast.BinOp(left=left, op=op, right=right):
                plain = isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow)
                return plain and self.is_scalar(left, depth + 1) and self.is_scalar(right, depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=value):
                return self.is_scalar(value, depth + 1)
            case ast.Attribute() if self.kinds(node):
                return self.kinds(node) <= {Kind.INT, Kind.FLOAT}
            case ast.Call(func=ast.Attribute(attr=attr), args=[], keywords=[]) if attr in results.SCALARS:
                return self.is_tensor(node.func.value)  # type: ignore[attr-defined]
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in results.ELEMENTWISE:
                return self.is_scalar(value, depth + 1)
            case ast.Call(func, [argument], []) if self._named(func, "torch", results.SCALARS):
                return self.is_tensor(argument)
            case ast.Call(func, _, keywords) if self._named(func, "torch.nn.functional", results.LOSSES):
                return all(keyword.arg != "reduction" for keyword in keywords)
        return self.number(node, depth + 1) in {Kind.INT, Kind.FLOAT}

    def number(self, node: ast.expr, depth: int = 0) -> Kind | None:
        """The kind of a Python number that the expression certainly is."""
        if depth > _DEPTH:
            return None
        match node:
            case ast.Constant(value=bool()) | ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                numbers = [*node.comparators, node.left] if isinstance(node, ast.Compare) else []
                return Kind.BOOL if all(self.number(one, depth + 1) for one in numbers) else None
            case ast.Constant(value=int()):
                return Kind.INT
            case ast.Constant(value=float()):
                return Kind.FLOAT
            case ast.UnaryOp(op=ast.USub(), operand=value):
                return self.number(value, depth + 1)
            case ast.BinOp(left=left, op=op, right=right):
                sides = {self.number(left, depth + 1), self.number(right, depth + 1)}
                if not sides <= {Kind.INT, Kind.FLOAT}:
                    return None
                return Kind.FLOAT if Kind.FLOAT in sides or isinstance(op, ast.Div | ast.Pow) else Kind.INT
            case ast.Name(id=name):
                values = self.bound(node, name)
                if values == [None] and self._counts(node, name):
                    return Kind.INT
                if not values:
                    return self._annotated(node, name)
                found = {self.number(value, depth + 1) if value is not None else None for value in values}
                return found.pop() if len(found) == 1 else None
            case ast.Call(func=ast.Name(id="len" | "int"), args=[_]):
                return Kind.INT
            case ast.Call(func=ast.Name(id="float"), args=[_]):
                return Kind.FLOAT
            case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_], keywords=[]):
                kinds = {self.number(value, depth + 1) for value in node.args}
                return kinds.pop() if len(kinds) == 1 else None
            case ast.Attribute(attr=name) if self.asked is not None and name == self.asked[0]:
                return self.asked[1]
            case ast.Attribute():
                held = self.kinds(node)
                return next(iter(held)) if len(held) == 1 and held <= K.NUMBERS else None
            case ast.Subscript(ast.Attribute(owner, "shape"), ast.Constant() | ast.UnaryOp(ast.USub())):
                return Kind.INT if self.is_tensor(owner) else None
            case ast.Call(func=ast.Attribute(value=owner, attr="numel" | "dim"), args=[]):
                return Kind.INT if self.is_tensor(owner) else None
        return None

    def _annotated(self, node: ast.Name, name: str) -> Kind | None:
        """The declared kind of a parameter."""
        scope = self.file.scope(node)
        for parameter in scope.args.args if scope is not None else ():
            match parameter:
                case ast.arg(arg=arg, annotation=ast.Name(id="int" | "float" | "bool" as word)) if (
                    arg == name
                ):
                    return Kind(word)
        return None

    def _counts(self, node: ast.Name, name: str) -> bool:
        """The name is the variable of a loop over `range`, or the index of one over `enumerate`."""
        scope = self.file.scope(node)
        for inner in ast.walk(scope or self.file.tree):
            match inner:
                case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))) if _is(target, name):
                    return True
                case ast.For(
                    target=ast.Tuple(elts=[first, _]), iter=ast.Call(func=ast.Name(id="enumerate"))
                ) if _is(first, name):
                    return True
        return False

    def kinds(self, node: ast.expr) -> Kinds:
        """The kinds of `self.name` and the like, from what the project stores there."""
        if not isinstance(node, ast.Attribute):
            return K.UNKNOWN
        where = self.file.reference(node)
        owners = evaluate(
            self.bench.tables.project,
            as_fact(node.value),
            Context(where, self.bench.tables.project.owner(where)),
        )
        refs = [value.ref for value in owners if isinstance(value, Instance)]
        found = [self.bench.tables.initial.kinds(Key(ref, node.attr)) for ref in refs]
        return frozenset().union(*found) if found and all(found) else K.UNKNOWN

    def bound(self, node: ast.Name, name: str) -> list[ast.expr | None]:
        """The expressions assigned to a local name; None stands for something that cannot be read off."""
        scope = self.file.scope(node) or self.file.tree
        if scope not in self.bench.assigned:
            self.bench.assigned[scope] = _assigned(scope, self.file.parents)
        return self.bench.assigned[scope].get(name, [])

    def may_hold(self, node: ast.AST, attribute: str) -> bool:
        """Whether a node is a local name that is given something with an attribute of a name in it."""
        values = self.bound(node, node.id) if isinstance(node, ast.Name) else []
        parts = (part for value in values if value is not None for part in nodes(value))
        return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in parts)

    def is_parameter(self, node: ast.Name, name: str) -> bool:
        """Whether the function around a node, or one in it, takes an argument of a name."""
        scope = self.file.scope(node)
        return scope is not None and any(
            isinstance(one, ast.arg) and one.arg == name for one in ast.walk(scope)
        )

    def _is_tensor_parameter(self, node: ast.Name, name: str) -> bool:
        scope = self.file.scope(node)
        if scope is None:
            return False
        where, project = self.file.reference(node), self.bench.tables.project
        if self.by_use and name in results.tensor_parameters(project, where, project.owner(where)):
            return True
        parameters = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
        for number, parameter in enumerate(parameters):
            if parameter.arg == name and parameter.annotation is not None:
                return ast.unparse(parameter.annotation).rpartition(".")[2] == "Tensor"
            if parameter.arg == name:
                unknown = self.assume and name not in ("self", "cls") and not scope.args.defaults
                return unknown or (number == 1 and scope.name == "forward") or self._is_passed(scope, name)
        return False

    def _is_passed(self, scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
        """Whether each call of a function hands over a tensor for a parameter, and all of them are known."""
        asked = "tensor is passed", self.file.path, scope.lineno, name, self.by_use, self.assume, self.kept
        if asked not in self.bench.memo:
            self.bench.memo[asked] = False  # also while it is asked for
            owner = self.bench.tables.project.owner(self.file.reference(scope.body[0]))
            bound = owner is not None and "staticmethod" not in map(ast.unparse, scope.decorator_list)
            try:
                uses = list(uses_of(self.bench, self.file, scope))
            except Unclear:
                uses = []
            given = [(use.file, passed(use, scope, name, bound)) for use in uses]
            self.bench.memo[asked] = bool(given) and all(
                value is not None and replace(self, file=file).is_tensor(value) for file, value in given
            )
        return bool(self.bench.memo[asked])

    def _makes_tensor(self, func: ast.expr) -> bool:
        where = self.file.reference(func)
        project = self.bench.tables.project
        expr = as_fact(func)
        if expr == UNKNOWN:
            return False
        for symbol in project.symbols(expr, where.path, where.key):
            if isinstance(symbol, ExternalSymbol):
                return symbol.dotted.startswith("torch.nn.functional.") or K.of_call(symbol.dotted) == {
                    Kind.TENSOR
                }
        values = evaluate(project, expr, Context(where, project.owner(where)))
        return bool(values) and all(
            (isinstance(value, ExternalInstance) and value.dotted.startswith("torch.nn."))
            or (isinstance(value, FunctionValue) and self._returns_tensor(value.ref))
            for value in values
        )

    def _returns_tensor(self, where: FunctionRef) -> bool:
        """Whether whatever a function of the project returns is a tensor."""
        asked = "tensor is returned", where, self.by_use, self.assume, self.kept
        if asked not in self.bench.memo:
            self.bench.memo[asked] = False  # also while it is asked for
            file = self.bench.file(where.path)
            scope = file.definition(self.bench.tables.project.function(where)) if file is not None else None
            if file is not None and isinstance(scope, ast.FunctionDef):
                own = [one for one in nodes(scope) if file.scope(one) is scope]
                returned = [one.value for one in own if isinstance(one, ast.Return)]
                plain = not scope.decorator_list and isinstance(scope.body[-1], ast.Return)
                plain &= not may_be_replaced(self.bench, where, scope.name)
                plain &= not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own)
                judge = replace(self, file=file)
                self.bench.memo[asked] = plain and all(
                    value is not None and judge.is_tensor(value) for value in returned
                )
        return bool(self.bench.memo[asked])

    def _named(self, func: ast.expr, module: str, names: frozenset[str] | tuple[str, ...]) -> bool:
        where = self.file.reference(func)
        return any(
            isinstance(symbol, ExternalSymbol)
            and symbol.dotted.startswith(f"{module}.")
            and symbol.dotted.removeprefix(f"{module}.") in names
            for symbol in self.bench.tables.project.symbols(as_fact(func), where.path, where.key)
        )


def _is(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _assigned(scope: ast.AST, parents: dict[ast.AST, ast.AST]) -> dict[str, list[ast.expr | None]]:
    """The expressions assigned to each name in a scope."""
    found: dict[str, list[ast.expr | None]] = defaultdict(list)
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                for name in dict.fromkeys(t.id for t in targets if isinstance(t, ast.Name)):
                    found[name].append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                found[name].append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found[name].append(value)
            case ast.Name(id=name, ctx=ast.Store()):
                if not isinstance(parents[node], ast.Assign | ast.AnnAssign | ast.AugAssign):
                    found[name].append(None)
    return found


_FLOATING = frozenset({"mean", "std", "var"})
"""Reductions that no tensor of ints or bools has."""
_WHOLE = frozenset({"amax", "amin", "max", "min"}) | _FLOATING
_ELEMENTWISE = frozenset({"abs", "clone", "contiguous", "detach", "neg"})
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a tensor was computed of another, in steps whose type and device hang on that one alone."""

    name: str
    """The local name of that other tensor."""
    floating: bool = False
    """It is no tensor of ints or bools: a step on the way takes none."""
    kinds: frozenset[Kind] = frozenset()
    """The kinds of the numbers that it was computed with."""
    reduced: bool = False
    """It has no dimensions."""
    linear: bool = True
    """Each element was added to, or multiplied by, numbers alone: no value of it makes the gradient NaN."""
    itself: bool = False
    """It is that tensor, or may be a view of it."""

    def alike(self, other: Lineage) -> bool:
        """Whether two tensors certainly have one type and one device."""
        floating = self.floating or other.floating
        return self.name == other.name and (floating or self.kinds == other.kinds)


def lineage(judge: Judge, node: ast.expr, depth: int = 0) -> Lineage | None:
    """The origin of a tensor; None if it comes from several, or by steps that are not plain."""
    if depth > _DEEPEST or not judge.is_tensor(node):
        return None
    match node:
        case ast.Name(name):
            return _of_name(judge, node, name, depth)
        case ast.UnaryOp(ast.USub(), operand):
            inner = lineage(judge, operand, depth + 1)
            return inner and replace(inner, itself=False)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult(), right):
            return _of_arithmetic(judge, left, right, depth)
        case ast.Call(ast.Attribute(value, name), [], []) if name in _ELEMENTWISE | _WHOLE:
            inner = lineage(judge, value, depth + 1)
            return inner and replace(
                inner,
                floating=inner.floating or name in _FLOATING,
                reduced=inner.reduced or name in _WHOLE,
                linear=inner.linear and name in _ELEMENTWISE - {"abs"},
                itself=inner.itself and name in {"contiguous", "detach"},
            )
    return None


def _of_name(judge: Judge, node: ast.Name, name: str, depth: int) -> Lineage | None:
    bound = judge.bound(node, name)
    if not bound:
        return Lineage(name, itself=True)
    if len(bound) > 1 or bound[0] is None or judge.is_parameter(node, name):
        return None
    inner = lineage(judge, bound[0], depth + 1)
    return replace(inner, itself=True) if inner is not None else Lineage(name, itself=True)


def _of_arithmetic(judge: Judge, left: ast.expr, right: ast.expr, depth: int) -> Lineage | None:
    sides = [lineage(judge, one, depth + 1) for one in (left, right)]
    numbers = [judge.number(one) for one in (left, right)]
    match sides, numbers:
        case [Lineage() as side, None], [_, Kind() as kind]:
            return replace(side, kinds=side.kinds | {kind}, itself=False)
        case [None, Lineage() as side], [Kind() as kind, _]:
            return replace(side, kinds=side.kinds | {kind}, itself=False)
        case [Lineage() as one, Lineage() as other], _ if one.alike(other):
            reduced = one.reduced and other.reduced
            return Lineage(one.name, one.floating or other.floating, one.kinds, reduced, linear=False)
    return None
