"""What code around the regions easily shows: there is far more of it than of compiled code."""

from __future__ import annotations

from dynamo_lint.index.facts import Expr
from dynamo_lint.regions.evaluate import evaluation_of
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.values import EMPTY, Scope, Values

_WITHIN = 5
"""How deep questions may be nested: so little that who has all the room asks again for what was given up."""


def glimpse(project: Project, expr: Expr, scope: Scope) -> Values:
    """The values that an expression is easily seen to hold; what would take long to work out is left out."""
    ev = evaluation_of(project)
    return ev.ask_nearby(("glimpse", expr, scope), lambda: ev.value(expr, scope), EMPTY, _WITHIN)
