"""What code says of the attributes of objects: `hasattr(x, "name")`, and what `__init__` sets."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dynamo_lint.index.facts import Attribute, Call, Constant, Display, Expr, Name, Narrowed
from dynamo_lint.index.walking import untested

HAVING = "having"
"""The kind of a `Display` that lists attributes, any of which a value is shown to have, instead of types."""


def tests_attributes(types: Expr) -> bool:
    """Whether a fact is about what attributes a value has."""
    return isinstance(types, Display) and types.kind == HAVING


def attributes_in(types: Expr) -> list[str]:
    """The attributes that a fact is about."""
    items = types.items if isinstance(types, Display) else ()
    return [item.value for item in items if isinstance(item, Constant) and isinstance(item.value, str)]


def compiled_where(call: Call, known: Iterable[Narrowed | None]) -> Call:
    """A call that may compile something, of what the tests around it leave of what it compiles.

    Elsewhere such a test says no more than the use of the attribute itself, which stands behind most.
    """
    shown = (fact for fact in known if fact is not None and fact.value != Name("self"))
    tests = [f for f in shown if tests_attributes(f.types) or isinstance(f.value, Attribute)]
    if not tests:
        return call
    function = _left(call.function, tests)
    return Call(function, tuple(_left(part, tests) for part in call.arguments), call.keywords, call.line)


def _left(value: Expr, tests: list[Narrowed]) -> Expr:
    if isinstance(value, Attribute):
        value = Attribute(_left(value.value, tests), value.name)
    return left_by(value, tests)


def left_by(value: Expr, tests: list[Narrowed]) -> Expr:
    """A value as far as those of some tests that are about itself leave it."""
    inner = untested(value)
    left: Expr = value
    for fact in tests:
        if fact.value == inner:
            left = Narrowed(left, fact.types, fact.holds)
    return left


def set_either_way(node: ast.AST) -> tuple[str, ...]:
    """The attributes that an `__init__` sets in every branch of some `if`: lines do not tell that."""
    match node:
        case ast.FunctionDef(name="__init__", args=ast.arguments(args=[ast.arg(arg=own), *_]), body=body):
            branching = (statement for statement in body if isinstance(statement, ast.If))
            return tuple(sorted({name for statement in branching for name in _set_in(statement, own) or ()}))
    return ()


def _set_in(statement: ast.stmt, own: str) -> set[str] | None:
    """The attributes that a statement sets on every way through it; None if there is no way through."""
    match statement:
        case ast.Raise():
            return None
        case ast.If(body=body, orelse=orelse):
            ways = [names for names in (_set_by(body, own), _set_by(orelse, own)) if names is not None]
            return set.intersection(*ways) if ways else None
        case ast.Assign(targets=targets):
            return {t.attr for t in targets if isinstance(t, ast.Attribute) and is_name(t.value, own)}
        case ast.AnnAssign(ast.Attribute(owner, name), value=ast.expr()) if is_name(owner, own):
            return {name}
    return set()


def _set_by(body: list[ast.stmt], own: str) -> set[str] | None:
    found: set[str] = set()
    for statement in body:
        names = _set_in(statement, own)
        if names is None:
            return None
        found |= names
    return found


def is_name(node: ast.AST, name: str) -> bool:
    """Whether an expression is this very name."""
    return isinstance(node, ast.Name) and node.id == name
