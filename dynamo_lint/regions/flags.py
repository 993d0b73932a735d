"""Flags that say something is compiled, in a project where no call is seen to compile anything."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.regions.candidates import examples
from dynamo_lint.regions.model import ClassRef, FunctionRef, Unresolved
from dynamo_lint.regions.project import Project

_FLAGS = frozenset(
    {"regional_compile", "use_regional_compilation", "enable_torch_compile", "torch_compile", "compile_model"}
)
"""What teams call the setting whose meaning stands in code that is not linted, or in no code at all."""
_MOST = 3


def flags(project: Project) -> list[Unresolved]:
    """The first classes that have such a flag, in the body (a configuration) or set in a method."""
    found: list[Unresolved] = []
    for ref in project.classes():
        for name, line in _flags_of(project, ref):
            why = "the flag turns compiling on, but no call in these files compiles anything"
            near = examples(project, FunctionRef(ref.path, ref.key))
            found.append(Unresolved(ref.path, line, f"{ref.name}.{name}", why, (), near))
            break
        if len(found) == _MOST:
            break
    return found


def _flags_of(project: Project, ref: ClassRef) -> Iterator[tuple[str, int]]:
    class_ = project.class_(ref)
    for name, _ in class_.annotations:
        if name in _FLAGS:
            lines = [binding.line for binding in class_.bindings if binding.name == name]
            yield name, lines[0] if lines else class_.line
    for name in _FLAGS.intersection(project.own_stores(ref)):
        yield name, project.own_stores(ref)[name][0][1].line
