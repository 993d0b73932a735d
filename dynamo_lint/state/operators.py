"""Evaluates operators and formatted strings: what they make of their operands, and what they ask of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from dynamo_lint.state import kinds as K
from dynamo_lint.state.convert import to_expr
from dynamo_lint.state.model import Kind, Origin, Use, Value
from dynamo_lint.state.values import BOOL, STR, TENSOR, as_text, computed, is_namespace, literal_int

if TYPE_CHECKING:
    from dynamo_lint.state.expressions import Evaluator


def arithmetic(ev: Evaluator, first: Value, operator: cst.CSTNode, second: Value) -> Value:
    """`first op second`, also for augmented assignments."""
    division = isinstance(operator, cst.Divide | cst.DivideAssign)
    power = isinstance(operator, cst.Power | cst.PowerAssign)
    found = K.of_arithmetic(first.kinds, second.kinds, division, power)
    plain = division or isinstance(
        operator,
        cst.Add | cst.Subtract | cst.Multiply | cst.AddAssign | cst.SubtractAssign | cst.MultiplyAssign,
    )
    for value, other in ((first, second), (second, first)):
        # An operand of unknown kind is a tensor, or it decides nothing about this one.
        tensor = not other.kinds or Kind.TENSOR in other.kinds
        use = Use.TENSOR_MATH if plain and tensor else Use.ARITHMETIC if plain or not power else Use.POWER
        ev.consume(value, use)
    bound = None
    if isinstance(operator, cst.Modulo | cst.ModuloAssign) and first.kinds <= K.NUMBERS:
        bound = literal_int(second) or 0
    elif first.bound is not None and second.constants is not None:
        bound = first.bound
    text = found == STR or (isinstance(operator, cst.Modulo) and first.kinds == STR)
    found = STR if text else found
    values = [first, second] if not text else [as_text(first), as_text(second)]
    return replace(computed(values, found, bound), settled=not found or Kind.TENSOR in found)


def comparison(ev: Evaluator, node: cst.Comparison) -> Value:
    """A chain of comparisons, membership and identity tests included."""
    operators = [target.operator for target in node.comparisons]
    sides = [node.left, *(target.comparator for target in node.comparisons)]
    if isinstance(operators[0], cst.In | cst.NotIn):
        if ev.environment_read(to_expr(sides[1]), node, "in", cst.Index(value=sides[0])):
            return Value(BOOL)
        if is_namespace(sides[1]):
            ev.namespace_lookup(node, sides[1], cst.Index(value=sides[0]))
    identity = all(isinstance(o, cst.Is | cst.IsNot) for o in operators)
    none_test = identity and isinstance(sides[-1], cst.Name) and sides[-1].value == "None"
    values = [ev.value(side) for side in sides]
    plain = identity or any(isinstance(o, cst.In | cst.NotIn) for o in operators)
    tensor = not plain and any(value.kinds == TENSOR for value in values)
    for value in values:
        ev.consume(value, Use.NONE_TEST if none_test else Use.TENSOR_MATH if tensor else Use.COMPARE)
    return computed(values, TENSOR if tensor else BOOL, None if tensor else 2)


def formatted(ev: Evaluator, parts: list[cst.BaseFormattedStringContent]) -> Value:
    """An f-string."""
    values = [
        as_text(ev.used(part.expression, Use.FORMATTED))
        for part in parts
        if isinstance(part, cst.FormattedStringExpression)
    ]
    return computed(values, STR) if values else Value(STR, origins=frozenset({Origin("literal")}))
