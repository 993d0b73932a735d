"""Switches: globals that start off, and that somebody may turn on while a program runs."""

from __future__ import annotations

from dynamo_lint.index.facts import MODULE_KEY, Constant
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.project import Project

_OFF = (Constant(False), Constant(None))


def starts_off(project: Project, name: str, where: FunctionRef) -> bool:
    """Whether a name in a function is a global that its file binds to False or None alone.

    Dynamo reads it as it finds it: what runs only while it is on need never be traced.
    """
    home = project.home_of(name, where)
    bound = project.locals_of(home).get(name) if home.key == MODULE_KEY else None
    return bound is not None and bool(bound.bound) and all(value in _OFF for value in bound.bound)
