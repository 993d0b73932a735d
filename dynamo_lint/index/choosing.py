"""Tests that choose among modules, kept as their source: `"attn" in name`, `type(m).__name__ in NAMES`.

What they compare is no value that anybody follows, so they are read again where a module is asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.index.facts import Attribute, Call, Constant, Display, Expr, Name, Narrowed
from dynamo_lint.index.having import is_name

TEST = "test"
"""The kind of a `Display` of what is looped over, the test, and the variables of the name and the module."""
_NAMED = frozenset({"named_modules", "named_children", "items"})
_PASSING = frozenset({"list", "tuple", "reversed", "sorted", "tqdm", "dict"})
_LOOKING = frozenset({"isinstance", "hasattr", "getattr", "callable", "id", "len", "print"})
"""Builtins that look at something else of a module than what it is called or of which class it is."""
_TRUTHS = frozenset(
    {"any", "all", "bool", "isinstance", "startswith", "endswith", "isdigit", "match", "search"}
)
_LONGEST = 8
"""A function with more statements than this does more than judge."""

Loops = dict[str, tuple[Expr, str]]
"""Variables of loops over modules: what is looped over, and the variable that has the name beside it."""


def note_loop(loops: Loops, target: ast.expr, iterable: Expr) -> None:
    """A loop that may yield modules, alone or with their names."""
    match target, iterable:
        case ast.Name(id=module), _:
            loops[module] = iterable, ""
        case ast.Tuple(elts=[_, inner]), Call(Name("enumerate"), (pairs, *_)):
            note_loop(loops, inner, pairs)
        case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=module)]), _:
            while isinstance(iterable, Call) and isinstance(iterable.function, Name) and iterable.arguments:
                if iterable.function.id not in _PASSING:
                    return
                iterable = iterable.arguments[0]
            match iterable:
                case Call(Attribute(_, method)) if method in _NAMED:
                    loops[module] = iterable, name


def choices(test: ast.expr, loops: Loops, holds: bool) -> Iterator[Narrowed]:
    """What a test leaves of the modules of the loops around it."""
    used = {node.id for node in _nodes(test) if isinstance(node, ast.Name)}
    for module, (iterable, name) in loops.items():
        if (name and name in used) or (module in used and _judges(test, module)):
            parts = (iterable, Constant(ast.unparse(test)), Constant(name), Constant(module))
            yield Narrowed(Name(module), Display(TEST, parts), holds)


def _judges(test: ast.expr, module: str) -> bool:
    """Whether a test asks for the class of a module by its name, or hands the module to a function."""
    for node in _nodes(test):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="__class__") if name == module:
                return True
            case ast.Call(func=callee, args=arguments) if any(
                is_name(argument, module) for argument in arguments
            ):
                if not (isinstance(callee, ast.Name) and callee.id in _LOOKING):
                    return True
    return False


def _nodes(root: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, in no order that matters: what `ast.walk` takes three times as long for."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for value in node.__dict__.values():
            if isinstance(value, ast.AST):
                pending.append(value)
            elif value.__class__ is list:
                pending += [part for part in value if isinstance(part, ast.AST)]


def judgement(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str | None:
    """The source of a function that only tells something of a name or a module, or which names are meant.

    None for any other.
    """
    positional = node.args.posonlyargs + node.args.args
    if not 1 <= len(positional) <= 3 or isinstance(node, ast.AsyncFunctionDef):
        return None
    if isinstance(node, ast.Lambda):
        return ast.unparse(node) if _is_truth(node.body) else None
    body = [
        one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    if not body or len(body) > _LONGEST or not isinstance(body[-1], ast.Return):
        return None
    plain = all(isinstance(one, ast.Assign | ast.If | ast.For | ast.Return) for one in body)
    returned = body[-1].value
    if not plain or returned is None or not (_is_truth(returned) or _is_selection(returned)):
        return None
    if not any(_tells(part) for one in body for part in _nodes(one)):
        return None
    return "\n".join([f"def judge({ast.unparse(node.args)}):", *(_indented(one) for one in body)])


def _indented(statement: ast.stmt) -> str:
    return "\n".join(f"    {line}" for line in ast.unparse(statement).splitlines())


def _is_truth(value: ast.expr) -> bool:
    match value:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(one) for one in values)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _TRUTHS
    return False


def _is_selection(value: ast.expr) -> bool:
    """A name that the function has bound, or those of some names that fit."""
    match value:
        case ast.Name():
            return True
        case ast.SetComp(generators=[generator]) | ast.ListComp(generators=[generator]):
            return bool(generator.ifs)
    return False


def _tells(node: ast.AST) -> bool:
    """Whether a part of a function may concern a name or a class."""
    match node:
        case ast.Constant(value=str()) | ast.Attribute(attr="__name__") | ast.Name(id="isinstance"):
            return True
    return False
