"""The parts of an expression in the index's language: what is evaluated with it, annotations left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and everything in it, outermost first."""
    pending = [expr]
    while pending:
        part = pending.pop()
        yield part
        pending += reversed(parts(part))


def arguments_of(call: facts.Call) -> tuple[Expr, ...]:
    """What a call hands over, by place and by name."""
    return parts(call)[1:]


def itself(value: Expr, methods: Collection[str]) -> Expr:
    """`Model()` of `Model().to(device).eval()`, where these methods give back their own object."""
    while isinstance(value, facts.Call) and isinstance(value.function, facts.Attribute):
        if value.function.name not in methods:
            break
        value = value.function.value
    return value


def untested(value: Expr) -> Expr:
    """An expression without what tests around it say of its value."""
    while isinstance(value, facts.Narrowed):
        value = value.value
    return value


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions right inside one."""
    match expr:
        case facts.Attribute(inner) | facts.Element(inner) | facts.Narrowed(inner):
            return (inner,)
        case facts.Call(function, arguments, keywords):
            return (function, *arguments, *(given for _, given in keywords))
        case facts.Subscript(inner, index):
            return (inner, index)
        case facts.Display(_, items, over=over):
            return (*items, *over)
        case facts.Choice(options):
            return options
    return ()
