"""Where a tensor comes from: two that come from one by plain steps have its type and its device."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.state.model import Kind

_FLOATING = frozenset({"mean", "std", "var"})
"""Reductions that no tensor of ints or bools has."""
_WHOLE = frozenset({"amax", "amin", "max", "min"}) | _FLOATING
_ELEMENTWISE = frozenset({"abs", "clone", "contiguous", "detach", "neg"})
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a tensor was computed of another, in steps whose type and device hang on that one alone."""

    name: str
    """The local name of that other tensor."""
    floating: bool = False
    """It is no tensor of ints or bools: a step on the way takes none."""
    kinds: frozenset[Kind] = frozenset()
    """The kinds of the numbers that it was computed with."""
    reduced: bool = False
    """It has no dimensions."""
    linear: bool = True
    """Each element was added to, or multiplied by, numbers alone: no value of it makes the gradient NaN."""
    itself: bool = False
    """It is that tensor, or may be a view of it."""

    def alike(self, other: Lineage) -> bool:
        """Whether two tensors certainly have one type and one device."""
        floating = self.floating or other.floating
        return self.name == other.name and (floating or self.kinds == other.kinds)


def lineage(judge: Judge, node: ast.expr, depth: int = 0) -> Lineage | None:
    """The origin of a tensor; None if it comes from several, or by steps that are not plain."""
    if depth > _DEPTH or not judge.is_tensor(node):
        return None
    match node:
        case ast.Name(name):
            return _of_name(judge, node, name, depth)
        case ast.UnaryOp(ast.USub(), operand):
            inner = lineage(judge, operand, depth + 1)
            return inner and replace(inner, itself=False)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult(), right):
            return _of_arithmetic(judge, left, right, depth)
        case ast.Call(ast.Attribute(value, name), [], []) if name in _ELEMENTWISE | _WHOLE:
            inner = lineage(judge, value, depth + 1)
            return inner and replace(
                inner,
                floating=inner.floating or name in _FLOATING,
                reduced=inner.reduced or name in _WHOLE,
                linear=inner.linear and name in _ELEMENTWISE - {"abs"},
                itself=inner.itself and name in {"contiguous", "detach"},
            )
    return None


def _of_name(judge: Judge, node: ast.Name, name: str, depth: int) -> Lineage | None:
    bound = judge.bound(node, name)
    if not bound:
        return Lineage(name, itself=True)
    if len(bound) > 1 or bound[0] is None or judge.is_parameter(node, name):
        return None
    inner = lineage(judge, bound[0], depth + 1)
    return replace(inner, itself=True) if inner is not None else Lineage(name, itself=True)


def _of_arithmetic(judge: Judge, left: ast.expr, right: ast.expr, depth: int) -> Lineage | None:
    sides = [lineage(judge, one, depth + 1) for one in (left, right)]
    numbers = [judge.number(one) for one in (left, right)]
    match sides, numbers:
        case [Lineage() as side, None], [_, Kind() as kind]:
            return replace(side, kinds=side.kinds | {kind}, itself=False)
        case [None, Lineage() as side], [Kind() as kind, _]:
            return replace(side, kinds=side.kinds | {kind}, itself=False)
        case [Lineage() as one, Lineage() as other], _ if one.alike(other):
            reduced = one.reduced and other.reduced
            return Lineage(one.name, one.floating or other.floating, one.kinds, reduced, linear=False)
    return None
