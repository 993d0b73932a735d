"""What a constructor makes only if it is asked to: `DropPath(p) if p > 0 else nn.Identity()`.

Where all calls leave the parameter off, and none may pass it unseen, the project makes none: only code from
outside would, of a model that it compiles itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.regions import values
from dynamo_lint.regions.picked import passed
from dynamo_lint.regions.values import Scope, Values, union
from dynamo_lint.values.points_to import Evaluation


def one_of(ev: Evaluation, options: Sequence[Values], asks: str | None, scope: Scope) -> Values:
    """The values of what a test chooses between; a mere guess, those of the end that nobody asks for."""
    if asks is not None and any(map(ev.holds_module, union(options))):
        on = _is_on(ev, asks, scope)
        if on is not None:
            taken, left = options if on else reversed(options)
            return union([taken, ev.guessed(left)])
    return values.one_of(options)


def _is_on(ev: Evaluation, name: str, scope: Scope) -> bool | None:
    """Whether all calls of a constructor leave a parameter on, or off; None if they do not say."""
    given = passed(ev, scope.function, name) or ()
    if any(isinstance(one, int | float) and one < 0 for one in given):
        return None  # on, but not more than nothing
    truths = set(map(bool, given))
    return truths.pop() if len(truths) == 1 else None
