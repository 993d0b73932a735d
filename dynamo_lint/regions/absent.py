"""What a decoration leaves at None: a closure that calls it is not the one that the decorator gives."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.project import Project
from dynamo_lint.values.arguments import argument_for

_NONE = facts.Constant(None)

Absent = frozenset[tuple[FunctionRef, str]]
"""Parameters that are None, each with its function."""


def left_out(project: Project, ref: FunctionRef, decorator: Expr) -> Absent:
    """The parameters that a decoration by a function leaves at their default None."""
    call = decorator if isinstance(decorator, facts.Call) else facts.Call(decorator, (facts.UNKNOWN,))
    if any(name is None for name, _ in call.keywords):
        return frozenset()
    function = project.function(ref)
    left = (p for p in function.parameters if p.default == _NONE and not argument_for(p, function, call))
    return frozenset((ref, parameter.name) for parameter in left)


def may_run(project: Project, closure: FunctionRef, absent: Absent) -> bool:
    """Whether a closure does not call what is None, whatever happens in it."""
    function = project.function(closure)
    for site in function.calls:
        match site.call.function:
            case facts.Name(name) if name not in site.given and not function.is_conditional(site.call.line):
                if (project.home_of(name, closure), name) in absent:
                    return False
    return True
