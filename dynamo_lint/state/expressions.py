"""Literal values of expressions in code that no state table is about, as far as bindings alone tell."""

from __future__ import annotations

from dynamo_lint.index.ir import Attribute, Call, Choice, Constant, Display, Element, Expr, Name
from dynamo_lint.index.walking import untested
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef

_DEEPEST = 6


def bound_to(project: Project, name: str, where: FunctionRef) -> tuple[tuple[Expr, ...], FunctionRef]:
    """The values that a name is bound to where it belongs, and that place; none for a parameter."""
    home = project.home_of(name, where)
    local = project.locals_of(home).get(name)
    return ((), home) if local is None or local.parameter is not None else (local.bound, home)


def constant(project: Project, value: Expr, where: FunctionRef, depth: int = 0) -> Constant | None:
    """The literal that an expression is: by itself, or by the one name that is bound to it."""
    value = untested(value)
    if isinstance(value, Constant):
        return value
    if isinstance(value, Name) and depth < _DEEPEST:
        values, home = bound_to(project, value.id, where)
        return constant(project, values[0], home, depth + 1) if len(values) == 1 else None
    return None


def length(project: Project, value: Expr, where: FunctionRef, depth: int = 0) -> int | None:
    """The number of items of a literal list, a comprehension over such, or what a function returns."""
    if depth > _DEEPEST:
        return None
    match untested(value):
        case Display("each", _, _, over):
            sizes = [length(project, one, where, depth + 1) for one in over]
            return _product(sizes)
        case Display(_, items):
            parts = (
                length(project, item.iterable, where, depth + 1) if isinstance(item, Element) else 1
                for item in items
            )
            return _sum(list(parts))
        case Choice(options):  # `[…] + […]`
            return _sum([length(project, one, where, depth + 1) for one in options])
        case Name(name):
            values, home = bound_to(project, name, where)
            return length(project, values[0], home, depth + 1) if len(values) == 1 else None
        case Call(Name("range"), (Constant(int(stop)),)):
            return stop
        case Call(Name("range"), (Constant(int(start)), Constant(int(stop)))):
            return max(0, stop - start)
        case Call(Name("list" | "tuple" | "sorted"), (inner,)):
            return length(project, inner, where, depth + 1)
        case Call(Attribute(_, "product") | Name("product"), factors, ()):
            return _product([length(project, one, where, depth + 1) for one in factors])
        case Call(callee):
            for symbol in project.symbols(callee, where.path, where.key):
                if isinstance(symbol, FunctionRef) and len(project.function(symbol).returns) == 1:
                    return length(project, project.function(symbol).returns[0], symbol, depth + 1)
    return None


def _sum(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _product(sizes: list[int | None]) -> int | None:
    found = 1
    for size in sizes:
        if size is None:
            return None
        found *= size
    return found if sizes else None
