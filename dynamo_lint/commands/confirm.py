"""`dynamo-lint confirm`: run probes under torch and compare the findings with what Dynamo did."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import WithCommand, section
from dynamo_lint.config import Settings, override, parse_torch_version
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.trouble import EXIT_FINDINGS, Trouble, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dynamo_lint.confirm.automatic import MadeProbe
    from dynamo_lint.confirm.model import Request, Setting
    from dynamo_lint.confirm.probes import ProbeRef
    from dynamo_lint.confirm.run import Comparison
    from dynamo_lint.confirm.shape import Difference
    from dynamo_lint.confirm.verdicts import ProbeReport
    from dynamo_lint.contract import Contract
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.findings import Finding
    from dynamo_lint.terminal import Look

    Reports = list[ProbeReport]
    Testify = Callable[[list[ProbeRef], Sequence[Finding], Path, bool], Reports]

probe_option = section("Probes")
run_option = section("The run")
SECONDS, SECONDS_MADE = 300.0, 120.0
"""The time limit of a probe, and of one that was made."""
MISSING = (
    "torch is not installed here; install it with `pip install 'dynamo-lint[confirm]'`, "
    "or name a Python that has it with --python"
)


def _settings(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[Setting, ...]:
    from dynamo_lint.confirm.run import read_setting

    try:
        return tuple(read_setting(value) for value in values)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None


@click.command(cls=WithCommand, short_help="Run probes under torch and check the findings against Dynamo.")
@click.argument("probes", nargs=-1, metavar="[PROBE]... | --auto [PATH]... | -- COMMAND...")
@probe_option("--auto", is_flag=True, help="Make a probe for each compiled region of PATH, and run these.")
@probe_option(
    "--write-probe",
    type=common.FILE,
    metavar="FILE",
    help="With --auto: write the probes to a new file, those that a person must complete among them.",
)
@run_option(
    "--calls",
    type=click.IntRange(1),
    default=12,
    metavar="N",
    help="Number of calls of each probe (default: 12).",
)
@run_option(
    "--backend",
    type=click.Choice(["aot_eager", "eager", "inductor"]),
    default="aot_eager",
    metavar="NAME",
    help="aot_eager (default), eager (hides recompiles of floats) or inductor (as in production).",
)
@run_option(
    "--set",
    "schedule",
    multiple=True,
    callback=_settings,
    metavar="NAME=V1,V2,V3",
    help="After the calls, set Class.attribute to each value for two calls.",
)
@run_option(
    "--timeout",
    type=click.FloatRange(1),
    default=None,
    metavar="S",
    help="Time limit for each probe in seconds (default: 300; with --auto 120).",
)
@run_option(
    "--fixed", is_flag=True, help="Run the probes again on a copy with all fixes applied, and compare."
)
@run_option(
    "--compare", is_flag=True, help="Exit 1 if the graphs of two probes differ: breaks, graphs or operators."
)
@run_option("--python", metavar="EXE", help="The Python interpreter that has torch and your project.")
@run_option(
    "--project",
    "projects",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="What to lint. Default: the folders of the modules that the probes import.",
)
@common.region_options
@common.limit_option("--max-recompiles", help="Exit 1 if a probe has more recompiles.")
@common.limit_option(
    "--max-breaks",
    "--max-graph-breaks",
    "max_breaks",
    help="Exit 1 if a probe has more graph breaks; says on which lines.",
)
@common.limit_option("--max-graphs", help="Exit 1 if a probe compiles more graphs.")
@common.file_options
@common.output_format_option("text", "json", "html")
@common.output_file_option("the result")
@common.output_option(
    "--receipt", type=common.FILE, metavar="FILE", help="Also write the full result as JSON."
)
@common.color_option
@common.output_option("-q", "--quiet", is_flag=True, help="Print the result only.")
def confirm(
    probes: tuple[str, ...],
    command: tuple[str, ...],
    auto: bool,
    write_probe: Path | None,
    calls: int,
    backend: str,
    schedule: tuple[Setting, ...],
    timeout: float | None,
    fixed: bool,
    compare: bool,
    python: str | None,
    projects: tuple[Path, ...],
    max_recompiles: int | None,
    max_breaks: int | None,
    max_graphs: int | None,
    output_format: str,
    output_file: Path | None,
    receipt: Path | None,
    color: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Run probes under torch and compare the findings with what Dynamo did.

    A probe is a function `probe_*` that returns `(call, batches)`: a module or function, and argument tuples
    to call it with. PROBE is a file, a folder or `file::probe_name`. Without any, the files
    listed under `probes` in the configuration are used.

    All three ways run your code. --auto makes small probes of what the program shows, and runs them so that
    they write to no folder of yours and reach no network. COMMAND, such as `dynamo-lint confirm -- python
    train.py --steps 3`, is the probe: it is run as it stands, as `logs` runs it.
    """
    from dynamo_lint.commands.output import deliver, look_at, warn_of_links, warn_of_version
    from dynamo_lint.confirm import run
    from dynamo_lint.confirm.model import Request
    from dynamo_lint.confirm.shape import difference

    _check(probes, command, auto, write_probe, fixed or compare)
    if command:
        _of_command(command, projects, output_format, output_file, color, quiet, given)
        return
    if python is None and find_spec("torch") is None:
        raise Trouble(MISSING)
    listed, settings, found = _probes(() if auto else probes, _paths(probes, projects, auto), given, auto)
    if compare and len(listed) != 2:
        raise Trouble(f"--compare is about two probes, and {len(listed)} are named: `confirm --compare A B`")
    if not quiet:
        warn_of_links([found])
    settings = settings if python else _with_torch_here(settings)
    common.check_places(settings)
    if not quiet:
        warn_of_version(settings)
    limit = settings.recompile_limit if settings.recompile_limit != Settings().recompile_limit else None
    how = Request(calls=calls, backend=backend, recompile_limit=limit, settings=schedule)
    runner, seconds = python or sys.executable, timeout or (SECONDS_MADE if auto else SECONDS)

    def testify(refs: list[ProbeRef], findings: Sequence[Finding], root: Path, shadows: bool) -> Reports:
        asked = replace(how, shadows=shadows)
        return run.confirm(refs, findings, root, asked, seconds, runner, _progress(quiet))

    if auto:
        reports, unmade = _run_made(settings, found, how, seconds, runner, quiet, write_probe)
    else:
        reports, unmade = testify(listed, _findings(settings, found), found.root, False), []
        _check_torch(reports)
    outcome = _Outcome(
        tuple(reports),
        tuple(unmade) if auto else None,
        _again(testify, listed, reports, settings, found) if fixed else None,
        difference(*reports) if compare else None,
    )
    as_json, text = _rendered(outcome, found, look_at(found.root, color, output_file), output_format)
    if receipt is not None:
        deliver(as_json, receipt)
    deliver(as_json if output_format == "json" else text, output_file)
    if not quiet:
        _tell(outcome, fixed, output_format, output_file)
    limits = {"max_recompiles": max_recompiles, "max_breaks": max_breaks, "max_compiles": max_graphs}
    if _fails(outcome, settings.contract.limited(**limits), settings.folder.resolve(), quiet):
        raise click.exceptions.Exit(EXIT_FINDINGS)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """All that the probes of one command have shown."""

    reports: tuple[ProbeReport, ...]
    unmade: tuple[MadeProbe, ...] | None
    """The regions for which no probe could be made; None where a person wrote the probes."""
    again: tuple[list[Comparison], int] | None
    """The same probes after the fixes."""
    between: Difference | None
    """What two probes differ in."""


def _run_made(
    settings: Settings,
    found: Discovered,
    how: Request,
    seconds: float,
    runner: str,
    quiet: bool,
    write_probe: Path | None,
) -> tuple[Reports, list[MadeProbe]]:
    """Make a probe for each region and run it; the regions for which there is none come second."""
    from dynamo_lint.confirm import run

    if not quiet:
        say("note: this runs code of yours: constructors, and calls of what is compiled")
    made, findings = _made(settings, found), _findings(settings, found)
    can = [probe for probe in made if probe.text]
    reports = run.confirm_made(can, findings, found.root, how, seconds, runner, _progress(quiet))
    _check_torch(reports)
    if write_probe is not None:
        _write(write_probe, made, reports)
    unmade = [probe for probe in made if not probe.text]
    unmade += [
        replace(probe, gaps=(report.reply.error,))
        for probe, report in zip(can, reports, strict=True)
        if report.way is None or report.reply.receipt is None
    ]
    return [report for report in reports if report.way is not None and report.reply.receipt], unmade


def _rendered(outcome: _Outcome, found: Discovered, look: Look, output_format: str) -> tuple[str, str]:
    """The outcome as JSON, and as a text or a page."""
    from dynamo_lint.render import receipt as text_format
    from dynamo_lint.render import receipt_json

    reports, again, between = [*outcome.reports], outcome.again, outcome.between
    regions = None if outcome.unmade is None else receipt_json.regions(len(reports), [*outcome.unmade])
    after = receipt_json.fixed(*again) if again else None
    as_json = receipt_json.render(reports, found.root, after, between, regions)
    if output_format == "html":
        from dynamo_lint.render.html import confirm as page
        from dynamo_lint.sources import Sources

        return as_json, page.render(reports, Sources(found.root, found.given), again)
    text = text_format.render(reports, look) + ("\n" + text_format.fixed(*again, look) if again else "")
    text += "\n" + text_format.compared(between, found.root, look) if between else ""
    text += "" if outcome.unmade is None else text_format.made(len(reports), [*outcome.unmade], look)
    return as_json, text


def _tell(outcome: _Outcome, fixed: bool, output_format: str, output_file: Path | None) -> None:
    """Say what comes out of it, below a text or on stderr."""
    from dynamo_lint.commands.output import to_stdout
    from dynamo_lint.render import receipt as text_format

    conclusion = text_format.conclusion([*outcome.reports])
    if output_format == "text":
        to_stdout(conclusion if output_file is not None else "\n" + conclusion)
    else:
        click.echo(conclusion, nl=False, err=True)
    if fixed and outcome.again is None:
        click.echo("None of these findings has an automatic fix, so there is nothing to compare.", err=True)


def _fails(outcome: _Outcome, contract: Contract, home: Path, quiet: bool) -> bool:
    """Whether the outcome is over a budget, two probes differ, or one could not be run; each is told."""
    from dynamo_lint.confirm.budget import exceeded, idle

    reports = [*outcome.reports]
    too_much = exceeded(reports, contract, home)
    for sentence in () if quiet else idle(reports, contract, home):
        say(f"note: {sentence}")
    for sentence in too_much:
        say(f"over budget: {sentence}")
    differ = outcome.between is not None and outcome.between.differs
    if differ and not quiet:
        say(f"the graphs of {reports[0].name} and {reports[1].name} differ")
    return bool(too_much) or differ or any(report.reply.error for report in reports)


def _check_torch(reports: Reports) -> None:
    """Say it once if no probe could be run for want of torch."""
    if reports and all("torch cannot be imported" in one.reply.error for one in reports):
        raise Trouble(f"{reports[0].reply.error}; {MISSING.partition('; ')[2]}")


def _check(
    probes: tuple[str, ...], command: tuple[str, ...], auto: bool, write_probe: Path | None, pairs: bool
) -> None:
    """Refuse what cannot be meant before anything is run."""
    if command and (probes or auto):
        raise click.UsageError("name probes, or --auto, or a command behind `--`")
    if write_probe is not None and not auto:
        raise click.UsageError("--write-probe writes what --auto makes: give both")
    if write_probe is not None and write_probe.exists():
        raise Trouble(f"{write_probe}: is there already, and is not overwritten: name another file")
    if pairs and (auto or command):
        raise click.UsageError("--fixed and --compare are about probes that a person wrote")


def _paths(probes: tuple[str, ...], projects: tuple[Path, ...], auto: bool) -> tuple[Path, ...]:
    """The paths to lint, where probes are made: those that are named, or the working directory."""
    if not auto:
        return projects
    return projects or tuple(map(Path, probes)) or (Path(),)


def _made(settings: Settings, found: Discovered) -> list[MadeProbe]:
    """The probes that can be made for what the named files compile."""
    from dynamo_lint.confirm.automatic import made_probes
    from dynamo_lint.program.tables import READINGS, GrowingTables
    from dynamo_lint.recursion import with_deep_stack
    from dynamo_lint.regions.model import part
    from dynamo_lint.regions.resolve import resolve
    from dynamo_lint.run.reading import ALONE, read_content, read_facts
    from dynamo_lint.sources import Sources

    sources = Sources(found.root, found.given)
    content = read_content(settings.region_comment, found, sources, None)

    def work() -> list[MadeProbe]:
        gathering = GrowingTables(READINGS)
        facts = read_facts(content, sources, ALONE, gathering.add)
        project, regions = resolve(facts, settings.region_options, gathered=gathering.tables)
        return made_probes(project, part(regions, found.reported), sources)

    return with_deep_stack(work)


def _write(file: Path, made: Sequence[MadeProbe], reports: Reports) -> None:
    """Write the probes in the way that ran, and skeletons of the others."""
    from dynamo_lint.confirm.automatic import document

    ways = {report.name: report.way for report in reports if report.way is not None and report.reply.receipt}
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(document(made, ways))
    except OSError as error:
        raise Trouble(f"{file}: cannot be written: {error.strerror}") from None
    say(f"note: {file} has {len(ways)} probes that run, and {len(made) - len(ways)} to complete")


def _of_command(
    command: tuple[str, ...],
    projects: tuple[Path, ...],
    output_format: str,
    output_file: Path | None,
    color: str,
    quiet: bool,
    given: dict[str, Any],
) -> None:
    """Run a command of the user as the probe, and join what it left with the findings."""
    from dynamo_lint.commands.logs import account_of_command
    from dynamo_lint.commands.output import deliver, look_at
    from dynamo_lint.render import json_format, log_text
    from dynamo_lint.render.receipt import borne_out
    from dynamo_lint.sources import Sources

    if output_format == "html":
        raise click.UsageError("what a command did is told as text or json; `logs` has a page of it")
    if output_format == "json" and output_file is None:
        raise click.UsageError("stdout is that of the command: name a file for json with -o")
    settings, found = common.prepare(projects, given)
    texts = Sources(found.root, found.given)
    report, ending = account_of_command(command, settings, found, texts, quiet)
    look = look_at(found.root, color, output_file, to_stderr=True, sources=texts)
    text = log_text.render(report, look) + "\n" + borne_out(report, look)
    deliver(
        json_format.log_document(report, look) if output_format == "json" else text,
        output_file,
        to_stderr=True,
    )
    raise click.exceptions.Exit(ending.status)


def _probes(
    names: tuple[str, ...], projects: tuple[Path, ...], given: dict[str, Any], auto: bool
) -> tuple[list[ProbeRef], Settings, Discovered]:
    """The probes to run, and the settings and files of their project."""
    from dynamo_lint.confirm.probes import find, folder_of

    listed = find(names, Path.cwd())
    folders = projects or tuple(dict.fromkeys(folder_of(probe.path) for probe in listed))
    settings, found = common.prepare(folders, given)
    if auto:
        return [], settings, found
    if not listed:
        listed = find([str(path) for path in settings.probes], Path.cwd())
    if not listed:
        raise Trouble("name a file with probes, or list some under `probes` in the configuration")
    return listed, settings, found


def _again(
    testify: Testify, listed: list[ProbeRef], reports: Reports, settings: Settings, found: Discovered
) -> tuple[list[Comparison], int] | None:
    """The same probes on a fixed copy of the project; None where there is nothing to fix."""
    from dynamo_lint.confirm.run import compared, copied
    from dynamo_lint.run.rewrite import rewrite
    from dynamo_lint.selectors import catalogue
    from dynamo_lint.sources import Sources

    done = rewrite(settings, found, catalogue(), Sources(found.root, found.given), unsafe=True)
    if not done.applied:
        return None
    with tempfile.TemporaryDirectory(prefix="dynamo-lint-") as folder:
        places = [os.path.relpath(one.path.resolve(), os.path.realpath(found.root)) for one in listed]
        copy = copied(found.root, done.files, Path(folder).resolve(), (*found.files, *places))
        moved = [replace(one, path=copy / place) for one, place in zip(listed, places, strict=True)]
        after = testify(moved, done.report.findings, copy, True)
    return [compared(*pair) for pair in zip(reports, after, strict=True)], len(done.applied)


def _findings(settings: Settings, found: Discovered) -> tuple[Finding, ...]:
    from dynamo_lint.run.check import check
    from dynamo_lint.selectors import catalogue
    from dynamo_lint.sources import Sources

    report = check(settings, found, catalogue(), Sources(found.root, found.given))
    return tuple(one for one in report.findings if one.effect)


def _with_torch_here(settings: Settings) -> Settings:
    """Findings speak of the torch that will testify."""
    try:
        version = parse_torch_version(".".join(importlib.metadata.version("torch").split(".")[:2]))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return settings
    return override(settings, torch_version=version)


def _progress(quiet: bool) -> Any:
    def show(done: int, total: int, name: str) -> None:
        if not quiet and name and sys.stderr is not None:
            say(f"running {name} ({done + 1} of {total})")

    return show
