"""Which names may stand for torch.compile: names are compared first, since evaluating every call is slow."""

from __future__ import annotations

from collections import defaultdict

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.regions import frameworks
from dynamo_lint.regions.project import Project

CONVENTION = "regional_compile"
"""A helper of this name compiles what it is given, once per instance; teams write it as they like."""


def compile_names(project: Project) -> set[str]:
    """Every name that may stand for torch.compile somewhere: aliases of aliases included."""
    names = {"compile", "optimize", CONVENTION, *frameworks.NAMES}
    others: dict[str, set[str]] = defaultdict(set)
    for ref in project.functions():
        for binding in project.function(ref).bindings:
            for name in _original(binding.value):
                others[name].add(binding.name)
    pending = list(names)
    while pending:
        more = others.get(pending.pop(), set()) - names
        names |= more
        pending += more
    return names


def _original(value: Expr) -> tuple[str, ...]:
    """The names that a value may be another one for."""
    match value:
        case facts.Attribute(facts.Name("re" | "regex"), _):
            return ()
        case facts.Name(name) | facts.Attribute(_, name) | facts.Import(_, str() as name):
            return (name,)
        case facts.Call(function, ()):
            return _original(function)
        case facts.Call(facts.Name("partial") | facts.Attribute(_, "partial"), (first, *_)):
            return _original(first)
        case facts.Choice(options):
            return tuple(name for option in options for name in _original(option))
    return ()
