"""Switches of a function that a call of it leaves off: `scale(x)` of `forward(self, x, update=False)`."""

from __future__ import annotations

from dynamo_lint.index.facts import Call, Choice, Constant, Element, Expr, Name
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.carried import carries
from dynamo_lint.regions.picked import is_met
from dynamo_lint.regions.project import Project
from dynamo_lint.values.arguments import argument_for
from dynamo_lint.values.points_to import Evaluation

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


def is_disabled(call: Call) -> bool:
    """Whether a call that would compile something says that it does not: `torch.compile(f, disable=True)`."""
    return ("disable", Constant(True)) in call.keywords


def off_with(project: Project, where: FunctionRef, call: Call, target: FunctionRef) -> frozenset[str]:
    """The switches that calls of what is compiled leave off, because that is what disables compiling.

    `step = torch.compile(step, disable=graphs)`, and then `step(x, capture=graphs)`: where it is compiled at
    all, nothing is captured.
    """
    disabling = next((value for word, value in call.keywords if word == "disable"), None)
    options = disabling.options if isinstance(disabling, Choice) else (disabling,)
    flags = [one for one in options if isinstance(one, Name)]
    function = project.function(where)
    names = [Name(one.name) for one in function.bindings if one.value == call]
    calls = [site.call for site in function.calls if site.call.function in names] if flags else []
    parameters = project.function(target).parameters if calls else ()
    passed = {one.name: [argument_for(one, project.function(target), c) for c in calls] for one in parameters}
    return frozenset(name for name, given in passed.items() if all(value in flags for value in given))


def varies(ev: Evaluation, where: FunctionRef, line: int) -> bool:
    """Whether some call of a function leaves out a line: `prepare(net)` where others have `compile=True`."""
    calls = ev.call_sites(where) if ev.project.function(where).picked else ()
    return any(leaves_out(ev.project, where, site.call, line) for _, site in calls)


def leaves_out(project: Project, target: FunctionRef, call: Call, line: int) -> bool:
    """Whether a line of a function runs only with a switch on that a call leaves off."""
    return is_off(project, target, left_off(project, target, call), line)


def excludes(project: Project, target: FunctionRef, call: Call, line: int) -> bool:
    """Whether what a call writes out for a parameter, or leaves to its default, keeps a line from running."""
    function, known = project.function(target), project.locals_of(target)
    if any(isinstance(one, Element) for one in call.arguments) or None in dict(call.keywords):
        return False
    parameters = {one.name: one for one in function.parameters}
    for first, last, name, wanted in function.picked:
        if first <= line <= last and name in parameters and not known[name].bound:
            given = argument_for(parameters[name], function, call) or parameters[name].default
            if isinstance(given, Constant) and not is_met(given.value, wanted):
                return True
    return False


def gives_another(project: Project, callee: Expr, where: FunctionRef) -> bool:
    """Whether a call of what may give torch.compile says that it does not: `@fuser(script=True)`."""
    if not isinstance(callee, Call):
        return False
    for made in project.symbols(callee.function, where.path, where.key):
        if isinstance(made, FunctionRef):
            giving = [one for one in project.function(made).returns if carries(one)]
            calls = [one for one in giving if isinstance(one, Call)]
            if giving == calls != [] and all(excludes(project, made, callee, one.line) for one in calls):
                return True
    return False


def is_off(project: Project, target: FunctionRef, off: frozenset[str], line: int) -> bool:
    """Whether a line of a function runs only with a switch on that is one of those that are off."""
    return any(
        first <= line <= last and name in off and wanted[0] is True
        for first, last, name, wanted in (project.function(target).picked if off else ())
    )
