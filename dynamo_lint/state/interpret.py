"""Abstract interpretation of one hot function: walks its statements, and summarises its effects on state."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

from dynamo_lint.index.conditions import truth_when_compiling
from dynamo_lint.index.lower import as_fact, literal_of
from dynamo_lint.models.tensor_results import tensor_parameters
from dynamo_lint.program.forward import Forward
from dynamo_lint.program.function_bodies import Opened
from dynamo_lint.state import kinds as K
from dynamo_lint.state.abstract_state import Flow, ends, indices, is_namespace, merge, unstarred
from dynamo_lint.state.model import (
    EnclosingTest,
    FunctionState,
    Key,
    Kind,
    Kinds,
    Load,
    Origin,
    Place,
    Use,
    Value,
)
from dynamo_lint.state.places import Linker
from dynamo_lint.state.transfer import Evaluator, arithmetic
from dynamo_lint.state.transfer_calls import evaluate_call

_SPELLED = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
TENSOR_FACTS = frozenset({"shape", "device", "dtype", "ndim"})


def interpret(opened: Opened, linker: Linker) -> tuple[FunctionState, int]:
    """The state summary of one function, for one class of `self`, and the steps that it took."""
    evaluator = Evaluator(opened, linker, evaluate_call)
    return _Walker(evaluator).run(), evaluator.steps


class _Test(NamedTuple):
    """A test, and the state in front of it."""

    node: ast.expr
    text: str
    never: bool
    """It does not hold in compiled code."""
    guards: frozenset[EnclosingTest]
    stored: frozenset[Place]


class _Walker(Forward[Flow, _Test]):
    """One walk, whose state is the flow of an evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__()
        self.ev = evaluator
        self.written: list[frozenset[Key]] = []
        """The attributes that are certainly written, at each way out."""
        self.returned: list[Kinds] = []

    def run(self) -> FunctionState:
        """Return the summary of the function."""
        ev = self.ev
        self._parameters()
        self.block(ev.opened.definition.body)
        if not self.ended:
            self.written.append(ev.flow.written)
        kinds = frozenset().union(*self.returned) if self.returned and all(self.returned) else K.UNKNOWN
        return FunctionState(
            tuple(ev.reads),
            tuple(ev.writes),
            tuple(ev.mutations),
            tuple(ev.calls),
            tuple(ev.lookups),
            tuple(ev.environment),
            frozenset.intersection(*self.written) if self.written else frozenset(),
            tuple(sorted(ev.consumed, key=str)),
            kinds,
        )

    def _parameters(self) -> None:
        ev = self.ev
        given = ev.opened.definition.args
        tensors = tensor_parameters(ev.linker.project, ev.linker.reference, ev.linker.receiver)
        positional = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults, *given.kw_defaults]
        for param, default in zip((*positional, *given.kwonlyargs), defaults, strict=True):
            kinds = K.UNKNOWN
            if param.annotation is not None:
                kinds = K.of_annotation_text(ev.opened.text(param.annotation))
            elif default is not None and (literal := literal_of(default)) not in (..., None):
                kinds = K.of_constant(literal)
            elif param.arg in tensors:
                kinds = frozenset({Kind.TENSOR})
            origins = frozenset({Origin("param", param.arg)})
            self._parameter(param, Value(kinds, origins=origins, place=(param.arg,)))
        for star in (given.vararg, given.kwarg):
            if star is not None:
                self._parameter(star, Value(frozenset({Kind.CONTAINER})))

    def _parameter(self, param: ast.arg, value: Value) -> None:
        load = Load((param.arg,), self.ev.opened.position(param))
        self.ev.flow.locals[param.arg] = replace(value, pending=frozenset({load}))

    # --- the state --------------------------------------------------------------------------------------

    def fork(self) -> Flow:
        """Return a copy of the flow."""
        flow = self.ev.flow
        self.ev.steps += len(flow.locals) + len(flow.stored)
        return flow.fork()

    def restore(self, state: Flow) -> None:
        """Go on with another flow."""
        self.ev.flow = state

    def join(self, test: _Test | None, ways: Sequence[Flow]) -> Flow:
        """Return what holds whichever way was taken; with what is written wherever the test holds."""
        merged = reduce(merge, ways)
        if test is None:
            return merged
        then = ways[0]
        new = {place: value for place, value in then.stored.items() if place not in test.stored}
        known = then.conditional.get(test.text, {})
        conditional = merged.conditional | ({test.text: known | new} if new else {})
        return replace(merged, guards=test.guards, conditional=conditional)

    def test(self, node: ast.expr) -> _Test:
        """Evaluate a test, unless its branch is dead in compiled code."""
        never = self._never(node)
        if not never:
            self.ev.used(node, Use.CONTROL)
        flow = self.ev.flow
        return _Test(node, self.ev.opened.text(node), never, flow.guards, frozenset(flow.stored))

    def decided(self, test: _Test) -> bool | None:
        """Return False for a test that never holds in compiled code."""
        return False if test.never else None

    @contextmanager
    def supposing(self, test: _Test | None, outcome: bool) -> Iterator[None]:
        """Guard the flow by a test: behind a branch that left, it is known how the test came out."""
        flow = self.ev.flow
        if test is not None:
            known = flow.conditional.get(test.text, {}) if outcome else {}
            flow.stored |= known
            for place in known:
                flow.written |= self.ev.linker.keys(place)
            flow.guards |= self._guards(test.node, not outcome)
        yield

    # --- statements -------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> None:
        """Run a statement, unless Dynamo runs it eagerly."""
        if not self.ev.linker.function.runs_eagerly(node.lineno):
            super().statement(node)
        elif isinstance(node, ast.If) and node.body[0].lineno == node.lineno:
            # `if not is_compiling(): a()` on one line says nothing of its `else`.
            self.block(node.orelse)

    def assign(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> None:
        """Store the value of an expression."""
        result = self.ev.value(value)
        for target in targets:
            self._assign(target, result, node)

    def augment(self, node: ast.AugAssign) -> None:
        """Store the outcome of arithmetic."""
        result = arithmetic(self.ev, self.ev.value(node.target), node.op, self.ev.value(node.value))
        self._assign(node.target, result, node)

    def evaluate(self, node: ast.expr) -> None:
        """Evaluate an expression for what it reads and calls."""
        self.ev.value(node)

    def check(self, node: ast.Assert) -> None:
        """Use what an `assert` asks; `assert self.cache is not None` says that it never is None here."""
        match node.test:
            case ast.Compare(left=left, ops=[ast.IsNot()]):
                self.ev.value(left)
            case test:
                self.ev.used(test, Use.CONTROL)

    def delete(self, targets: list[ast.expr]) -> None:
        """Take items out of containers."""
        for target in targets:
            self._assign(target, Value(), None)

    def returns(self, value: ast.expr | None) -> None:
        """Keep the kinds of what is returned, and what is written by then."""
        if value is not None:
            self.returned.append(self.ev.used(value, Use.RETURNED).kinds)
        self.written.append(self.ev.flow.written)

    def rounds(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[None]:
        """Run the head of a loop; yield where its one round starts."""
        if isinstance(node, ast.While):
            self.ev.used(node.test, Use.CONTROL)
            return self._round(None, Value(), self._guards(node.test, False))
        return self._round(node.target, self.ev.element(node.iter), frozenset())

    def _round(
        self, target: ast.expr | None, item: Value, tested: frozenset[EnclosingTest]
    ) -> Iterator[None]:
        guards = self.ev.flow.guards
        self.ev.flow.guards = guards | tested
        if target is not None:
            self.ev.bind(target, item)
        yield
        self.ev.flow.guards = guards

    def entering(self, items: list[ast.withitem]) -> AbstractContextManager[None]:
        """Evaluate context managers."""
        for entered in items:
            value = self.ev.value(entered.context_expr)
            if isinstance(entered.optional_vars, ast.Name):
                self.ev.flow.locals[entered.optional_vars.id] = replace(value, pending=frozenset())
        return nullcontext()

    def subject(self, node: ast.expr) -> None:
        """Evaluate what a `match` looks at."""
        self.ev.used(node, Use.COMPARE)

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt | None) -> None:
        ev = self.ev
        match target:
            case ast.Name(id=name):
                if name in ev.linker.function.globals:
                    if node is not None:
                        ev.store((name,), value, node)
                elif node is not None:
                    ev.name(name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                ev.bind(target, value)
                items = value.items if value.items and len(value.items) == len(elements) else None
                for number, element in enumerate(map(unstarred, elements)):
                    if not isinstance(element, ast.Name):
                        shape = Origin("shape") in value.origins
                        other = Value(frozenset({Kind.INT}) if shape else K.UNKNOWN)
                        self._assign(element, items[number] if items else other, node)
            case ast.Attribute() | ast.Subscript():
                ev.value(target.value)
                for index in indices(target) if isinstance(target, ast.Subscript) else ():
                    for end in ends(index):
                        ev.value(end)
                place = ev.place(target)
                if (
                    (isinstance(target, ast.Subscript) and self._item(target, node is None))
                    or node is None
                    or place is None
                ):
                    ev.consume(value, Use.STORED)
                elif (changed := self._replaced(place, node)) is not None:
                    for name, new in changed:
                        ev.store((*place, name), new, node)
                else:
                    ev.store(place, value, node)

    def _replaced(self, place: Place, node: ast.stmt) -> list[tuple[str, Value]] | None:
        """`self.state = replace(self.state, step=n)` sets a field of an object that cannot change."""
        match node:
            case ast.Assign(value=ast.Call(ast.Attribute(old, "_replace"), [], keywords)):
                pass
            case ast.Assign(value=ast.Call(func, [old], keywords)):
                if self.ev.linker.external(as_fact(func)) != "dataclasses.replace":
                    return None
            case _:
                return None
        if self.ev.place(old) != place:
            return None
        return [(one.arg, self.ev.value(one.value)) for one in keywords if one.arg is not None]

    def _item(self, target: ast.Subscript, deleted: bool) -> bool:
        """Note what storing an item does to its container; true if it is a tensor, which has no items."""
        ev = self.ev
        base, place = ev.value(target.value), ev.place(target.value)
        if base.kinds == {Kind.TENSOR}:
            return True
        if place is not None and not is_namespace(target.value):
            match indices(target):
                case [index] if not isinstance(index, ast.Slice):
                    ev.mutate(place, "shrink" if deleted else "item", target, ev.value(index))
        return False

    # --- tests ------------------------------------------------------------------------------------------

    def _never(self, test: ast.expr) -> bool:
        """Whether the branch is dead while compiling, or in a project that only evaluates."""
        first = test
        while isinstance(first, ast.BoolOp) and isinstance(first.op, ast.And):
            first = first.values[0]
        match first:
            case ast.Attribute(ast.Name(owner), "training"):
                if owner == self.ev.linker.self_name and self.ev.linker.only_evaluates:
                    return True
        return truth_when_compiling(test, {}) is False

    def _guards(self, test: ast.expr, negated: bool) -> frozenset[EnclosingTest]:
        """The attributes that a test asks about, seen from the branch where it held (or did not)."""
        match test:
            case ast.BoolOp(values=values):
                return frozenset[EnclosingTest]().union(*(self._guards(value, negated) for value in values))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._guards(inner, not negated)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if isinstance(op, ast.Is | ast.IsNot) and literal_of(right) is None:
                    return self._guard(left, isinstance(op, ast.Is) != negated)
                literal = literal_of(right)
                value = self.ev.value(right).constants if literal is ... else frozenset({repr(literal)})
                code = _SPELLED[type(op)] + (next(iter(value)) if value and len(value) == 1 else "?")
                code = f"not {code}" if negated else code
                return self._guard(left, False, code) | self._guard(right, False, "?")
            case ast.Call(ast.Name("hasattr"), [owner, name], []):
                base, literal = self.ev.place(owner), literal_of(name)
                if base is None or not isinstance(literal, str):
                    return frozenset()
                return frozenset(EnclosingTest(key, negated) for key in self.ev.linker.keys((*base, literal)))
            case ast.Attribute() | ast.Name() | ast.Subscript():
                return self._guard(test, negated)
            case _:
                return frozenset()

    def _guard(self, node: ast.expr, missing: bool, limit: str | None = None) -> frozenset[EnclosingTest]:
        match node:
            case ast.Call(ast.Name("len"), [inner], []):
                node = inner
            case ast.Call(ast.Attribute(inner, "size" | "numel")):
                node = inner
        place = self.ev.place(node)
        if place is None:
            return frozenset()
        # What is asked of a tensor (`self._cache.shape[0] < n`) is asked of the attribute that holds it;
        # what is asked of an object's attribute is asked of the object too.
        ends = [end for end, step in enumerate(place) if step in TENSOR_FACTS]
        place = place[: ends[0] + 1] if ends else place
        prefixes = [place[:end] for end in range(len(place), 0, -1)]
        # An item may be false in a container that is full.
        asked = prefixes[:1] if place[-1].startswith("[") else prefixes[:2]
        return frozenset(
            EnclosingTest(key, missing, limit) for prefix in asked for key in self.ev.linker.keys(prefix)
        )
