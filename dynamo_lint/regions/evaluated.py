"""What `eval` gives of a text: what a name of the file means, or what a call of it makes."""

from __future__ import annotations

import re

from dynamo_lint.index.facts import Attribute, Expr
from dynamo_lint.program.refs import File, Tier
from dynamo_lint.regions import choices
from dynamo_lint.regions.factories import offered
from dynamo_lint.regions.values import EMPTY, ClassValue, FunctionValue, Instance, Scope, Text, Values, union
from dynamo_lint.values.points_to import Evaluation

_SOURCE = re.compile(r"(?P<name>\*|[A-Za-z_][\w.]*)(?P<call>\(.*\))?", re.DOTALL)
"""A dotted name, or `*` for one that only the run knows, and what it may be called with."""


def evaluated(ev: Evaluation, source: Expr, scope: Scope) -> Values:
    """What `eval(source)` gives, of the texts that the source is known to be."""
    texts = {v.value for v in ev.value(source, scope) if isinstance(v, Text)}
    if isinstance(source, Attribute) and not texts:  # a configuration field: any text it is given anywhere
        texts = set(ev.project.texts_of(source.name))
    found = (_of_text(ev, text, scope) for text in sorted(texts or {"*"}))
    return ev.capped(union(found, Tier.LIKELY))


def _of_text(ev: Evaluation, text: str, scope: Scope) -> Values:
    said = _SOURCE.fullmatch(text.strip())
    if said is None:
        return EMPTY
    here, names = File(scope.function.path), said["name"].split(".")
    if names == ["*"]:
        found = offered(ev, here.path, imported=True)
        choices.note(ev.project, found)
    else:
        found = ev.attributes({here: Tier.CERTAIN}, names[0])
        for name in names[1:]:
            found = ev.attributes(found, name)
    return union(_made(ev, value, scope) for value in found) if said["call"] else found


def _made(ev: Evaluation, value: object, scope: Scope) -> Values:
    match value:
        case ClassValue(ref):
            return {Instance(ref): Tier.LIKELY}
        case FunctionValue(ref, receiver) if ref != scope.function:
            return ev.returns(ref, receiver)
    return EMPTY
