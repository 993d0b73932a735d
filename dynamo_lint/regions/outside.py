"""What of ours an object of a library calls: what it wraps, and what it was made with to be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Call
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.values import FunctionValue, Instance, Scope, Value, Values

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation


def wrapped(ev: Evaluation, values: Values) -> Values:
    """What of our own code a wrapper from a library calls when it is called."""
    ours = (
        v for v in values if isinstance(v, FunctionValue) or (isinstance(v, Instance) and ev.holds_module(v))
    )
    return {v: max(values[v], Tier.LIKELY) for v in ours}


def handlers(ev: Evaluation, call: Call, scope: Scope) -> Values:
    """What of ours an object of a library is made with, for it to call: `Attention(processor=Mine())`."""
    found: dict[Value, Tier] = {}
    for given in arguments_of(call):
        if isinstance(given, Call):
            for symbol in ev.project.symbols(given.function, scope.function.path, scope.function.key):
                if isinstance(symbol, ClassRef) and ev.project.method(symbol, "__call__") is not None:
                    found |= {} if ev.project.is_module(symbol) else {Instance(symbol): Tier.LIKELY}
    return found
