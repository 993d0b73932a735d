"""Kernels that `triton.autotune` tunes: how many configurations it tries, and for which arguments anew."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Constant, Display, Expr, Name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef
from dynamo_lint.state.expressions import bound_to, length

_AUTOTUNE = knowledge.names("tunes")


@dataclass(frozen=True, slots=True)
class Tuning:
    """One use of `triton.autotune`."""

    where: FunctionRef
    line: int
    configurations: int | None
    """How many; None where the code does not say."""
    key: tuple[str, ...] | None
    """The arguments of the kernel for whose values it is tuned anew; None where the code does not say."""


def tunings(project: Project) -> tuple[Tuning, ...]:
    """Every use, in the order found."""
    return tuple(dict.fromkeys(_tunings(project)))


def _tunings(project: Project) -> Iterator[Tuning]:
    for where, site in project.calls_of("autotune"):
        symbols = project.symbols(site.call.function, where.path, where.key)
        if not any(isinstance(one, ExternalSymbol) and one.dotted in _AUTOTUNE for one in symbols):
            continue
        given = dict(zip(("configs", "key"), site.call.arguments, strict=False))
        given |= {name: value for name, value in site.call.keywords if name}
        count = length(project, given["configs"], where) if "configs" in given else None
        key = _texts(project, given["key"], where) if "key" in given else None
        yield Tuning(where, site.call.line, count, key)


def _texts(project: Project, value: Expr, where: FunctionRef) -> tuple[str, ...] | None:
    values = bound_to(project, value.id, where)[0] if isinstance(value, Name) else (value,)
    match values:
        case (Display(_, items),) if all(isinstance(item, Constant) for item in items):
            return tuple(str(item.value) for item in items if isinstance(item, Constant))
    return None
