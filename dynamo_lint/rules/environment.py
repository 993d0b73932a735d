"""Rules about the environment of the process: compiled code reads it, and torch reads its own variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import Constant
from dynamo_lint.models.environment import COMPILER, OFF, USE, environment, misreading, unknown
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
    named,
    region,
)
from dynamo_lint.rules.launchers import breaches
from dynamo_lint.state.environment_writes import ANY, EnvironmentWrite, environment_writes
from dynamo_lint.state.launchers import launcher_writes
from dynamo_lint.state.model import EnvironmentRead
from dynamo_lint.state.process_groups import group_before, is_read_by_groups
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.torch_loading import loaded_before, starts_children


@named("DYN201", "environment-read")
def environment_read(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    for hot, read, changes in _reads(tables, context, guarded=True):
        if read.form == "all" and not context.pedantic:
            continue
        where = f"in the compiled `{region(tables, hot)}`"
        message = f"{_what(read)} is read {where}: Dynamo guards on a value that is set"
        if read.form == "all":
            message = f"all of the environment is read {where}, which may stand in any guard"
        elif context.has("missing-variables-are-unguarded"):
            message += ", but not on a missing one"
        claim = Claim(
            message=message,
            cost=f"one compiled version per value, up to the recompile limit ({context.recompile_limit})"
            if changes
            else "none while the variable is unchanged; otherwise one compiled version per value",
            effect="per-value",
            severity=None if changes else "note",
            subject=f"os.environ[{read.key}]",
            advice=_ADVICE,
            step="reads the environment",
        )
        yield finding(rule, tables, context, hot, read.position, claim)


@named("DYN301", "unguarded-environment-read")
def unguarded_environment_read(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per line and key; a note where nothing is seen to change the variable between calls."""
    for hot, read, changes in _reads(tables, context, guarded=False):
        how = f"in the compiled `{region(tables, hot)}` before it is set, and Dynamo does not guard that"
        if read.form == "getenv":
            how = f"with `os.getenv` in the compiled `{region(tables, hot)}`, which Dynamo never guards"
        claim = Claim(
            message=f"{_what(read)} is read {how}",
            cost="compiled code keeps the value of the first compile; any later change is missed"
            if changes
            else "none while the variable is unchanged; any later change is missed",
            effect="stale",
            severity=None if changes else "note",
            subject=f"os.environ[{read.key}]",
            advice=_ADVICE,
            step="reads the environment",
            related=tuple(Related(one.where.path, one.line, 1, "changed here") for one in changes[:4]),
        )
        yield finding(rule, tables, context, hot, read.position, claim)


_ADVICE = "read it once, in `__init__` or at import, and keep the result"


def _what(read: EnvironmentRead) -> str:
    return f"the environment variable {read.key}" if read.key else "the environment"


def _reads(
    tables: Tables, context: Context, *, guarded: bool
) -> Iterator[tuple[CompiledFunction, EnvironmentRead, list[EnvironmentWrite]]]:
    """The reads of hot code that Dynamo guards, or those that it does not, once per line and key.

    Each with the changes of just this variable that happen between two calls of compiled code, not at start.
    """
    compiled = {one.function for one in tables.regions.hot}
    writes = [one for one in environment_writes(tables.project) if one.where not in compiled]
    for hot, state in tables.functions:
        first: dict[tuple[int, str], EnvironmentRead] = {}
        for read in state.environment:
            first.setdefault((read.position.line, read.key), read)
        for read in first.values():
            key = _literal(read.key)
            changes = [one for one in writes if ANY in {key, one.key} or one.key == key]
            if _is_guarded(tables, context, read, changes) == guarded:
                exact = [one for one in changes if one.key == key != ANY]
                often = tables.drivers.often
                yield hot, read, [one for one in exact if often(one.where, one.line) in {"each", "some"}]


def _is_guarded(
    tables: Tables, context: Context, read: EnvironmentRead, changes: list[EnvironmentWrite]
) -> bool:
    """Whether this torch notices a change: not of what `os.getenv` reads, nor of what is absent at first."""
    if read.form == "getenv":
        return not context.has("getenv-is-unguarded")
    sets = [one for one in changes if one.sets]
    at_times = [one for one in changes if tables.project.function(one.where).is_conditional(one.line)]
    # The variable is set at some point only, and was not there before.
    later = bool(sets) and all(one.sets for one in at_times) and all(one in at_times for one in sets)
    return not (read.form in {"get", "in"} and later and context.has("missing-variables-are-unguarded"))


def _literal(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ANY
    return value if isinstance(value, str) else ANY


@named("DYN513", "late-environment")
def late_environment(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per write that nothing reads any more."""
    project = tables.project
    yield from _behind_groups(rule, tables, context)
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
        yield at_line(rule, tables, context, write.where, write.line, claim)


def _behind_groups(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """The writes of variables of NCCL behind the line that makes the process group."""
    for write in environment_writes(tables.project):
        if not write.sets or not is_read_by_groups(write.key) or is_rehearsal(write.where):
            continue
        made = group_before(tables.project, write.where, write.line)
        if made is None or starts_children(tables.project, write.where):
            continue
        place = f"line {made[1]}" if made[0] == write.where.path else f"{made[0]}:{made[1]}"
        claim = Claim(
            message=f"`{write.key}` is set after the process group was made in {place}, which reads it",
            cost="the group goes on with what the variable was before, without a word",
            severity="warning",
            subject=write.key,
            advice="set it above that line, or in the launcher",
            step="sets a variable that has been read",
            related=(Related(*made, 1, "read here"),),
        )
        yield at_line(rule, tables, context, write.where, write.line, claim)


_READS = ("get", "getenv")


@named("DYN514", "misread-environment")
def misread_environment(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per write that does not do what it says."""
    told: set[tuple[FunctionRef, int]] = set()
    for write in (*environment_writes(tables.project), *launcher_writes(tables.project)):
        if not write.sets or is_rehearsal(write.where):
            continue
        claim = _value(write, context) or _name(write, context, tables.project)
        if claim is not None:
            told.add((write.where, write.line))
            yield at_line(rule, tables, context, write.where, write.line, claim)
    for one in breaches(tables, context):
        if (one.where, one.line) not in told:
            yield at_line(rule, tables, context, one.where, one.line, one.claim)


def _value(write: EnvironmentWrite, context: Context) -> Claim | None:
    """The claim about a value that is read as something else."""
    variable = environment().variables.get(write.key)
    if variable is None or write.value is None or not variable.is_read_by(context.torch_version):
        return None
    wrong = misreading(variable, write.value)
    if wrong is None or variable.kind == "folder":
        return None  # DYN518 is about folders
    harmless = variable.name in OFF and wrong.read_as == "off"
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
    told = {(one.where, one.line) for one in breaches(tables, context)}
    for one in tables.practice.caches:
        if is_quiet(tables.project, one.where) or (one.where, one.line) in told:
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
