"""Which names may stand for torch.compile: names are compared first, since evaluating every call is slow."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.regions import frameworks
from dynamo_lint.regions.project import Project

CONVENTION = "regional_compile"
"""A helper of this name compiles what it is given, once per instance; teams write it as they like."""


def compile_names(project: Project) -> set[str]:
    """Every name that may stand for torch.compile somewhere: aliases of aliases included."""
    names = {"compile", "optimize", CONVENTION, *frameworks.NAMES}
    bindings = [b for ref in project.functions() for b in project.function(ref).bindings]
    while True:
        more = {b.name for b in bindings if b.name not in names and _may_alias(b.value, names)}
        if not more:
            return names
        names |= more


def _may_alias(value: Expr, names: set[str]) -> bool:
    match value:
        case facts.Attribute(facts.Name("re" | "regex"), _):
            return False
        case facts.Name(name) | facts.Attribute(_, name) | facts.Import(_, str() as name):
            return name in names
        case facts.Call(function, ()):
            return _may_alias(function, names)
        case facts.Call(facts.Name("partial") | facts.Attribute(_, "partial"), (first, *_)):
            return _may_alias(first, names)
        case facts.Choice(options):
            return any(_may_alias(option, names) for option in options)
    return False
