"""A forward walk over the statements of a function: order, branches, loops and ways out.

A subclass says what a statement does to the abstract state; where control goes is decided here, once.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

State = TypeVar("State")
Test = TypeVar("Test")
FUNCTION, LOOP, RAISE = "function", "loop", "raise"
"""The ways by which control leaves a block."""
_LEAVING: dict[type[ast.stmt], str] = {ast.Break: LOOP, ast.Continue: LOOP, ast.Raise: RAISE}
_TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))
"""`TryStar` exists from Python 3.11 on."""


class Forward(ABC, Generic[State, Test]):
    """Runs statements over an abstract state, both ways of a test that is not decided.

    `State` is what ways are joined to where they meet, `Test` the value of a test.
    """

    def __init__(self) -> None:
        self.ended = False
        """Control never gets here."""
        self.exits: frozenset[str] = frozenset()
        """How control may have left so far: out of the function, or out of the innermost loop's round."""
        self.left: list[State] = []
        """The states where it left that round."""

    # --- the state, by a subclass -----------------------------------------------------------------------

    @abstractmethod
    def fork(self) -> State:
        """Return a copy of the state."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a state that nothing else keeps."""

    @abstractmethod
    def join(self, test: Test | None, ways: Sequence[State]) -> State:
        """Return the state where ways meet; with a test, those where it holds and where it does not."""

    @abstractmethod
    def test(self, node: ast.expr) -> Test:
        """Evaluate a test."""

    @abstractmethod
    def decided(self, test: Test) -> bool | None:
        """Return how a test comes out; None if it may come out either way."""

    def supposing(self, test: Test | None, outcome: bool) -> AbstractContextManager[None]:
        """Return a context in which a test came out so; without one, in which something unknown did."""
        return nullcontext()

    # --- statements, by a subclass ----------------------------------------------------------------------

    @abstractmethod
    def assign(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> None:
        """Evaluate a value and give it to targets."""

    @abstractmethod
    def augment(self, node: ast.AugAssign) -> None:
        """Run `target += value` or its like."""

    @abstractmethod
    def evaluate(self, node: ast.expr) -> None:
        """Evaluate an expression whose value nobody gets."""

    def check(self, node: ast.Assert) -> None:
        """Run an `assert`."""

    def delete(self, targets: list[ast.expr]) -> None:
        """Run a `del`."""

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Bind the name of a definition."""

    @abstractmethod
    def returns(self, value: ast.expr | None) -> None:
        """Run what a function returns."""

    @abstractmethod
    def rounds(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[None]:
        """Run the head of a loop; yield, with the target bound, where each round starts."""

    @abstractmethod
    def entering(self, items: list[ast.withitem]) -> AbstractContextManager[None]:
        """Return a context in which context managers are entered."""

    def subject(self, node: ast.expr) -> None:
        """Run what a `match` looks at."""
        self.test(node)

    def trying(self, node: ast.Try) -> AbstractContextManager[None]:
        """Return a context in which the body of a `try` runs."""
        return nullcontext()

    def handle(self, handlers: list[ast.ExceptHandler], before: State) -> None:
        """Run the handlers of a `try`: each is one more way, from the state in front of it."""
        self._beside(before, [handler.body for handler in handlers])

    def turned(self, ways: list[State]) -> None:
        """End a round of a loop; `ways` are the states in front of it, at its end, and where control left."""
        self.restore(self.join(None, ways))
        self.ended = False

    # --- control ----------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Run statements until control leaves."""
        for statement in body:
            if self.ended:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Run one statement."""
        match node:
            case ast.Assign(targets, value):
                self.assign(targets, value, node)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.assign([target], value, node)
            case ast.AugAssign():
                self.augment(node)
            case ast.Expr(value):
                self.evaluate(value)
            case ast.If(test, body, orelse):
                self._if(self.test(test), body, orelse)
            case ast.Return(value):
                self.returns(value)
                self._leave(FUNCTION)
            case ast.Raise() | ast.Break() | ast.Continue():
                self._leave(_LEAVING[type(node)])
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(node)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                with self.entering(items):
                    self.block(body)
            case ast.Match(subject, cases):
                self.subject(subject)
                self._beside(self.fork(), [case.body for case in cases])
            case _ if isinstance(node, _TRY):
                self._try(node)
            case ast.Assert():
                self.check(node)
            case ast.Delete(targets):
                self.delete(targets)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.define(node)

    def _leave(self, way: str) -> None:
        if way == LOOP:
            self.left.append(self.fork())
        self.exits |= {way}
        self.ended = True

    def _if(self, test: Test, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        known = self.decided(test)
        if known is not None:
            self.block(body if known else orelse)
            return
        before = self.fork()
        with self.supposing(test, True):
            self.block(body)
        then_ended, self.ended = self.ended, False
        then = self.fork()
        self.restore(before)
        with self.supposing(test, False):
            self.block(orelse)
        if self.ended and not then_ended:
            self.restore(then)
        elif not self.ended and not then_ended:
            self.restore(self.join(test, [then, self.fork()]))
        self.ended = self.ended and then_ended

    def _beside(self, before: State, bodies: list[list[ast.stmt]]) -> None:
        """Run blocks from one state, of which any or none may run, and join them with the current way."""
        ways = [] if self.ended else [self.fork()]
        for body in bodies:
            self.restore(before)
            before, self.ended = self.fork(), False
            with self.supposing(None, True):
                self.block(body)
            if not self.ended:
                ways.append(self.fork())
        self.ended = not ways
        if ways:
            self.restore(ways[0] if len(ways) == 1 else self.join(None, ways))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        rounds, exits, left = self.rounds(node), self.exits, self.left
        before, self.exits = self.fork(), frozenset()
        for _ in rounds:
            self.left = []
            self.block(node.body)
            self.turned([before, *self.left] if self.ended else [before, *self.left, self.fork()])
        self.exits, self.left = exits | (self.exits - {LOOP}), left
        if not self.ended:
            self.block(node.orelse)

    def _try(self, node: ast.Try) -> None:
        before = self.fork()
        with self.trying(node):
            self.block(node.body)
        if not self.ended:
            self.block(node.orelse)
        self.handle(node.handlers, before)
        ended, self.ended = self.ended, False
        self.block(node.finalbody)
        self.ended = self.ended or ended
