"""Switches of a function that a call of it leaves off: `scale(x)` of `forward(self, x, update=False)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_lint.index.facts import Call, Constant, Element
from dynamo_lint.regions.flow import argument_for, call_sites
from dynamo_lint.regions.model import FunctionRef
from dynamo_lint.regions.project import Project

if TYPE_CHECKING:
    from dynamo_lint.regions.evaluate import Evaluation

NOTHING: frozenset[str] = frozenset()
_OFF = (Constant(False), Constant(None))


def left_off(project: Project, target: FunctionRef, call: Call) -> frozenset[str]:
    """The switches of a function that a call leaves off: `scale(x)` of `forward(self, x, update=False)`."""
    function = project.function(target)
    asked = {name for _, _, name, wanted in function.picked if wanted[0] is True}
    if not asked or any(isinstance(one, Element) for one in call.arguments) or (None in dict(call.keywords)):
        return NOTHING
    left = (one for one in function.parameters if (argument_for(one, function, call) or one.default) in _OFF)
    known = project.locals_of(target)
    return frozenset(one.name for one in left if one.name in asked and not known[one.name].bound)


def varies(ev: Evaluation, where: FunctionRef, line: int) -> bool:
    """Whether some call of a function leaves out a line: `prepare(net)` where others have `compile=True`."""
    calls = call_sites(ev, where) if ev.project.function(where).picked else ()
    return any(leaves_out(ev.project, where, site.call, line) for _, site in calls)


def leaves_out(project: Project, target: FunctionRef, call: Call, line: int) -> bool:
    """Whether a line of a function runs only with a switch on that a call leaves off."""
    off = left_off(project, target, call)
    return any(
        first <= line <= last and name in off and wanted[0] is True
        for first, last, name, wanted in (project.function(target).picked if off else ())
    )
