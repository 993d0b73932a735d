"""A pre-filter by name: which names may stand for torch.compile, since evaluating every call is slow."""

from __future__ import annotations

from dynamo_lint.models import frameworks
from dynamo_lint.program.names import delegates_to, names_for
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef

CONVENTION = "regional_compile"
"""A helper of this name compiles what it is given, once per instance; teams write it as they like."""


def compile_names(project: Project) -> set[str]:
    """Every name that may stand for torch.compile somewhere."""
    return project.other_names({"compile", "optimize", CONVENTION, *frameworks.NAMES})


def forwards(project: Project, ref: FunctionRef) -> bool:
    """Whether a function is torch.compile by another name: `return torch.compile(*args, **kwargs)`."""
    return any(
        ExternalSymbol(COMPILE) in project.symbols(callee, ref.path, ref.key)
        for callee in delegates_to(project.function(ref))
    )


def carriers(project: Project) -> frozenset[str]:
    """Every name under which a call may be one of torch.compile."""
    names = set(project.named("carrying").get("", ()))
    for maker, place in project.named("carried to").get("", ()):
        if place is None:
            names.add(maker)
            for where, site in project.calls_of(maker):
                names.update(names_for(site.call, project.function(where)))
        elif maker == "map":
            names.add("map")
        else:
            called = project.named("calling given").get(maker, ())
            names.update(parameter for _, at, parameter in called if at == place)
    kept = (name for one in names for name in project.named("called as").get(one, ()))
    return frozenset(names.union(kept) - {"compile", ""})
