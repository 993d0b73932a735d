"""Parameter shapes that differ between instances."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.instances.terms import CODE, Term, data, decider, leaves

Column = tuple[Term, ...]
"""A value for every instance."""
Tests = tuple[tuple[Term, bool], ...]


@dataclass(slots=True)
class Shapes:
    """Collected while instances are compared; asked when all are known."""

    known: dict[Tests, list[Column]] = field(default_factory=dict)
    """Shape arguments of parameters, by the tests that have to come out so for these to be there."""
    under: Tests = ()
    """The tests around what is looked at, each the same for all instances."""
    within: frozenset[Term] = frozenset()
    """The tests around it that only some instances pass."""
    optional: dict[Column, frozenset[Term]] = field(default_factory=dict)
    """Shapes of parts that only some instances have, with the tests for them."""

    def add(self, column: Column) -> None:
        """A shape argument."""
        self.known.setdefault(self.under, []).append(column)
        self.optional[column] = self.optional.get(column, self.within) & self.within

    @contextmanager
    def passing(self, test: Term) -> Iterator[None]:
        """Add, while it is open, only for the instances that pass a test."""
        outer = self.within
        self.within = outer | {test}
        yield
        self.within = outer

    @contextmanager
    def supposing(self, test: Term, outcome: bool) -> Iterator[None]:
        """Add, while it is open, only where a test comes out so."""
        outer = self.under
        while test.kind == "not":
            test, outcome = test.parts[0], not outcome
        self.under = (*outer, (test, outcome))
        yield
        self.under = outer

    def settle(self) -> None:
        """Count as there for certain what has something in its place if a test comes out otherwise."""
        for length in range(max(map(len, self.known), default=0), 0, -1):
            for under in [tests for tests in self.known if len(tests) == length]:
                *outer, (test, outcome) = under
                if (*outer, (test, not outcome)) in self.known:
                    self.known.setdefault(tuple(outer), []).extend(self.known[under])

    def decide(self, values: Column, index: tuple[int, ...], under: Tests, test: Term | None = None) -> bool:
        """Whether values, of some of the instances, are the same wherever the shapes are.

        `test` is what chooses them: the shapes of a part say nothing of whether it is there.
        """
        # A stage of other width is compiled anew for its width; what changes along costs nothing more.
        columns = [
            column
            for tests, those in self.known.items()
            if under[: len(tests)] == tests or not _chosen(values)
            for column in those
            if test not in self.optional[column]
        ]
        if not columns or _literal(values):
            return False
        everywhere = list(zip(*columns, strict=True))
        signatures = [everywhere[number] for number in index]
        if len(set(signatures)) < 2:
            return False
        literal = all(width.kind == "const" for column in columns for width in column)
        code = any(value.kind in CODE | {"length"} for value in values)
        if not literal and code and not _asks_for_widths(values, signatures):
            # Widths that a configuration gives may be equal: other parts make other code then.
            return False
        if not literal and test is not None and _asks_apart_from_widths(values, signatures):
            return False
        seen: dict[Column, Term] = {}
        return all(seen.setdefault(s, v) is v for s, v in zip(signatures, values, strict=True))


def _chosen(values: Column) -> bool:
    """Some have a literal: that differs from what the others have, where entries of a list need not."""
    return any(leaf.kind == "const" for value in values for leaf in leaves(value))


def _asks_for_widths(values: Column, signatures: list[Column]) -> bool:
    """A test that nobody can decide asks for nothing but widths, and comes out the same with them."""
    chosen = [
        (value, widths) for value, widths in zip(values, signatures, strict=True) if value.kind == "ite"
    ]
    return any(data(decider(value)) <= frozenset().union(*map(data, widths)) for value, widths in chosen)


def _asks_apart_from_widths(values: Column, signatures: list[Column]) -> bool:
    """Every instance has a part or not by an entry of a list of its own, which is none of the widths."""
    if any(value.kind != "ite" for value in values):
        return False
    asked = frozenset().union(*(data(decider(value)) for value in values))
    if any(entry.kind != "item" for entry in asked):
        return False
    return asked.isdisjoint(frozenset().union(*map(data, set(chain.from_iterable(signatures)))))


def _literal(values: Column) -> bool:
    """Literals, or settings among which one is a literal in all instances."""
    if all(value.kind == "seq" for value in values):
        columns = zip(*(value.parts for value in values), strict=True)
        return any(len(set(column)) > 1 and all(one.kind == "const" for one in column) for column in columns)
    return all(value.kind == "const" for value in values)
