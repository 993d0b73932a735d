"""What a test says about names: `isinstance(x, A)`, `key == "head"`, alone or in `and`, `or` and `not`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from dynamo_lint.index.conjuncts import conjuncts
from dynamo_lint.index.facts import (
    UNKNOWN,
    Attribute,
    Call,
    Choice,
    Constant,
    Display,
    Element,
    Expr,
    Name,
    Narrowed,
    Subscript,
)
from dynamo_lint.index.having import HAVING, attributes_in, tests_attributes

TELLING = frozenset({ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Name})
"""The tests that may say anything."""

_NONE: Mapping[str, ast.expr] = {}

TEXT = "text"
"""The kind of a `Display` that lists the texts that a name may be, instead of types of its value."""


def narrowings(
    test: ast.expr,
    read_type: Callable[[ast.expr], Expr | None],
    holds: bool = True,
    answers: Mapping[str, ast.expr] = _NONE,
) -> Iterator[Narrowed]:
    """The names whose type or text is known where `test` is true, or where it is not if `holds` is false.

    `read_type` translates the types themselves; `answers` are names that hold the answer of a test.
    """
    for one, on in conjuncts(test, holds):
        yield from _narrowings(one, read_type, on, answers)


def _narrowings(
    test: ast.expr, read_type: Callable[[ast.expr], Expr | None], holds: bool, answers: Mapping[str, ast.expr]
) -> Iterator[Narrowed]:
    match test:
        case ast.Name(id=name) if name in answers:
            yield from narrowings(answers[name], read_type, holds)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), types]):
            yield Narrowed(Name(name), read_type(types) or UNKNOWN, holds)
        case ast.Call(
            func=ast.Name(id="isinstance"), args=[ast.Attribute(value=ast.Name(id=name), attr=attr), types]
        ):
            yield Narrowed(Attribute(Name(name), attr), read_type(types) or UNKNOWN, holds)
        case ast.Call(
            func=ast.Name(id="hasattr"), args=[ast.Name(id=name), ast.Constant(value=str() as text)]
        ):
            yield Narrowed(Name(name), Display(HAVING, (Constant(text),)), holds)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]),
            ops=[ast.Is() | ast.Eq()],
            comparators=[types],
        ) if holds:
            yield Narrowed(Name(name), read_type(types) or UNKNOWN)
        case ast.Compare(left=ast.Attribute(value=of, attr="__name__" | "__qualname__")):
            yield from _by_class_name(test, _whose_class(of), holds)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() as op]):
            texts = _texts(test.comparators[0])
            if texts:
                same = isinstance(op, ast.Eq | ast.In)
                yield Narrowed(Name(name), Display(TEXT, texts), same is holds)
        case ast.BoolOp(op=ast.Or(), values=values):
            found = [fact for value in values for fact in narrowings(value, read_type, True, answers)]
            same = len({(fact.value, tests_attributes(fact.types)) for fact in found}) == 1
            if same and all(fact.holds for fact in found) and len(found) == len(values):
                yield Narrowed(found[0].value, _any_of([fact.types for fact in found]))


def texts_meant(test: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that are one of some texts where a test is true, and these."""
    for fact in narrowings(test, lambda _: None):
        match fact:
            case Narrowed(Name(name), Display("text", texts), True):
                yield name, tuple(str(text.value) for text in texts if isinstance(text, Constant))


def _any_of(options: list[Expr]) -> Expr:
    if not tests_attributes(options[0]):
        return Choice(tuple(options))
    return Display(HAVING, tuple(Constant(name) for option in options for name in attributes_in(option)))


def tested(test: ast.expr) -> str | None:
    """The name that an `isinstance`, `hasattr` or `getattr` is about, or several joined by `or` or `and`."""
    match test:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr"), args=[ast.Name(id=name), _]):
            return name
        case ast.Call(
            func=ast.Name(id="getattr"),
            args=[ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)), _, ast.Constant()],
        ):
            return name
        case ast.BoolOp(values=values):
            names = {tested(value) for value in values}
            return names.pop() if len(names) == 1 else None
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return tested(inner)
    return None


def note_keys(keys: dict[str, tuple[Expr, str]], target: ast.expr, value: Expr) -> None:
    """The names of loop variables that may be keys, with the variable that holds the value beside them."""
    match target, value:
        case ast.Name(id=key), _:
            keys[key] = value, ""
        case (
            ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=beside)]),
            Element(Call(Attribute(container, "items" | "named_children"))),
        ):
            keys[key] = container, beside


def told(found: Iterator[Narrowed], keys: dict[str, tuple[Expr, str]]) -> Iterator[Narrowed]:
    """The facts that lead somewhere: of texts those of keys, and what they tell of the value beside a key."""
    for fact in found:
        of = keys.get(fact.value.id) if isinstance(fact.value, Name) else None
        if not lists_texts(fact.types):
            yield fact
        elif of is not None:
            yield fact
            container, beside = of
            if beside:
                yield Narrowed(Name(beside), Subscript(container, fact.types), fact.holds)


def lists_texts(types: Expr) -> bool:
    """Whether a fact is about what a text says."""
    options = types.options if isinstance(types, Choice) else (types,)
    return all(isinstance(option, Display) and option.kind == TEXT for option in options)


def _by_class_name(test: ast.Compare, name: str | None, holds: bool) -> Iterator[Narrowed]:
    """What `type(x).__name__ == "Block"` says, also with `in` and a literal list, or denied."""
    texts = _texts(test.comparators[0]) if len(test.ops) == 1 else ()
    if name is None or not texts or not isinstance(test.ops[0], ast.Eq | ast.In | ast.NotEq | ast.NotIn):
        return
    same = isinstance(test.ops[0], ast.Eq | ast.In)
    yield Narrowed(Name(name), Display("tuple", texts), same is holds)


def _whose_class(node: ast.expr) -> str | None:
    """`x` for `type(x)` and `x.__class__`."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr="__class__"):
            return name
    return None


def _texts(node: ast.expr) -> tuple[Expr, ...]:
    """The names of classes that a literal lists; none if anything else is in it."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return tuple(Constant(text) for text in texts) if len(texts) == len(items) else ()
