"""Rules about the environment of the process: compiled code reads it, and torch reads its own variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import Constant
from dynamo_lint.models.environment import COMPILER, USE, environment, misreading, unknown
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import (
    Claim,
    Context,
    Rule,
    at_line,
    finding,
    is_quiet,
    line_of,
    named,
    placed,
    region,
)
from dynamo_lint.state.environment_writes import ANY, EnvironmentWrite, environment_writes
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.torch_loading import loaded_before, starts_children


@dataclass(frozen=True, slots=True)
class Change:
    """One place that sets or unsets a variable."""

    key: str
    sets: bool
    conditional: bool
    where: FunctionRef
    line: int


def changes(tables: Tables) -> tuple[Change, ...]:
    """All changes of the environment in the project, outside compiled code."""
    hot = {one.function for one in tables.regions.hot}
    return tuple(
        Change(one.key, one.sets, _is_branched(tables, one), one.where, one.line)
        for one in environment_writes(tables.project)
        if one.where not in hot
    )


def _is_branched(tables: Tables, write: EnvironmentWrite) -> bool:
    return tables.project.function(write.where).is_conditional(write.line)


def changes_of(read: EnvironmentRead, known: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of the variable that is read."""
    key = _literal(read.key)
    return tuple(change for change in known if ANY in {key, change.key} or change.key == key)


def shown(tables: Tables, read: EnvironmentRead, known: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of just this variable that happen between two calls of compiled code, not at start."""
    exact = (change for change in changes_of(read, known) if change.key == _literal(read.key) != ANY)
    return tuple(one for one in exact if tables.drivers.often(one.where, one.line) in {"each", "some"})


def appears_later(found: tuple[Change, ...]) -> bool:
    """The variable is set at some point only, and was not there before."""
    sets = [change for change in found if change.sets]
    unsets = [change for change in found if not change.sets]
    return bool(sets) and all(s.conditional for s in sets) and not any(u.conditional for u in unsets)


def _literal(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ANY
    return value if isinstance(value, str) else ANY


def reads(tables: Tables) -> Iterator[tuple[CompiledFunction, EnvironmentRead]]:
    """Each read of hot code, once per line and key."""
    for hot, state in tables.functions:
        seen: set[tuple[int, str]] = set()
        for read in state.environment:
            if (read.position.line, read.key) not in seen:
                seen.add((read.position.line, read.key))
                yield hot, read


@named("DYN201", "environment-read")
def environment_read(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    known = changes(tables)
    for hot, read in reads(tables):
        if unguarded(read, known, context) or (read.form == "all" and not context.pedantic):
            continue
        found = shown(tables, read, known)
        claim = Claim(
            message=_message(read, region(tables, hot), context),
            cost=f"one compiled version per value, up to the recompile limit ({context.recompile_limit})"
            if found
            else "none while the variable is unchanged; otherwise one compiled version per value",
            effect="per-value",
            severity=None if found else "note",
            subject=f"os.environ[{read.key}]",
            advice="read it once, in `__init__` or at import, and keep the result",
            step="reads the environment",
        )
        yield finding(rule, tables, context, hot, read.position, claim)


def _message(read: EnvironmentRead, where: str, context: Context) -> str:
    what = f"the environment variable {read.key}" if read.key else "the environment"
    if read.form == "all":
        return f"all of the environment is read in the compiled `{where}`, which may stand in any guard"
    missed = ", but not on a missing one" if context.has("missing-variables-are-unguarded") else ""
    return f"{what} is read in the compiled `{where}`: Dynamo guards on a value that is set{missed}"


@named("DYN301", "unguarded-environment-read")
def unguarded_environment_read(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    known = changes(tables)
    for hot, read in reads(tables):
        if not unguarded(read, known, context):
            continue
        found = shown(tables, read, known)
        what = f"the environment variable {read.key}" if read.key else "the environment"
        where = region(tables, hot)
        if read.form == "getenv":
            message = f"{what} is read with `os.getenv` in the compiled `{where}`, which Dynamo never guards"
        else:
            message = (
                f"{what} is read in the compiled `{where}` before it is set, and Dynamo does not guard that"
            )
        claim = Claim(
            message=message,
            cost="compiled code keeps the value of the first compile; any later change is missed"
            if found
            else "none while the variable is unchanged; any later change is missed",
            effect="stale",
            severity=None if found else "note",
            subject=f"os.environ[{read.key}]",
            advice="read it once, in `__init__` or at import, and keep the result",
            step="reads the environment",
            related=tuple(Related(c.where.path, c.line, 1, "changed here") for c in found[:4]),
        )
        yield finding(rule, tables, context, hot, read.position, claim)


def unguarded(read: EnvironmentRead, known: tuple[Change, ...], context: Context) -> bool:
    """Whether this torch misses a change: of what `os.getenv` reads, or of what is absent at first."""
    if read.form == "getenv":
        return context.has("getenv-is-unguarded")
    asks = read.form in {"get", "in"} and appears_later(changes_of(read, known))
    return asks and context.has("missing-variables-are-unguarded")


@named("DYN513", "late-environment")
def late_environment(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per write that nothing reads any more."""
    project = tables.project
    for write in environment_writes(project):
        variable = environment().variables.get(write.key)
        if not write.sets or variable is None or variable.time == USE or is_rehearsal(write.where):
            continue
        if not variable.is_read_by(context.torch_version):
            continue
        in_place = {
            one.line
            for one in tables.regions.entries
            if one.idiom == "method" and one.path == write.where.path
        }
        loading = loaded_before(project, write.where, write.line, variable.time, in_place)
        if loading is None or starts_children(project, write.where):
            continue
        lazy = variable.time == COMPILER
        claim = Claim(
            message=f"`{write.key}` is set after `{loading.what}` in line {loading.line}, which has read it",
            cost="torch goes on with what the variable was before, without a word",
            severity="warning",
            subject=write.key,
            advice=(
                f"set it above line {loading.line}, or in the launcher"
                + (f", or set the option in `{variable.reader}`" if lazy else "")
            ),
            step="sets a variable that has been read",
            related=(Related(loading.path, loading.line, 1, "read here"),),
        )
        place = line_of(tables, write.where, write.line)
        yield placed(rule, context, write.where.path, place, write.where.id, claim)


_READS = ("get", "getenv")
_OFF_SWITCHES = frozenset({"TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"})
"""Variables that turn compiling off: where they are read as off, nothing is lost."""


@named("DYN514", "misread-environment")
def misread_environment(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per write that does not do what it says."""
    for write in environment_writes(tables.project):
        if not write.sets or is_rehearsal(write.where):
            continue
        claim = _value(write, context) or _name(write, context, tables.project)
        if claim is not None:
            place = line_of(tables, write.where, write.line)
            yield placed(rule, context, write.where.path, place, write.where.id, claim)


def _value(write: EnvironmentWrite, context: Context) -> Claim | None:
    """The claim about a value that is read as something else."""
    variable = environment().variables.get(write.key)
    if variable is None or write.value is None or not variable.is_read_by(context.torch_version):
        return None
    wrong = misreading(variable, write.value)
    if wrong is None or variable.kind == "folder":
        return None  # DYN518 is about folders
    harmless = variable.name in _OFF_SWITCHES and wrong.read_as == "off"
    hidden, fails = variable.kind == "any" and wrong.read_as == "on", wrong.read_as == "an error"
    return Claim(
        message=f'`{write.key}` is set to "{write.value}"'
        + (f": {wrong.why}" if fails else f", and torch reads {wrong.read_as}: {wrong.why}"),
        cost="code that cannot be compiled runs eagerly, without a word"
        if hidden
        else "code is compiled all the same, without a word"
        if harmless
        else "the run stops"
        if fails
        else "the run does the opposite of what the line says, without a word",
        severity="error" if hidden else "note" if harmless else "warning",
        subject=write.key,
        advice=wrong.advice,
        step="sets a variable that is misread",
    )


def _name(write: EnvironmentWrite, context: Context, project: Project) -> Claim | None:
    """The claim about a name that nothing reads, neither torch nor the project."""
    advice = unknown(write.key, context.torch_version)
    if advice is None or _is_read(project, write.key):
        return None
    version = ".".join(map(str, context.torch_version))
    return Claim(
        message=f"`{write.key}` is read by no code of torch {version}",
        cost="the line does nothing",
        severity="warning",
        subject=write.key,
        advice=advice,
        step="sets a variable that is not read",
    )


def _is_read(project: Project, name: str) -> bool:
    """Whether the project reads a variable itself: `os.environ.get("NAME")`."""
    return any(
        bool(site.call.arguments) and site.call.arguments[0] == Constant(name)
        for method in _READS
        for _, site in project.calls_of(method)
    )


_COSTS = {
    "empty": ("is set to an empty text", "torch takes the working directory, and fills it"),
    "temporary": (
        "is a temporary folder",
        "the next machine, or this one after a restart, compiles all again",
    ),
    "relative": ("is a relative path", "each working directory has a cache of its own"),
}


@named("DYN518", "cache-directory")
def cache_directory(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per variable that gets such a folder."""
    for one in tables.practice.caches:
        if is_quiet(tables.project, one.where):
            continue
        what, cost = _COSTS[one.fault]
        asked = dict(context.contract_of(one.where.path).environment)
        claim = Claim(
            message=f"`{one.variable}` {what}",
            cost=cost,
            severity="warning" if one.variable in asked else "note",
            subject=one.variable,
            advice="an absolute path on a volume that outlives the job, from the launcher",
            step="names the folder of a cache",
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)
