"""Operators beside what they are made of: `torch.ops.lib.name(x)` in one branch, `name(x)` in another.

Dynamo does not look into an operator, and whoever registers one does it for that. The direct call is for
platforms without it: whether one of them compiles is not for the code to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Function


def replaced(function: Function) -> frozenset[str]:
    """The names of plain functions that a function calls as operators elsewhere."""
    return frozenset(_operators(function))


def _operators(function: Function) -> Iterator[str]:
    for site in function.calls:
        match site.call.function:
            case facts.Attribute(
                facts.Attribute(facts.Attribute(facts.Name("torch"), "ops"), _), name
            ) | facts.Attribute(
                facts.Attribute(facts.Attribute(facts.Attribute(facts.Name("torch"), "ops"), _), name),
                "default",
            ):
                yield name
