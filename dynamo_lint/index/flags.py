"""Tests of an attribute for itself: `if block.moe_enabled:`, `getattr(block, "moe_enabled", False)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from dynamo_lint.index.conjuncts import conjuncts
from dynamo_lint.index.facts import (
    Attribute,
    Binding,
    Call,
    Choice,
    Constant,
    Display,
    Expr,
    Name,
    Narrowed,
    Parameter,
)
from dynamo_lint.index.having import left_by

FLAG = "flag"
"""The kind of a `Display` of an attribute that a value is shown to have on, instead of types."""

FLAGGED = frozenset({ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp})
"""The tests that may be of an attribute."""

SWITCHED = frozenset({ast.Name, ast.UnaryOp, ast.BoolOp})
"""The tests that may be of a parameter for itself."""

_NONE: Mapping[str, ast.expr] = {}

Flag = tuple[int, int, str, bool]
"""Lines that run only if an attribute of `self` is on, or off."""

Lines = tuple[int, int, str]
"""Lines that run only if an attribute of `self` is not None."""


def tests_flag(types: Expr) -> bool:
    """Whether a fact is about an attribute that is on or off."""
    return isinstance(types, Display) and types.kind == FLAG


def amount_asked(test: ast.expr) -> tuple[str | None, bool]:
    """The name that a test asks to be more than nothing, `p` or `p > 0`, and whether it holds if it is."""
    match list(conjuncts(test, True)):
        case [(ast.Name(name) | ast.Compare(ast.Name(name), [ast.Gt()], [ast.Constant(0)]), on)]:
            return name, on
    return None, True


def compiled_if(
    call: Call,
    tests: Iterable[tuple[ast.expr, bool]],
    bindings: list[Binding],
    answers: Mapping[str, ast.expr],
) -> Call:
    """A call that may compile something, of what tests of its own attributes around it leave of that.

    `answers` are names that hold what was asked of an attribute: `blocks = getattr(model, "blocks", None)`.
    """
    facts = [
        fact
        for test, holds in tests
        for fact in flags(test, holds, answers)
        if not any(Name(one.name) == _root(fact) and one.line > test.lineno for one in bindings)
    ]
    if not facts:
        return call
    function = call.function
    if isinstance(function, Attribute):
        function = Attribute(left_by(function.value, facts), function.name)
    arguments = tuple(left_by(argument, facts) for argument in call.arguments)
    return Call(function, arguments, call.keywords, call.line)


def _root(fact: Narrowed) -> Expr:
    return fact.value.value if isinstance(fact.value, Attribute) else fact.value


def is_switch(parameter: Parameter) -> bool:
    """Whether a parameter is on or off, as its default or its annotation says."""
    default = parameter.default.value if isinstance(parameter.default, Constant) else None
    return isinstance(default, bool) or parameter.annotation == Name("bool")


def switched(test: ast.expr, holds: bool) -> Iterator[tuple[str, bool]]:
    """The names that are on or off themselves where a test holds, or where it does not."""
    return ((one.id, on) for one, on in conjuncts(test, holds) if isinstance(one, ast.Name))


def may_be_off(value: Expr) -> bool:
    """Whether a value may be nothing by its own words: `None`, `m if on else None`, `getattr(m, "n", 0)`."""
    match value:
        case Constant(literal):
            return not literal
        case Choice(options):
            return any(map(may_be_off, options))
        case Call(Name("getattr"), (_, _, Constant(literal))):
            return not literal
    return False


def ranges(test: ast.expr, first: int, last: int, own: str, holds: bool) -> Iterator[Flag]:
    """The lines of a branch with what its test shows of the attributes of `self`."""
    for fact in flags(test, holds):
        match fact.value, fact.types:
            case Name(name), Display(_, (Constant(str() as attribute), *_)) if name == own:
                yield first, last, attribute, fact.holds


def filled_in(test: ast.expr, first: int, last: int, own: str, holds: bool) -> Iterator[Lines]:
    """The lines of a branch that need an attribute of `self` not to be None."""
    for one, on in conjuncts(test, holds):
        match one:
            case ast.Compare(ast.Attribute(ast.Name(name), attribute), [operator], [ast.Constant(None)]):
                if name == own and isinstance(operator, ast.IsNot if on else ast.Is):
                    yield first, last, attribute


def _named(owner: ast.expr) -> Iterator[Expr]:
    """The object that is asked, as the facts have it: a name, or an attribute of one."""
    match owner:
        case ast.Name(id=name):
            yield Name(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield Attribute(Name(name), attribute)


def flags(test: ast.expr, holds: bool, answers: Mapping[str, ast.expr] = _NONE) -> Iterator[Narrowed]:
    """The attributes of names that are on or off where a test holds, or where it does not."""
    for one, on in conjuncts(test, holds):
        match one:
            case ast.Name(id=name) if name in answers:
                yield from flags(answers[name], on)
            case ast.Compare(
                left=asked, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]
            ):
                if on is isinstance(op, ast.Is):  # what is not None may be off all the same
                    yield from flags(asked, False, answers)
            case ast.Compare(left=ast.Attribute() as asked, ops=[ast.Gt()], comparators=[ast.Constant(0)]):
                yield from flags(asked, on, answers)  # a rate, or a number of something: never negative
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                yield Narrowed(Name(name), Display(FLAG, (Constant(attribute),)), on)
            case ast.Call(
                func=ast.Name(id="getattr"),
                args=[owner, ast.Constant(value=str() as attribute), ast.Constant(value=default)],
            ):
                known = (Constant(attribute), Constant(bool(default)))
                yield from (Narrowed(asked, Display(FLAG, known), on) for asked in _named(owner))
