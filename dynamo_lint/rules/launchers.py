"""DYN514 under a contract: code and launchers that undo the variables of its environment, or lack them."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.contract import PART, RANKS, XLA, Expectation, text_fault, value_fault
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Related
from dynamo_lint.index.ir import Exported
from dynamo_lint.program.files import is_measured, is_rehearsal, reached
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.rules.base import Claim, Context
from dynamo_lint.rules.off_switches import reading
from dynamo_lint.state.environment_writes import ANY, EnvironmentWrite, environment_writes
from dynamo_lint.state.launchers import Started, launchers_of, started
from dynamo_lint.state.process_groups import is_distributed
from dynamo_lint.state.provenance import Tables


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim, with its place."""

    where: FunctionRef
    line: int
    claim: Claim


def breaches(tables: Tables, context: Context) -> Iterator[PlacedClaim]:
    """All places that break what the contract says of the environment."""
    for path in launchers_of(tables.project):
        tables.bodies.line(FunctionRef(path, "<module>"), 1)  # the verdict hangs on all of its text
    for write in environment_writes(tables.project):
        if not is_rehearsal(write.where):
            yield from _undone(tables, context, write)
    yield from _given(tables, context)
    lacking: dict[tuple[FunctionRef, int], PlacedClaim] = {}
    for one in started(tables.project):
        if claim := _lacking(tables, context, one):
            lacking.setdefault((one.where, one.line), PlacedClaim(one.where, one.line, claim))
    yield from lacking.values()


def _wanted(context: Context, path: str) -> dict[str, Expectation]:
    return dict(context.contract_of(path).environment)


# --- code ------------------------------------------------------------------------------------------------


def _undone(tables: Tables, context: Context, write: EnvironmentWrite) -> Iterator[PlacedClaim]:
    """The claim about a line of code that gives a variable what the contract does not want."""
    project = tables.project
    wanted = _wanted(context, write.where.path).get(write.key)
    if wanted is None or not _applies(project, wanted, write.where.path):
        return
    if reading(tables).runs(write.where, write.line) is False:
        return  # somebody has to ask for it
    if not write.sets:
        fault = "" if _is_set_again(project, write) else value_fault(None, wanted)
        does = "is unset here"
    else:
        fault = text_fault(write.value, wanted) if write.value is not None else ""
        does = f'is set to "{write.value}" here'
    if fault:
        yield PlacedClaim(
            write.where, write.line, _claim(write.key, does, fault, "note" if write.default else "warning")
        )


def _is_set_again(project: Project, write: EnvironmentWrite) -> bool:
    """Whether a variable is unset for a while alone."""
    writes = (
        one for one in environment_writes(project) if one.where == write.where and one.line > write.line
    )
    return any(one.sets and one.key in (write.key, ANY) for one in writes)


def _claim(name: str, does: str, fault: str, severity: str) -> Claim:
    why, _, advice = fault.partition("; ")
    return Claim(
        message=f"`{name}` {does}, and {why}",
        cost="what the launcher was checked for does not hold any more in the job"
        if severity != "note"
        else "where the launcher does not set it, the contract is broken",
        severity=severity,
        subject=name,
        advice=f"{advice}, or leave it to the launcher",
        step="undoes a variable of the contract",
    )


def _applies(project: Project, wanted: Expectation, path: str) -> bool:
    """Whether a demand is one on the program that a file belongs to."""
    if wanted.when == RANKS:
        return is_distributed(project, frozenset(reached(project, path)))
    return True


# --- launchers -------------------------------------------------------------------------------------------


def _given(tables: Tables, context: Context) -> Iterator[PlacedClaim]:
    """The claims about lines of launchers that give a variable what the contract does not want."""
    for path, launcher in launchers_of(tables.project).items():
        table = _wanted(context, path)
        ranks = any(one.ranks for one in launcher.launches)
        for one in launcher.exports if table else ():
            wanted = table.get(one.name)
            if wanted is None or one.value is None or (wanted.when == RANKS and not ranks):
                continue
            if fault := text_fault(one.value, wanted):
                shown = one.value.replace(PART, "…")
                does = f'is set to "{shown}" here' + (" by default" if one.default else "")
                severity = "note" if one.conditional else "warning"
                yield PlacedClaim(
                    FunctionRef(path, "<module>"), one.line, _claim(one.name, does, fault, severity)
                )


def _lacking(tables: Tables, context: Context, one: Started) -> Claim | None:
    """The claim about a program that is started without variables of the contract."""
    project = tables.project
    table = _wanted(context, one.where.path)
    files = reached(project, one.program)
    compiled = {entry.path for entry in tables.regions.entries}
    if not table or is_measured(one.program) or files.isdisjoint(compiled):
        return None
    own = {write.key for write in environment_writes(project) if write.sets and write.where.path in files}
    given: dict[str, list[Exported]] = {}
    for export in one.given:
        given.setdefault(export.name, []).append(export)
    loud: list[str] = []
    doubtful: list[str] = []
    for name, wanted in table.items():
        if (
            not _concerns(project, wanted, one)
            or not value_fault(None, wanted)
            or not own.isdisjoint({name, ANY})
        ):
            continue
        exports = given.get(name, [])
        if any(
            not export.conditional and (export.value is not None or not export.default) for export in exports
        ):
            continue
        unsure = exports or one.opened or any(export.name == name for export in one.elsewhere)
        (doubtful if unsure else loud).append(name)
    names = loud or doubtful
    if not names:
        return None
    told = (
        " and ".join([", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`"])
        if names[1:]
        else f"`{names[0]}`"
    )
    unless = f", unless {_reason(one, given.get(names[0], []))} does" if not loud else ""
    return Claim(
        message=f"this launcher runs `{one.program}`, which compiles, and does not set {told}{unless}; "
        f"the contract wants {'it' if len(names) == 1 else 'them'}",
        cost="the job starts with what is set by chance; `dynamo-lint doctor` in front of it would stop it",
        severity="warning" if loud else "note",
        subject=", ".join(names),
        advice="export it before the program is started"
        if len(names) == 1
        else "export them before the program is started",
        step="starts a program",
        related=(Related(one.program, 1, 1, "started here"),),
    )


def _reason(one: Started, exports: list[Exported]) -> str:
    """Who may give a variable that is not seen to be given."""
    if any(export.conditional for export in exports):
        return f"the condition around line {exports[0].line}"
    if exports:
        return "who calls it"
    return f"`{one.opened}`" if one.opened else "a container of the project"


def _concerns(project: Project, wanted: Expectation, one: Started) -> bool:
    """Whether a demand is one on the job that is started."""
    if wanted.when == RANKS:
        return one.ranks
    if wanted.when == XLA:
        imports = {name for path in reached(project, one.program) for name in _imports(project, path)}
        return not imports.isdisjoint({"torch_xla", "jax"})
    return True


def _imports(project: Project, path: str) -> Iterator[str]:
    for target in project.imports_of(path):
        yield target.module.partition(".")[0]
