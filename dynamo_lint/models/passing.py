"""Library functions that return their argument, or run what they are given."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index.ir import Call, Expr
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.values import iterables
from dynamo_lint.values.containers import MODULE_CONTAINERS

_PASS_FIRST = knowledge.names("returns_argument")
_COMBINING = knowledge.names("returns_arguments")
COLLECTIONS = frozenset(
    {"list", "tuple", "set", "frozenset", "reversed", "sorted", "iter", "dict", "OrderedDict", "deque"}
    | {"MappingProxyType"}
)
_WRAPPING = knowledge.names("wraps") | knowledge.names("unwraps")
"""Last names of functions of libraries that give back the module that they are given first."""
_PASSING = COLLECTIONS | iterables.PASSING | {*MODULE_CONTAINERS, "SimpleNamespace", "type"}


def passes_on(dotted: str) -> bool:
    """Whether a call of something outside the project may give back what it is given."""
    last = dotted.rpartition(".")[2]
    return dotted in _PASS_FIRST or dotted in _COMBINING or last in _PASSING or last in _WRAPPING


def passed_through(dotted: str, arguments: tuple[Expr, ...], first: Expr | None) -> tuple[Expr, ...]:
    """The arguments that a call of something outside the project gives back as they are, or wrapped."""
    if dotted in _COMBINING:
        return arguments
    through = dotted in _PASS_FIRST or dotted.rpartition(".")[2] in _WRAPPING
    return (first,) if through and first is not None else ()


def innermost(project: Project, called: Expr, where: FunctionRef) -> Expr:
    """Return the innermost function that library functions wrap: `f` of `torch.vmap(f)(x)`."""
    while isinstance(called, Call) and called.arguments:
        match project.symbols(called.function, where.path, where.key):
            case (ExternalSymbol(dotted),) if through := passed_through(
                dotted, called.arguments, called.arguments[0]
            ):
                called = through[0]
            case _:
                break
    return called
