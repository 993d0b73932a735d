"""DYN514: an environment variable of torch has a value that is misread, or a name that is not read."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import Constant
from dynamo_lint.models.environment import environment, misreading, unknown
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.program.project import Project
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.eager_code import line_of
from dynamo_lint.state.environment_writes import EnvironmentWrite, environment_writes
from dynamo_lint.state.provenance import Tables

_READS = ("get", "getenv")
_OFF_SWITCHES = frozenset({"TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"})
"""Variables that turn compiling off: where they are read as off, nothing is lost."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
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
        effect="",
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
        effect="",
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


MISREAD_ENVIRONMENT = Rule("DYN514", "misread-environment", check)
