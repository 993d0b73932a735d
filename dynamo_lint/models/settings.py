"""The settings of torch's compiler: which there are, of which type, and where a project gives them values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import MODULE_KEY, Attribute, Call, Class, Constant, Display, Expr, Function
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef, Symbol

DYNAMO = "torch._dynamo.config"
_NAME = re.compile(
    r"(torch\.(?:_dynamo|_inductor|_functorch|compiler)\.config|torch\.fx\.experimental\._config)(?:\.(.+))?"
)
"""A module whose attributes are settings, and what follows it in a name: it refuses names that it lacks."""
_PATCH = "patch_dynamo_config"
Span = tuple[str, range]
"""A file, and lines of it."""


@dataclass(frozen=True, slots=True)
class Made:
    """A value that the code gives a setting."""

    module: str
    """The module of the setting: `torch._dynamo.config`."""
    name: str
    """In it: `recompile_limit`, or `triton.cudagraphs`."""
    value: Expr
    where: FunctionRef
    line: int
    stored: bool = True
    """The setting is assigned; else it is patched for a while, or its set or table gets one item more."""
    span: Span | None = None
    """Where the calls stand that see it: a `with` block, a decorated function; None if all do."""


@dataclass(frozen=True, slots=True)
class KnownSettings:
    """The settings of one version of torch."""

    torch: tuple[int, int]
    types: Mapping[str, str]
    """By dotted name, such as `bool`, `int | None`, or `any`."""
    since: Mapping[str, tuple[int, int]]
    aliases: Mapping[str, str]
    """Older names, and the names of today."""
    modes: tuple[str, ...]
    backends: tuple[str, ...]
    defaults: Mapping[str, bool | int]
    """Those of torch._dynamo.config that are a number or a switch."""
    variables: Mapping[str, tuple[str, ...]]
    """The environment variables that decide a setting where no code does."""
    overriding: Mapping[str, tuple[str, ...]]
    """The environment variables that decide a setting whatever the code says."""


_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool, int),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "None": (type(None),),
}


_WORDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a string"}


@cache
def known_settings() -> KnownSettings:
    """The settings of the newest version that the rules know."""
    data = knowledge.table("settings")
    rows = _by_name(data["settings"])
    aliases = {name: kind.removeprefix("as ") for name, kind in rows.items() if kind.startswith("as ")}
    types = {name: rows.get(aliases.get(name, name), "any") for name in rows}
    return KnownSettings(
        torch=_version(data["torch"]),
        types=types,
        since={name: _version(text) for name, text in data["since"].items()},
        aliases=aliases,
        modes=tuple(data["modes"]),
        backends=tuple(data["backends"]),
        defaults=_by_name(data["defaults"]),
        variables=_by_name(data["variables"]),
        overriding=_by_name(data["overriding"]),
    )


def _by_name(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of the tables of some modules, by dotted name."""
    return {f"{module}.{name}": row for module, rows in tables.items() for name, row in rows.items()}


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def fits(value: object, kind: str) -> bool:
    """Whether a value is of a type as the table spells it: a number that is 1 may stand for true."""
    if kind == "any":
        return True
    allowed = [kind_of for word in kind.split(" | ") for kind_of in _TYPES.get(word, ())]
    return isinstance(value, tuple(allowed)) and (not isinstance(value, bool) or bool in allowed)


def types_said(kind: str) -> str:
    """A type as the table spells it, in words: `true or false`, `a whole number or a string`."""
    return " or ".join(_WORDS[word] for word in kind.split(" | ") if word in _WORDS)


def name_today(name: str) -> str:
    """The dotted name of a setting, by its newest name; one without a module is one of Dynamo."""
    dotted = name if "." in name else f"{DYNAMO}.{name}"
    return known_settings().aliases.get(dotted, dotted)


def settings_made(project: Project) -> tuple[Made, ...]:
    """Every value that the code gives a setting, once each."""
    if "settings made" not in project.memo:
        project.memo["settings made"] = tuple(dict.fromkeys((*_stored(project), *_passed(project))))
    return project.memo["settings made"]  # type: ignore[return-value]


def _stored(project: Project) -> Iterator[Made]:
    """`config.name = value`, `setattr(config, "name", value)` and `config.name.add(value)`."""
    for where, store in project.named("settings made").get("", ()):
        for module, name in _meant(project, store.owner, store.name, where):
            yield Made(module, name, store.value, where, store.line)
    for where, site in project.calls_of("setattr"):
        match site.call.arguments:
            case (owner, Constant(str(name)), value):
                for module, whole in _meant(project, owner, name, where):
                    yield Made(module, whole, value, where, site.call.line)
    for method in ("add", "update"):
        for where, site in project.calls_of(method):
            match site.call.function:
                case Attribute(Attribute(owner, name), _):
                    for module, whole in _meant(project, owner, name, where):
                        yield Made(module, whole, site.call, where, site.call.line, stored=False)


def makes_any(project: Project, module: str) -> bool:
    """Whether code sets settings of a module by names that only a run knows: `setattr(config, name, 1)`."""
    for name, place in (("setattr", 1), ("patch", 0), ("update", 0), ("__setattr__", 0)):
        for where, site in project.calls_of(name):
            call = site.call
            owner = call.arguments[0] if name == "setattr" and call.arguments else call.function
            owner = owner.value if name != "setattr" and isinstance(owner, Attribute) else owner
            given = call.arguments[place : place + 1]
            literal = bool(given) and (
                isinstance(given[0], Constant) or (isinstance(given[0], Display) and given[0].kind == "dict")
            )
            stars = any(key is None for key, _ in call.keywords)
            if (given and not literal) or stars:
                symbols = project.symbols(owner, where.path, where.key)
                if any(isinstance(one, ExternalSymbol) and one.dotted.startswith(module) for one in symbols):
                    return True
    return False


def _meant(project: Project, owner: Expr, name: str, where: FunctionRef) -> Iterator[tuple[str, str]]:
    """The module and the name of a setting that an attribute is, if it is one."""
    for symbol in project.symbols(owner, where.path, where.key):
        dotted = symbol.dotted if isinstance(symbol, ExternalSymbol) else ""
        if found := _NAME.fullmatch(f"{dotted}.{name}"):
            yield found[1], found[2]


def _passed(project: Project) -> Iterator[Made]:
    """The settings of `config.patch(…)`, as a context manager or as a decorator."""
    for method in ("patch", _PATCH):
        decorators = project.decorated_with(method)
        apart = {(decorated.path, call) for decorated, call in decorators}
        for where, site in project.calls_of(method):
            if (where.path, site.call) not in apart:
                span = _span(project, where, site.call)
                yield from _patched(project, site.call, where, span)
        for decorated, call in decorators:
            one: Class | Function = (
                project.class_(decorated) if isinstance(decorated, ClassRef) else project.function(decorated)
            )
            lines = decorated.path, range(one.line, one.end_line + 1)
            yield from _patched(project, call, FunctionRef(decorated.path, one.outer or MODULE_KEY), lines)


def _span(project: Project, where: FunctionRef, call: Call) -> Span | None:
    """The lines in which `config.patch(…)` is in force: its block, or else the rest of the function."""
    function = project.function(where)
    for first, last, manager in function.patched:
        if manager == call:
            return where.path, range(first, last + 1)
    return (where.path, range(call.line, function.end_line + 1)) if where.key != MODULE_KEY else None


def _patched(project: Project, call: Expr, where: FunctionRef, span: Span | None) -> Iterator[Made]:
    """The names and values in `config.patch(name=…)`, `patch("name", …)` or `patch({"name": …})`."""
    if not isinstance(call, Call):
        return
    symbols = project.symbols(call.function, where.path, where.key)
    module = next((found for one in symbols if (found := _patched_module(one))), "")
    if not module:
        return
    given: list[tuple[str | None, Any]] = list(call.keywords)
    match call.arguments:
        case (Display("dict", values, names), *_):
            given += zip(names, values, strict=False)
        case (Constant(str(named)), value, *_):
            given.append((named, value))
    for name, value in given:
        if name is not None:
            yield Made(module, name, value, where, call.line, False, span)


def _patched_module(symbol: Symbol) -> str:
    """The module whose settings a function patches; empty for other functions."""
    dotted = symbol.dotted if isinstance(symbol, ExternalSymbol) else ""
    if dotted.startswith("torch._dynamo.") and dotted.endswith(_PATCH):
        return DYNAMO
    found = _NAME.fullmatch(dotted)
    return found[1] if found and found[2] == "patch" else ""
