"""The environment variables that code sets or unsets, with their values where those are literal."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import Attribute, Call, Constant, Display, Element, Expr, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef

SETS = frozenset({"setdefault", "putenv", "setenv", "update"})
UNSETS = frozenset({"pop", "unsetenv", "delenv", "clear", "__delitem__"})
_PLAIN = frozenset({"putenv", "unsetenv", "setenv", "delenv"})
"""Functions by these names change the environment whatever they belong to."""
ANY = "*"


@dataclass(frozen=True, slots=True)
class EnvironmentWrite:
    """One place that sets or unsets a variable."""

    where: FunctionRef
    line: int
    key: str
    """`ANY` if the code does not say which."""
    value: str | None
    """None if the code does not say which, or where the variable is unset."""
    sets: bool
    expression: Expr | None = None
    """The value as it is written."""
    default: bool = False
    """It is set only where it is not: `os.environ.setdefault(…)`."""


def environment_writes(project: Project) -> tuple[EnvironmentWrite, ...]:
    """Every write of the environment in the project, gathered once."""
    if "environment writes" not in project.memo:
        project.memo["environment writes"] = tuple(dict.fromkeys((*_stored(project), *_called(project))))
    return project.memo["environment writes"]  # type: ignore[return-value]


def _stored(project: Project) -> Iterator[EnvironmentWrite]:
    """`os.environ["NAME"] = value`, and `os.environ |= {"NAME": value}`."""
    for where, store in project.items_stored("environ"):
        if terminal_name(store.owner) != "environ":
            continue
        pairs: list[tuple[str, Expr]] = [(_text(project, store.index, where) or ANY, store.value)]
        match store.value:
            case Element(Display("dict", values, keys)) if store.index is None:
                pairs = [(key or ANY, value) for key, value in zip(keys, values, strict=False)]
        for key, value in pairs:
            yield EnvironmentWrite(where, store.line, key, _text(project, value, where), True, value)


def _called(project: Project) -> Iterator[EnvironmentWrite]:
    """`os.environ.setdefault("NAME", value)`, `os.environ.update(…)`, `os.putenv(…)` and their opposites."""
    for name in sorted(SETS | UNSETS):
        for where, site in project.calls_of(name):
            call = site.call
            owner = call.function.value if isinstance(call.function, Attribute) else None
            if name not in _PLAIN and (owner is None or terminal_name(owner) != "environ"):
                continue
            for key, value in _given(call, name):
                text = _text(project, value, where) if name in SETS else None
                known = _text(project, key, where) if isinstance(key, Constant | Name) else None
                default = name == "setdefault"
                yield EnvironmentWrite(where, call.line, known or ANY, text, name in SETS, value, default)


def _given(call: Call, name: str) -> Iterator[tuple[Expr | None, Expr | None]]:
    """The names and values that a call hands over; None for those that it does not spell out."""
    if name != "update":
        yield (call.arguments[0] if call.arguments else None), (call.arguments[1:2] or (None,))[0]
        return
    pairs = list(call.keywords)
    match call.arguments:
        case (Display("dict", values, keys),):
            pairs += zip(keys, values, strict=False)
        case (Call(Name("dict"), (), keywords),):
            pairs += keywords
        case (_, *_):
            pairs.append((None, call))
    for key, value in pairs:
        yield (None if key is None else Constant(key)), value


def _text(project: Project, value: Expr | None, where: FunctionRef) -> str | None:
    """The text that an expression is: by itself, or by the one literal that its name is bound to."""
    if isinstance(value, Name):
        local = project.locals_of(project.home_of(value.id, where)).get(value.id)
        bound = () if local is None or local.parameter is not None else local.bound
        value = bound[0] if len(bound) == 1 else None
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None
