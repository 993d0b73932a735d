"""What a class gives that makes something else of itself: `def __new__(cls, n): return nn.Sequential(…)`."""

from __future__ import annotations

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Call
from dynamo_lint.program.refs import ClassRef, Tier
from dynamo_lint.regions import contexts
from dynamo_lint.regions.values import EMPTY, Instance, Scope, Values, union
from dynamo_lint.values.points_to import Evaluation

_NEW = "__new__"


def made(ev: Evaluation, ref: ClassRef, call: Call, scope: Scope) -> Values:
    """What a call of a class gives: an instance of it, or the modules that its `__new__` returns instead."""
    own: Values = {Instance(ref): Tier.CERTAIN}
    new = ev.project.method(ref, _NEW)
    if new is None:
        return own
    returned = ev.returns(new, ref, contexts.given(ev, new, call, scope))
    others = {v: tier for v, tier in returned.items() if v not in own and ev.holds_module(v)}
    calls = ev.project.function(new).calls
    itself = not others or any(terminal_name(site.call.function) == _NEW for site in calls)
    return union([own if itself else EMPTY, union([others], Tier.LIKELY)])
