"""Classes whose bases are what a function is given: `class Wrapped(base)`, `type(name, (base,), {})`."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.program.refs import ClassRef, FunctionRef, Tier
from dynamo_lint.regions.values import EMPTY, ClassValue, FunctionValue, Scope, Values, union
from dynamo_lint.values.points_to import Evaluation


def made(ev: Evaluation, bases: Sequence[Expr], scope: Scope) -> Values:
    """What `type(name, (Mixin, base), {})` makes, by its first base that has a `forward`."""
    where = scope.function
    for base in bases:
        found = ev.of_symbols(ev.project.symbols(base, where.path, where.key)) or ev.value(base, scope)
        classes: Values = {v: tier for v, tier in found.items() if isinstance(v, ClassValue)}
        if any(isinstance(v, ClassValue) and ev.project.method(v.ref, "forward") for v in classes):
            return classes
    return EMPTY


def inherited(ev: Evaluation, ref: ClassRef, name: str) -> Values:
    """What `super().name` means in a class whose bases are parameters of the function around it."""
    project = ev.project
    outer = project.class_(ref).outer or MODULE_KEY
    if outer == MODULE_KEY:
        return EMPTY
    around = FunctionRef(ref.path, outer)
    found: list[Values] = []
    for base in project.class_(ref).bases:
        if project.symbols(base, ref.path, outer):
            continue
        for value, tier in ev.value(base, Scope(around, project.owner(around))).items():
            method = project.method(value.ref, name) if isinstance(value, ClassValue) else None
            if method is not None and isinstance(value, ClassValue):
                found.append({FunctionValue(method, value.ref): max(tier, Tier.LIKELY)})
    return union(found)
