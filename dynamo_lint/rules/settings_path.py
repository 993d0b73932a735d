"""The settings of the contract on the path of each program: all are made, and before compiled code runs."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.contract import Contract
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Related
from dynamo_lint.index.ir import MODULE_KEY, Constant
from dynamo_lint.interpreter.find import Run, runs
from dynamo_lint.interpreter.model import Met, Site
from dynamo_lint.models.settings import known_settings, makes_any, name_today, settings_made
from dynamo_lint.program.files import is_rehearsal, one_program
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.declared import definitions
from dynamo_lint.rules.base import Context, is_quiet
from dynamo_lint.rules.off_switches import reading
from dynamo_lint.state.environment_writes import ANY, environment_writes
from dynamo_lint.state.expressions import constant
from dynamo_lint.state.launchers import launcher_writes
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of

LIMITS = ("recompile_limit", "accumulated_recompile_limit")
"""What the contract says of these is how high they may be: see DYN511."""
_PROGRAMS = frozenset({"main", "cli", "run", "train"})
"""Functions that a program may begin with, where nothing calls them."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A line, and how the contract is broken there."""

    where: FunctionRef
    line: int
    message: str
    subject: str
    related: tuple[Related, ...] = ()
    note: bool = False


def breaches(tables: Tables, context: Context) -> Iterator[Breach]:
    """All breaches, one for each program and one for the settings that are missing."""
    project = tables.project
    own = {path for path, _ in context.own_contracts}
    for path, contract in [(None, context.contract), *context.own_contracts]:
        site = _site(project, contract)
        if contract.settings:
            yield from _missing(tables, contract, site, path, own)
            yield from _conditional(tables, contract, path, own)
    if any(one.settings_site for one in (context.contract, *(two for _, two in context.own_contracts))):
        yield from _of_programs(tables, context)


def _site(project: Project, contract: Contract) -> FunctionRef | None:
    named = definitions(project, contract.settings_site) if contract.settings_site else ()
    return next((one for one in named if isinstance(one, FunctionRef)), None)


def _holds(path: str, file: str | None, own: set[str]) -> bool:
    """Whether the contract of a file, or that of all others, holds in another file."""
    return path == file if file is not None else path not in own


# --- what is made ---------------------------------------------------------------------------------------


def _missing(
    tables: Tables, contract: Contract, site: FunctionRef | None, path: str | None, own: set[str]
) -> Iterator[Breach]:
    """The settings that no code makes, where torch has another value by itself."""
    project, known = tables.project, known_settings()
    made = {name_today(f"{one.module}.{one.name}") for one in settings_made(project)}
    variables = {one.key for one in (*environment_writes(project), *launcher_writes(project)) if one.sets}
    variables |= {name for name, _ in contract.environment}
    lacking = []
    for said, value in contract.settings:
        name = name_today(said)
        if name in made or name.rpartition(".")[2] in LIMITS or makes_any(project, name.rpartition(".")[0]):
            continue
        deciding = {*known.variables.get(name, ()), *known.overriding.get(name, ())}
        default = known.defaults.get(name)
        if deciding & variables or (deciding and ANY in variables) or default == value:
            continue
        by_itself = "" if default is None else f", and torch's own default is {default}"
        lacking.append(f"`{said}`, which the contract says is {value!r}{by_itself}")
    entry = next((one for one in tables.regions.entries if _holds(one.path, path, own)), None)
    at = (site, project.function(site).line) if site is not None and _holds(site.path, path, own) else None
    if at is None and entry is not None:
        at = FunctionRef(entry.path, MODULE_KEY), entry.line
    if lacking and at is not None and not is_quiet(project, at[0]):
        yield Breach(*at, f"no code sets {'; nor '.join(lacking)}", lacking[0].split("`")[1])


def _conditional(tables: Tables, contract: Contract, path: str | None, own: set[str]) -> Iterator[Breach]:
    """The settings that are made under a condition alone, by the function that makes them."""
    project = tables.project
    wanted = {name_today(said): value for said, value in contract.settings}
    defaults = known_settings().defaults
    sites: dict[str, list[tuple[FunctionRef, int, str]]] = {}
    for made in settings_made(project):
        name = name_today(f"{made.module}.{made.name}")
        value = constant(project, made.value, made.where)
        right = isinstance(value, Constant) and value.value == wanted.get(name)
        if (
            name in wanted
            and right
            and _holds(made.where.path, path, own)
            and not is_quiet(project, made.where)
        ):
            sites.setdefault(name, []).append((made.where, made.line, made.name))
    for name, places in sites.items():
        where, line, short = places[0]
        differs = len(places) == 1 and defaults.get(name) != wanted[name]
        if differs and reading(tables).runs_with(where, line) is not True:
            message = f"`{short}` is set under a condition alone, and the contract says always"
            yield Breach(where, line, message, short)


# --- when it is made ------------------------------------------------------------------------------------


def _of_programs(tables: Tables, context: Context) -> Iterator[Breach]:
    """One breach for each program that calls compiled code before the function that makes the settings."""
    project, seen, judged = tables.project, set[FunctionRef](), set[FunctionRef]()
    for run in runs(tables):
        site = _site(project, context.contract_of(run.root.path))
        first = next((one for one in run.met), None)
        if site is None or first is None or not _is_program(project, run):
            continue
        judged.add(site)
        breach = _of_program(tables, run, site, first)
        if breach is not None and breach.where not in seen:
            seen.add(breach.where)
            yield breach
    for site in dict.fromkeys(
        one
        for contract in (context.contract, *(own for _, own in context.own_contracts))
        if (one := _site(project, contract)) is not None
    ):
        called = points_to_of(project).call_sites(site) or _may_be_called(project, site)
        if not (site in judged or called or is_quiet(project, site)):
            name = project.function(site).qualname
            message = f"`{name}` is the contract's `settings-site`, and no code calls it"
            yield Breach(site, project.function(site).line, message, name)


def _is_program(project: Project, run: Run) -> bool:
    """Whether a run is one of something that users start."""
    if run.tried or is_rehearsal(run.root) or is_quiet(project, run.root):
        return False
    return run.root.key == MODULE_KEY or run.root.key in _PROGRAMS


def _of_program(tables: Tables, run: Run, site: FunctionRef, first: Met) -> Breach | None:
    """How a program breaks the contract, if it does."""
    project = tables.project
    name = project.function(site).qualname
    begun = run.begun.get(site)
    called = first.called
    place = f"line {called.node.lineno}" if begun and begun.site.where.path == called.where.path else None
    place = place or f"{called.where.path}:{called.node.lineno}"
    made = Related(site.path, project.function(site).line, 1, "makes the settings")
    if begun is None:
        if _on_import(project, run.root, site):
            return None
        doubt = run.weakened and bool(_callers(project, run.root, site))
        message = f"compiled code is called here, and `{name}`, the contract's `settings-site`, never is"
        at = _in_root(run, called)
        deeper = () if at == called else (Related(*called.place, 1, "the first call of compiled code"),)
        return Breach(at.where, at.node.lineno, message, name, (*deeper, made), doubt)
    where, line = begun.site.where, begun.site.node.lineno
    compiled = Related(called.where.path, called.node.lineno, 1, "the first call of compiled code")
    if begun.calls:
        message = f"`{name}`, the contract's `settings-site`, is called after compiled code, at {place}"
        return Breach(where, line, message, name, (compiled, made))
    if begun.doubt and not first.doubt:
        message = f"`{name}`, the contract's `settings-site`, is called under a condition alone"
        return Breach(where, line, message, name, (compiled, made))
    return None


def _in_root(run: Run, called: Site) -> Site:
    """The line in the file of a program that leads to a call."""
    before = (one.site for one in run.begun.values() if not one.calls)
    inside = [site for site in before if site.where.path == run.root.path]
    return inside[-1] if inside and called.where.path != run.root.path else called


def _callers(project: Project, root: FunctionRef, site: FunctionRef) -> list[FunctionRef]:
    """The functions of a program that call the one that makes the settings."""
    callers = (one.function for one, _ in points_to_of(project).call_sites(site))
    return [one for one in callers if one_program(project, root.path, one.path)]


def _on_import(project: Project, root: FunctionRef, site: FunctionRef) -> bool:
    """Whether another file of a program calls it while it is imported."""
    return any(one.key == MODULE_KEY and one.path != root.path for one in _callers(project, root, site))


def _may_be_called(project: Project, site: FunctionRef) -> bool:
    """Whether something may call it that is not seen: it is handed on, or a decorator registers it."""
    name = site.key.rpartition(".")[2]
    return bool(project.function(site).decorators or project.named("called as").get(name))
