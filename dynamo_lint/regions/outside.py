"""What of ours an object of a library calls: what it wraps, and what it was made with to be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Call
from dynamo_lint.index.walking import arguments_of
from dynamo_lint.regions.model import ClassRef, Tier
from dynamo_lint.regions.values import FunctionValue, Instance, Scope, Value, Values

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

_WRAPPERS = ("Module", "Wrapper", "Parallel")
"""What classes of libraries end in whose instances call what they are given first: `TensorDictModule(f)`."""
_STACKS = ("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder")
"""What calls copies of the layer that it is given first (torch/nn/modules/transformer.py)."""


def wraps(dotted: str) -> bool:
    """Whether an instance of a library's class calls what it is given first."""
    return dotted in _STACKS or (dotted.endswith(_WRAPPERS) and not dotted.startswith("torch.nn."))


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
