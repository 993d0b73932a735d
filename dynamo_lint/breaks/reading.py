"""Reads one function for what certainly runs in it: the breaks among that, and the lines of its calls.

A branch counts if its test is known, by what a constructor or a configuration class gives by default; both
branches of a test on `self.training` do, since a model is trained and evaluated. What stands after a branch
that may have left does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from dynamo_lint.breaks.constants import Truth, Values, truth
from dynamo_lint.breaks.names import (
    CONVERSIONS,
    LOGGING,
    MAKERS,
    OPERATIONS,
    PAIRS,
    SCALAR_METHODS,
    SHAPE_METHODS,
    SKIPPED,
    WHOLE,
    WRITING,
)

_LONGEST = 60
_COMPARING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FUNCTION, _LOOP = "function", "loop"
"""The constructs that a statement may leave."""

Place = tuple[int, str]
"""The line of a call, and the last part of what it calls, empty for `layers[0](x)`."""
Leaves = frozenset[str]
_NOTHING: Leaves = frozenset()


@dataclass(frozen=True, slots=True)
class Spot:
    """An expression at which the graph breaks."""

    line: int
    text: str
    held: bool
    """It stands in a loop or a `try`, where Dynamo cannot go on after a break."""


@dataclass(slots=True)
class Reading:
    """One function, while it is read."""

    values: Values
    tensors: set[str]
    """Local names that certainly hold a tensor."""
    counters: set[str] = field(default_factory=set)
    """Local names that count the rounds of a loop."""
    spots: list[Spot] = field(default_factory=list)
    calls: dict[Place, bool] = field(default_factory=dict)
    """The calls that certainly run, and whether Dynamo cannot go on after a break there."""

    def block(self, statements: list[ast.stmt], held: bool) -> Leaves:
        """Read statements that certainly run, and say what they may leave."""
        for number, statement in enumerate(statements):
            leaves = self._statement(statement, held)
            if leaves:
                return leaves | self._pass_over(statements[number + 1 :])
        return _NOTHING

    def _statement(self, node: ast.stmt, held: bool) -> Leaves:
        match node:
            case ast.If(test, body, orelse):
                self._test(test, held)
                return self._branches(truth(test, self.values, self.counters), body, orelse, held)
            case ast.For(target, iterable, body, orelse):
                self._expression(iterable, held)
                self._forget([target])
                if not self.values.repeats(iterable):
                    return self._pass_over([*body, *orelse]) - {_LOOP}
                self.counters.update(_counters(target, iterable))
                return (self.block(body, True) | self._pass_over(orelse)) - {_LOOP}
            case ast.While(test, body, orelse):
                self._test(test, True)
                return self._pass_over([*body, *orelse]) - {_LOOP}
            case ast.With(items, body):
                for item in items:
                    self._expression(item.context_expr, held)
                    self._forget([item.optional_vars] if item.optional_vars is not None else [])
                return self.block(body, held)
            case ast.Try(body, handlers, orelse, final):
                leaves = self.block(body, True) | self._pass_over([*handlers, *orelse])
                return leaves | (_NOTHING if leaves else self.block(final, held))
            case ast.Return(value) | ast.Expr(value):
                self._expression(value, held)
                return frozenset({_FUNCTION}) if isinstance(node, ast.Return) else _NOTHING
            case ast.Raise():
                return frozenset({_FUNCTION})
            case ast.Continue() | ast.Break():
                return frozenset({_LOOP})
            case ast.Assign(targets, value):
                self._expression(value, held)
                self._bind(targets, value)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self._expression(value, held)
                self._bind([target], value)
            case ast.AugAssign(target, _, value):
                self._expression(value, held)
            case ast.Assert() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                return self._pass_over([node])
        return _NOTHING

    def _branches(self, known: Truth, body: list[ast.stmt], orelse: list[ast.stmt], held: bool) -> Leaves:
        if known is None:
            return self._pass_over([*body, *orelse])
        leaves = [self.block(branch, held) for branch, way in ((body, True), (orelse, False)) if way in known]
        return leaves[0].intersection(*leaves)

    def _pass_over(self, nodes: Iterable[ast.AST]) -> Leaves:
        """Pass over statements that may run or not: they make names uncertain, and may leave."""
        leaves: set[str] = set()
        pending = list(nodes)
        while pending:
            node = pending.pop()
            match node:
                case ast.Return():
                    leaves.add(_FUNCTION)
                case ast.Continue() | ast.Break():
                    leaves.add(_LOOP)
                case ast.Name(name, ast.Store()):
                    self.tensors.discard(name)
            if not isinstance(node, _FUNCTIONS):
                pending += ast.iter_child_nodes(node)
        return frozenset(leaves)

    def _forget(self, targets: Iterable[ast.expr]) -> None:
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    self.tensors.discard(node.id)
                    self.counters.discard(node.id)

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        made = self._is_tensor(value)
        many = (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in PAIRS
        )
        several = many and isinstance(value, ast.Call) and self._on_tensor(value)
        self._forget(targets)
        for target in targets:
            match target:
                case ast.Name(name) if made:
                    self.tensors.add(name)
                case ast.Tuple(parts) if several:
                    self.tensors.update(part.id for part in parts if isinstance(part, ast.Name))

    # --- expressions ------------------------------------------------------------------------------------

    def _test(self, test: ast.expr, held: bool) -> None:
        self._expression(test, held)
        if self._is_tensor(test):
            self._break(test, held)

    def _expression(self, node: ast.expr | None, held: bool) -> None:
        match node:
            case None | ast.Lambda():
                return
            case ast.BoolOp(op, values):
                for value in values[:-1]:
                    self._test(value, held)
                    known = truth(value, self.values, self.counters)
                    if known is None or isinstance(op, ast.And) not in known:
                        return
                self._expression(values[-1], held)
            case ast.IfExp(test, body, orelse):
                self._test(test, held)
                known = truth(test, self.values, self.counters) or frozenset()
                for branch, way in ((body, True), (orelse, False)):
                    if way in known:
                        self._expression(branch, held)
            case ast.UnaryOp(ast.Not(), operand):
                self._test(operand, held)
            case (
                ast.ListComp(element, rounds)
                | ast.SetComp(element, rounds)
                | ast.GeneratorExp(element, rounds)
            ):
                self._expression(rounds[0].iter, held)
                if len(rounds) == 1 and not rounds[0].ifs and self.values.repeats(rounds[0].iter):
                    self._expression(element, True)
            case ast.DictComp():
                return
            case ast.Call():
                for part in ast.iter_child_nodes(node):
                    inner = part.value if isinstance(part, ast.keyword) else part
                    if isinstance(inner, ast.expr):
                        self._expression(inner, held)
                place = node.lineno, _callee(node.func)
                self.calls[place] = self.calls.get(place, False) or held
                if self._breaks(node):
                    self._break(node, held)
            case ast.expr():
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child, held)

    def _break(self, node: ast.expr, held: bool) -> None:
        text = ast.unparse(node).split("\n")[0]
        self.spots.append(Spot(node.lineno, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", held))

    def _breaks(self, node: ast.Call) -> bool:
        """Whether a call breaks the graph itself."""
        match node.func:
            case ast.Attribute(ast.Name(owner), method) if method in LOGGING and self.values.is_logger(owner):
                return self.values.writing_breaks
            case ast.Attribute(_, method) if method in SCALAR_METHODS | SHAPE_METHODS and self._on_tensor(
                node
            ):
                return self.values.captures_nothing
        dotted = self.values.dotted(node.func)
        if dotted in SKIPPED:
            return self.values.writing_breaks or not (dotted in WRITING or dotted.startswith("logging."))
        if dotted in CONVERSIONS:
            return len(node.args) == 1 and self._is_tensor(node.args[0]) and self.values.captures_nothing
        package, _, name = dotted.rpartition(".")
        shapes = name in SHAPE_METHODS or (name == "where" and len(node.args) == 1 and not node.keywords)
        return package == "torch" and shapes and self.values.captures_nothing

    def _on_tensor(self, node: ast.Call) -> bool:
        """Whether it is the call of a method of a tensor."""
        return isinstance(node.func, ast.Attribute) and self._is_tensor(node.func.value)

    def _is_tensor(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(name):
                return name in self.tensors
            case ast.Call(ast.Attribute(_, method)) if self._on_tensor(node):
                return method in OPERATIONS or (method in WHOLE and not (node.args or node.keywords))
            case ast.Call(function):
                package, _, name = self.values.dotted(function).rpartition(".")
                return package in ("torch", "torch.nn.functional") and name in MAKERS | OPERATIONS
            case ast.Compare(left, operators, others):
                compared = all(isinstance(one, _COMPARING) for one in operators)
                return compared and any(self._is_tensor(one) for one in (left, *others))
            case ast.BinOp(left, _, right):
                return self._is_tensor(left) or self._is_tensor(right)
            case ast.UnaryOp(ast.USub() | ast.Invert(), operand) | ast.Subscript(operand):
                return self._is_tensor(operand)
            case ast.BoolOp(ast.And(), [*first, last]):
                # The last value is what is left where all others hold, as they do at times.
                known = [truth(one, self.values, self.counters) for one in first]
                return self._is_tensor(last) and all(one is not None and True in one for one in known)
        return False


def _callee(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def _counters(target: ast.expr, iterable: ast.expr) -> Iterable[str]:
    """`i` of `for i, layer in enumerate(…)` and of `for i in range(…)`."""
    match target, iterable:
        case ast.Tuple([ast.Name(name), _]), ast.Call(ast.Name("enumerate")):
            return (name,)
        case ast.Name(name), ast.Call(ast.Name("range")):
            return (name,)
    return ()
