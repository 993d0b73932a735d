"""Whether compiled code that uses a Python number would work as well with a tensor in its place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Edit
from dynamo_lint.fixes.assignments import set_by_name
from dynamo_lint.fixes.attribute_uses import speaks_of
from dynamo_lint.fixes.callers import uses_of
from dynamo_lint.fixes.edit_session import OpenFile, Unclear
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.state.model import Kind

NUMBER_OR_TENSOR = frozenset(
    {"add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "true_divide", "pow", "where"}
)
"""Operations of torch, as functions or methods, that take a tensor wherever they take a number."""
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
ATOMS = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""Expressions that need no brackets wherever they stand."""
LIMITS = {"min": "max", "max": "min"}
"""The argument of `clamp` that a builtin becomes."""
SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)

Seen = set[ast.AST | tuple[ast.AST | None, str, bool]]
"""Arithmetic that was walked, and local names of functions, each as a number and as a truth value."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Where a number goes in one function."""

    math: bool
    """It enters more than the next value of itself: then its old value must not change under a backward."""
    builtins: tuple[ast.expr, ...]
    """`min(...)`, `max(...)` and `not ...`, which a tensor spells otherwise."""
    meets: tuple[ast.AST, ...]
    """The arithmetic in which it meets a tensor."""
    numbers: tuple[ast.AST, ...]
    """The arithmetic among numbers before that."""
    rounded: tuple[ast.AST, ...]
    """The arithmetic that may round, or end, otherwise with a tensor of an integer than with the integer."""
    stored: tuple[ast.AST, ...]
    """The statements that make its next value of it by way of a local name."""


class _Step(NamedTuple):
    """A node on the way of a value, and its field of `Flow`; `leaves` where the value gets away."""

    kind: str
    node: ast.AST


def flow(judge: Judge, node: ast.expr, name: str, boolean: bool, walked: Seen | None = None) -> Flow:
    """Follow a hot load of the attribute `name`; raises Unclear where only a Python number will do.

    What was `walked` from another load is left out, so that a sum of many is walked once.
    """
    found = list(_follow(judge, node, name, boolean, set() if walked is None else walked))

    def of(kind: str) -> Iterator[ast.AST]:
        return (step.node for step in found if step.kind == kind)

    builtins = tuple(one for one in of("builtins") if isinstance(one, ast.expr))
    math = any(step.kind in {"meets", "leaves"} for step in found)
    numbers, rounded = tuple(of("numbers")), tuple(of("rounded"))
    return Flow(math, builtins, tuple(of("meets")), numbers, rounded, tuple(of("stored")))


def clamped(file: OpenFile, node: ast.Call) -> Edit:
    """`min(n + 1, 3)` as `(n + 1).clamp(max=3)`: one of the arguments is a constant."""
    first, second = node.args
    grown, limit = (second, first) if isinstance(first, ast.Constant) else (first, second)
    text = file.one_line(grown)
    whole = text if isinstance(grown, ATOMS) else f"({text})"
    word = node.func.id if isinstance(node.func, ast.Name) else ""
    return file.replace(node, f"{whole}.clamp({LIMITS[word]}={file.text(limit)})")


def _follow(
    judge: Judge, node: ast.expr, name: str, boolean: bool, seen: Seen, whole: bool = True
) -> Iterator[_Step]:
    """The steps of a value on its way through one function; `whole` while integers alone were computed with.

    A bool counts as 0 and 1 in Python; a tensor of bools can be multiplied, but not added or subtracted.
    """
    child: ast.AST = node
    for above in judge.file.above(node):
        match above:
            case ast.BinOp(op=op) if isinstance(op, ARITHMETIC):
                if not isinstance(op, _allowed(boolean)) or not _same_result(judge, above):
                    raise _refuse(judge, above, "gives a different result for a tensor")
                boolean = False
                if above in seen:
                    return
                seen.add(above)
                if judge.is_tensor(above):
                    yield from _meets(above, child)
                    return
                if any(_is_sequence(judge, one) for one in (above.left, above.right)):
                    raise _refuse(judge, above, "repeats something that often")
                yield _Step("numbers", above)
                if not (whole and _is_exact(judge, above, child, name)):
                    yield _Step("rounded", above)
                whole = whole and not isinstance(op, ast.Div)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()) if not boolean:
                pass
            case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute()):
                yield _Step("builtins", above)
            case ast.Compare(left, [op], [right]) if isinstance(op, ORDER):
                if not (whole and _is_plain(judge, right if child is left else left)):
                    yield _Step("rounded", above)
                boolean = True
                yield _Step("leaves", above)
            case ast.Call(args=[_, _, value]) if value is child and _sets(above, name):
                return
            case ast.Call(func=ast.Name(id="min" | "max"), args=[first, second], keywords=[]):
                limit = second if first is child else first
                if not isinstance(limit, ast.Constant):
                    raise _refuse(judge, above, "compares it with a Python value")
                whole = whole and _is_whole(judge, limit)
                yield _Step("builtins", above)
            case ast.Call() if child is not above.func and _takes_tensors(judge, above, boolean):
                yield from _meets(above, child)
                return
            case ast.Return():
                yield _Step("leaves", above)
                yield from _follow_result(judge, above, name, boolean, seen, whole)
                return
            case ast.stmt():
                yield from _follow_statement(judge, above, name, boolean, seen, whole)
                return
            case _:
                raise _refuse(judge, above, "needs it as a Python number")
        child = above


def _follow_statement(
    judge: Judge, statement: ast.stmt, name: str, boolean: bool, seen: Seen, whole: bool
) -> Iterator[_Step]:
    """The steps of a value that is all of what a statement assigns, adds or drops."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=local)]) | ast.AnnAssign(target=ast.Name(id=local)):
            yield _Step("leaves", statement)
            if (way := (judge.file.scope(statement), local, boolean)) not in seen:
                seen.add(way)
                yield from _follow_local(judge, statement, local, name, boolean, seen, whole)
        case ast.AugAssign(target=ast.Name(), op=op) if isinstance(op, _allowed(boolean)):
            yield from _added(judge, statement)
        case ast.Assign(targets=[ast.Attribute(attr=attr)]) if attr == name:
            if not speaks_of(statement.value, name):
                yield _Step("stored", statement)
        case ast.Expr():
            pass
        case _:
            raise _refuse(judge, statement, "needs it as a Python number")


def _allowed(boolean: bool) -> tuple[type[ast.operator], ...]:
    """The arithmetic that a tensor does as a number, or a truth value, does it."""
    return (ast.Mult,) if boolean else ARITHMETIC


def _sets(call: ast.Call, name: str) -> bool:
    """Whether a call gives an attribute of a name its next value."""
    told = set_by_name(call)
    return told is not None and told[1] == name and speaks_of(told[2], name)


def _added(judge: Judge, node: ast.AugAssign) -> Iterator[_Step]:
    """The step of a number that is added to what must be a tensor."""
    if not judge.is_tensor(node.target):
        raise _refuse(judge, node, "adds it to something that may be a number")
    yield _Step("meets", node)


def _meets(node: ast.BinOp | ast.Call, child: ast.AST) -> Iterator[_Step]:
    """The steps of a number that meets a tensor in an operation or a call.

    A number is divided by a tensor through its reciprocal, and has powers of its own.
    """
    yield _Step("meets", node)
    match node:
        case ast.BinOp(op=ast.Pow()) | ast.Call(func=ast.Attribute(attr="pow")):
            yield _Step("rounded", node)
        case ast.BinOp(left, op=ast.Div()) if child is left:
            yield _Step("rounded", node)


def _is_plain(judge: Judge, node: ast.expr) -> bool:
    """Whether a number is a constant, or an integer."""
    return isinstance(node, ast.Constant) or _is_whole(judge, node)


def _follow_local(
    judge: Judge, statement: ast.stmt, local: str, name: str, boolean: bool, seen: Seen, whole: bool
) -> Iterator[_Step]:
    """The uses of a local name anywhere in its function: what else it may hold does not matter."""
    scope = judge.file.scope(statement)
    if scope is None:
        return
    if scope not in judge.bench.loaded:
        judge.bench.loaded[scope] = _loaded(scope)
    for inner in judge.bench.loaded[scope].get(local, ()):
        if not isinstance(inner, ast.Name):
            raise _refuse(judge, inner, "passes it on")
        yield from _follow(judge, inner, name, boolean, seen, whole)


def _follow_result(
    judge: Judge, statement: ast.Return, name: str, boolean: bool, seen: Seen, whole: bool
) -> Iterator[_Step]:
    """The uses of what a function returns, where compiled code alone gets it."""
    scope = judge.file.scope(statement)
    if scope is None or (way := (scope, "return", boolean)) in seen:
        return
    seen.add(way)
    for use in uses_of(judge.bench, judge.file, scope):
        if not use.hot:
            raise _refuse(judge, statement, f"returns it to line {use.node.lineno}, which may need a number")
        for step in _follow(replace(judge, file=use.file), use.node, name, boolean, seen, whole):
            if step.kind == "builtins":
                raise _refuse(judge, statement, f"returns it to line {use.node.lineno}, which needs a number")
            yield step


def _is_exact(judge: Judge, node: ast.BinOp, child: ast.AST, name: str) -> bool:
    """Whether a tensor of an integer gives what the integer gives, until float32 rounds both once.

    `child` is the side that the integer is in. One division of integers comes out the same, and nothing after
    it; and where a number is divided by zero that is an error, where a tensor is it is none.
    """
    other = node.right if child is node.left else node.left
    if isinstance(node.op, ast.Pow) or not _is_whole(replace(judge, asked=(name, Kind.INT)), other):
        return False
    divides = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    varies = child is node.right or speaks_of(node.right, name)
    return not (divides and varies) or _is_over(node.right)


def _is_whole(judge: Judge, node: ast.expr) -> bool:
    """Whether a number is an integer, or a float of the same value."""
    match node:
        case ast.Constant(value=float() as value):
            return value.is_integer()
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult(), right):
            return _is_whole(judge, left) and _is_whole(judge, right)
    return judge.number(node) == Kind.INT or judge.kinds(node) == {Kind.INT}


def _is_over(node: ast.expr) -> bool:
    """Whether something is added to a count, so that it is not zero."""
    match node:
        case ast.BinOp(left, ast.Add(), right):
            sides = (left, right)
            return any(isinstance(one, ast.Constant) and _is_positive(one.value) for one in sides)
    return False


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def _loaded(scope: ast.AST) -> dict[str, list[ast.AST]]:
    """By name, where a scope reads it, or hands it on with `global` or `nonlocal`."""
    found: dict[str, list[ast.AST]] = defaultdict(list)
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                found[name].append(node)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                for name in names:
                    found[name].append(node)
    return found


def _is_sequence(judge: Judge, node: ast.expr) -> bool:
    """Whether an expression may be a list, a tuple or a text, which a number repeats."""
    match node:
        case ast.Constant(value):
            return isinstance(value, str | bytes)
        case ast.Name(name):
            return any(isinstance(one, SEQUENCES) for one in judge.bound(node, name))
    return isinstance(node, SEQUENCES)


def _same_result(judge: Judge, node: ast.BinOp) -> bool:
    """Integers to a negative power are an error for tensors, so the exponent has to be seen."""
    if not isinstance(node.op, ast.Pow) or judge.is_tensor(node):
        return True
    return isinstance(node.right, ast.Constant) or judge.number(node.left) == Kind.FLOAT


def _takes_tensors(judge: Judge, call: ast.Call, boolean: bool) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr=attr), keywords=[]):
            fits = attr in {"where", "mul", "mul_"} if boolean else attr in NUMBER_OR_TENSOR
            return fits and judge.is_tensor(call)
    return False


def _refuse(judge: Judge, node: ast.AST, why: str) -> Unclear:
    line = getattr(node, "lineno", None) or judge.file.statement(node).lineno
    return Unclear(f"line {line} {why}")
