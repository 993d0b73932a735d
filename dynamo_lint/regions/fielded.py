"""What constructions pass for a field of a dataclass, or of anything that takes its fields as keywords."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dynamo_lint.index.facts import Expr
from dynamo_lint.program.refs import ClassRef
from dynamo_lint.regions import abstract
from dynamo_lint.regions.values import Scope
from dynamo_lint.values.points_to import Evaluation


def made_with(ev: Evaluation, part: ClassRef, ref: ClassRef, name: str) -> Iterator[tuple[Expr, Scope]]:
    """What is passed for a field that `part`, a base of the class or itself, declares, each with where."""
    if ev.project.method(ref, "__init__") is not None:
        return
    declared = [key for key, _ in ev.project.class_(part).annotations]
    position = declared.index(name) if name in declared else None
    made = (ev.constructions(one) for one in abstract.made_for(ev.project, ref))
    for scope, site in chain.from_iterable(made):
        given = next((value for key, value in site.call.keywords if key == name), None)
        if given is None and part == ref and position is not None and position < len(site.call.arguments):
            given = site.call.arguments[position]
        if given is not None:
            yield given, scope
