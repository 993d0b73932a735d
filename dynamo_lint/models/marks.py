"""The marks by which code says that a size varies: on which tensor, and which axis of it."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Constant, Display, Expr
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef

MARKS, REFUSED = knowledge.names("mark"), knowledge.names("untraced_mark")


@dataclass(frozen=True, slots=True)
class Mark:
    """A call that marks axes of a tensor as dynamic."""

    where: FunctionRef
    line: int
    tensor: str
    """Its name, as the code has it: `x`, or the last part of `batch.tokens`."""
    axis: int | None
    """None if the code does not say which."""


def marks_made(project: Project) -> Iterator[Mark]:
    """Every mark, one for each axis."""
    for name in sorted({one.rpartition(".")[2] for one in MARKS}):
        for spelt in sorted({name, *project.aliases_of(name)}):
            for where, site in project.calls_of(spelt):
                symbols = project.symbols(site.call.function, where.path, where.key)
                if not any(isinstance(one, ExternalSymbol) and one.dotted in MARKS for one in symbols):
                    continue
                keywords = dict(site.call.keywords)
                first = site.call.arguments[0] if site.call.arguments else keywords.get("t")
                index = (*site.call.arguments[1:2], keywords.get("index"), None)[0]
                for axis in _axes(index):
                    yield Mark(where, site.call.line, terminal_name(first) or "" if first else "", axis)


def _axes(index: Expr | None) -> Iterator[int | None]:
    match index:
        case Constant(int(axis)):
            yield axis
        case Display(_, items):
            for item in items:
                yield from _axes(item)
        case _:
            yield None


def names_mark(project: Project, mark: Mark, pattern: str) -> bool:
    """Whether `module:tensor#axis` or `module:function.tensor#axis` names a mark."""
    named, _, axis = pattern.partition("#")
    module = project.files[mark.where.path].module
    function = project.function(mark.where).qualname
    names = (f"{module}:{mark.tensor}", f"{module}:{function}.{mark.tensor}")
    return (mark.axis is None or axis == str(mark.axis)) and any(fnmatchcase(one, named) for one in names)
