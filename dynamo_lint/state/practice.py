"""How a project goes about compiling: settings, resets, options, caches, checkpoints, kernels that are tuned.

These are facts of the whole project, whether or not anything in it is compiled; the policy rules read them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index.ir import (
    MODULE_KEY,
    Attribute,
    Call,
    Choice,
    Constant,
    Expr,
    Name,
)
from dynamo_lint.index.walking import walk
from dynamo_lint.models.environment import environment
from dynamo_lint.models.settings import Made, settings_made
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef
from dynamo_lint.state.checkpoints import Saved, saved_wrappers
from dynamo_lint.state.environment_writes import environment_writes
from dynamo_lint.state.expressions import bound_to, constant
from dynamo_lint.state.launchers import launcher_writes
from dynamo_lint.state.tuning import Tuning, tunings

RESETS = knowledge.names("reset")
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/run")
_OPTIONS = frozenset({"mode", "options", "backend", "fullgraph", "dynamic"})
"""Keywords by which a `.compile()` is that of a module."""


@dataclass(frozen=True, slots=True)
class FunctionLine:
    """A line that does something."""

    where: FunctionRef
    line: int


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """A folder that the code gives a cache."""

    where: FunctionRef
    line: int
    variable: str
    fault: str
    """`empty`, `temporary` or `relative`."""


@dataclass(frozen=True, slots=True)
class Options:
    """A call that compiles, with what it asks for."""

    where: FunctionRef
    line: int
    keywords: tuple[tuple[str, Expr], ...]
    sure: bool = True
    """It is known to be torch's; else a method `compile` with its keywords."""


@dataclass(frozen=True, slots=True)
class Practice:
    """The facts."""

    settings: tuple[Made, ...] = ()
    resets: tuple[FunctionLine, ...] = ()
    compiles: tuple[Options, ...] = ()
    caches: tuple[CacheFolder, ...] = ()
    saved: tuple[Saved, ...] = ()
    tunings: tuple[Tuning, ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.settings or self.resets or self.compiles or self.caches or self.saved or self.tunings
        )


def practice_of(project: Project) -> Practice:
    """The facts of a project, gathered once."""
    if "practice" not in project.memo:
        compiles = tuple(dict.fromkeys(_compiles(project)))
        project.memo["practice"] = Practice(
            settings_made(project),
            tuple(sorted(set(_resets(project)), key=lambda one: (one.where.path, one.line))),
            compiles,
            tuple(dict.fromkeys(_caches(project))),
            saved_wrappers(project) if compiles else (),
            tunings(project),
        )
    return project.memo["practice"]  # type: ignore[return-value]


def _resets(project: Project) -> Iterator[FunctionLine]:
    for name in sorted({"reset", *project.aliases_of("reset")}):
        for where, site in project.calls_of(name):
            symbols = project.symbols(site.call.function, where.path, where.key)
            if any(isinstance(one, ExternalSymbol) and one.dotted in RESETS for one in symbols):
                yield FunctionLine(where, site.call.line)


def _compiles(project: Project) -> Iterator[Options]:
    """Calls and decorators that compile and say how."""
    for name in sorted({"compile", *project.aliases_of("compile")}):
        for where, site in project.calls_of(name):
            sure = _means_compile(project, site.call.function, where)
            if sure or _is_compiled_in_place(site.call):
                yield _options(site.call, where, sure)
        for decorated, decorator in project.decorated_with(name):
            if isinstance(decorator, Call):
                where = FunctionRef(decorated.path, MODULE_KEY)
                if _means_compile(project, decorator.function, where):
                    yield _options(decorator, where)
    for where, site in project.calls_of("partial"):
        match site.call.arguments:
            case (callee, *_) if _means_compile(project, callee, where):
                yield _options(site.call, where)


def _options(call: Call, where: FunctionRef, sure: bool = True) -> Options:
    return Options(where, call.line, tuple((name, value) for name, value in call.keywords if name), sure)


def _means_compile(project: Project, callee: Expr, where: FunctionRef) -> bool:
    return ExternalSymbol(COMPILE) in project.symbols(callee, where.path, where.key)


def _is_compiled_in_place(call: Call) -> bool:
    """Whether `model.compile(mode=…)` has only keywords that a module takes, and no argument."""
    names = {name for name, _ in call.keywords}
    return isinstance(call.function, Attribute) and not call.arguments and bool(names) and names <= _OPTIONS


# --- cache folders --------------------------------------------------------------------------------------


def _caches(project: Project) -> Iterator[CacheFolder]:
    for one in launcher_writes(project):
        if _is_cache(one.key) and one.value is not None and (fault := _of_text(one.value.replace("$", ""))):
            yield CacheFolder(one.where, one.line, one.key, fault)
    for one in environment_writes(project):
        value = one.expression if one.sets and _is_cache(one.key) else None
        if value is not None and (fault := _fault(project, value, one.where)):
            yield CacheFolder(one.where, one.line, one.key, fault)


def _is_cache(name: str) -> bool:
    """Whether a variable names the folder of a cache."""
    known = environment().variables.get(name) if "CACHE" in name else None
    return known is not None and known.kind == "folder"


def _fault(project: Project, value: Expr, where: FunctionRef) -> str:
    """Why a folder is no place for a cache; empty for one that may be."""
    match value:
        case Call(Name("str"), (inner,)) | Call(Attribute(inner, "as_posix"), ()):
            return _fault(project, inner, where)
        case Call(Attribute(Constant(str(text)), "format"), _):
            return _of_text(text)
        case Choice(options):  # `os.environ.get("CACHE") or "/tmp/cache"`
            found = [_fault(project, option, where) for option in options]
            return found[-1] if found and all(found) else ""
    symbols = project.symbols(value.function, where.path, where.key) if isinstance(value, Call) else ()
    for symbol in symbols:
        dotted = symbol.dotted if isinstance(symbol, ExternalSymbol) else ""
        if dotted.startswith("tempfile."):
            return "temporary"
        if isinstance(value, Call) and value.arguments and dotted in ("os.path.join", "pathlib.Path"):
            fault = _fault(project, value.arguments[0], where)
            return "" if fault == "empty" else fault
        if dotted.startswith(("os.path.", "pathlib.Path.")):
            return ""
    known = constant(project, value, where)
    if isinstance(value, Name) and known is None:
        values, home = bound_to(project, value.id, where)
        made = values[0] if len(values) == 1 else None
        return _fault(project, made, home) if isinstance(made, Call) and value not in walk(made) else ""
    return _of_text(known.value) if known is not None and isinstance(known.value, str) else ""


def _of_text(text: str) -> str:
    if not text:
        return "empty"
    if any(text == folder or text.startswith(f"{folder}/") for folder in _TEMPORARY):
        return "temporary"
    return "" if text.startswith(("/", "{}", "\\")) or text[1:2] == ":" else "relative"
