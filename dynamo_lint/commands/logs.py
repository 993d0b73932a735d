"""`dynamo-lint logs`: what a job left behind, mapped to the lines that caused it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import WithCommand, section
from dynamo_lint.config import Settings
from dynamo_lint.contract import Warmup
from dynamo_lint.terminal import counted
from dynamo_lint.trouble import EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNPROVED, Trouble, say

if TYPE_CHECKING:
    from dynamo_lint.contract import Contract
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.findings import Finding
    from dynamo_lint.logs.command import Ending
    from dynamo_lint.logs.model import Job, LogReport
    from dynamo_lint.logs.tally import Tally
    from dynamo_lint.report import Report
    from dynamo_lint.run.reading import Effort
    from dynamo_lint.sources import Sources

command_option = section("A command")
source_option = section("Sources")
FAILURES = ("limit", "divergence")
CLASSES = (*FAILURES, "autotune", "watchdog", "disk", "data-pointer", "nan")
ON_STDERR = ("text", "github")
"""The formats that may stand among what a command prints; others are for programs, and need a file."""

_DURATION = re.compile(r"(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,7}(?:\.\d{1,3})?)s?)?", re.ASCII)


def _seconds(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """The seconds of `90s`, `5m` or `1h30m`."""
    if value is None:
        return None
    told = _DURATION.fullmatch(value)
    seconds = (
        sum(float(part or 0) * unit for part, unit in zip(told.groups(), (3600, 60, 1), strict=True))
        if told
        else 0
    )
    if not seconds:
        raise click.BadParameter(f"{value!r} is not a time such as 90s, 5m or 1h30m")
    return seconds


def _words(known: tuple[str, ...]) -> Any:
    """A reader of a list of words, separated by commas."""

    def read(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        words = tuple(part.strip() for part in value.split(",") if part.strip())
        if wrong := next((word for word in words if word not in known and word != "none"), None):
            raise click.BadParameter(f"{wrong!r} is not one of {', '.join(known)}, none")
        return tuple(word for word in words if word != "none")

    return read


@click.command(cls=WithCommand, short_help="Name the lines that made a job slow, from logs or by running it.")
@click.argument("paths", nargs=-1, type=common.PATH, metavar="PATH... | -- COMMAND...")
@command_option(
    "--for",
    "seconds",
    callback=_seconds,
    metavar="TIME",
    help="End the command after 90s, 5m, 1h30m, and report.",
)
@command_option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Record into this folder, and leave that there.",
)
@source_option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="The sources of the job (default: the working directory).",
)
@source_option(
    "--compare",
    "older",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="An older recording of the same job: tell what has changed.",
)
@source_option("--no-lint", is_flag=True, help="Read no sources: only count.")
@common.region_options
@common.file_options
@common.limit_option("--max-recompiles", help="Exit 1 if there are more.")
@common.limit_option("--max-breaks", help="Exit 1 if there are more.")
@common.limit_option("--max-graphs", help="Exit 1 if more were compiled.")
@common.limit_option("--max-limit-hits", help="Exit 1 if there are more.")
@common.limit_option("--warmup", help="Exit 1 for a recompile behind the first N compiles of a rank (trace).")
@common.status_option(
    "--fail-on",
    callback=_words(CLASSES),
    metavar="WHAT",
    help="What exits 1: none, or limit,divergence (default), autotune, watchdog, disk, data-pointer, nan.",
)
@common.status_option(
    "--settings",
    callback=_words(("recompiles", "graph_breaks", "guards")),
    metavar="LOGS",
    help="The TORCH_LOGS that were on, if nothing in the log shows it.",
)
@common.status_option("--allow-empty", is_flag=True, help="Exit 0 even if the logs prove nothing.")
@common.output_format_option("text", "json", "github", "sarif", "html")
@common.output_file_option("the result")
@common.color_option
@common.effort_options
@common.output_option("-q", "--quiet", is_flag=True, help="Print the result only.")
def logs(
    paths: tuple[Path, ...],
    command: tuple[str, ...],
    seconds: float | None,
    keep: Path | None,
    sources: tuple[Path, ...],
    older: Path | None,
    no_lint: bool,
    fail_on: tuple[str, ...] | None,
    settings: tuple[str, ...] | None,
    allow_empty: bool,
    output_format: str,
    output_file: Path | None,
    color: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Read what a job left behind, or run it, and name the lines to change.

    PATH is a file that holds the job's stderr, a folder of such files, a folder that TORCH_TRACE
    named, or `-` for stdin. Set TORCH_LOGS=recompiles,graph_breaks for the job, or TORCH_TRACE=/some/folder.

    COMMAND, such as `dynamo-lint logs -- python train.py`, is run as it stands, with your rights and with
    TORCH_TRACE set to a temporary folder. Its output is left alone; the report follows on stderr.

    Exit status: that of COMMAND if it is not 0, else 0 within the budgets; 1 over one, a limit hit, or ranks
    that differ; 2 for what cannot be read; 3 if the logs prove nothing; 126 or 127 if COMMAND cannot be run.
    """
    from dynamo_lint.commands.output import Progress, deliver, look_at
    from dynamo_lint.logs.tally import read_logs
    from dynamo_lint.logs.trend import trend
    from dynamo_lint.sources import Sources as Texts

    _check(paths, command, seconds is not None or keep is not None, output_format, output_file)
    configured, found = common.prepare(sources, given)
    configured = replace(configured, contract=_limited(configured.contract, given))
    with (
        _recorded(command, seconds, keep, quiet) if command else _left_behind(paths) as (logs_of_job, ending),
        Progress(not quiet, "reading {done} of {total} MB", 1_000_000) as progress,
    ):
        tally = read_logs(logs_of_job, configured.contract.ignore_log, progress)
    texts = Texts(found.root, found.given)
    with common.effort(configured, given, quiet=True) as means:
        report = _account(tally, configured, None if no_lint else found, texts, means, settings or ())
    if older is not None:
        before = read_logs((older,), configured.contract.ignore_log).job()
        report = replace(report, trend=trend(before, report.job))
    if ending is not None:
        report = replace(report, job=_of_command(report.job))
    look = look_at(found.root, color, output_file, to_stderr=bool(command), sources=texts)
    deliver(_rendered(output_format, report, look, texts, configured), output_file, to_stderr=bool(command))
    status = _conclusion(report, fail_on, settings, allow_empty, quiet)
    if ending is not None and not ending.timed_out:
        status = ending.status or status
    raise click.exceptions.Exit(status)


def _limited(contract: Contract, options: Mapping[str, int | None]) -> Contract:
    """The contract with the limits that options name."""
    warmup = options["warmup"]
    return contract.limited(
        max_recompiles=options["max_recompiles"],
        max_breaks=options["max_breaks"],
        max_compiles=options["max_graphs"],
        max_limit_hits=options["max_limit_hits"],
        max_recompiles_after=None if warmup is None else Warmup(compiles=warmup),
    )


def _check(
    paths: Sequence[Path], command: Sequence[str], of_command: bool, output_format: str, file: Path | None
) -> None:
    """Refuse what cannot be meant before anything is run."""
    if command and paths:
        raise click.UsageError("name the logs of a job, or a command behind `--`, not both")
    if not command and not paths:
        raise click.UsageError("name the logs of a job, or a command behind `--`")
    if not command and of_command:
        raise click.UsageError("--for and --keep are about a command: name it behind `--`")
    if command and file is None and output_format not in ON_STDERR:
        raise click.UsageError(f"stdout is that of the command: name a file for {output_format} with -o")
    if command and file is not None and not file.parent.is_dir():
        raise Trouble(f"{file}: cannot be written: there is no folder {file.parent}")


@contextmanager
def _left_behind(paths: Sequence[Path]) -> Iterator[tuple[Sequence[Path], Ending | None]]:
    """The logs that are named."""
    yield paths, None


@contextmanager
def _recorded(
    command: Sequence[str], seconds: float | None, keep: Path | None, quiet: bool
) -> Iterator[tuple[Sequence[Path], Ending | None]]:
    """Run a command; the traces that it left, for now, and how it ended."""
    from dynamo_lint.logs.command import recording, run

    with recording(os.environ, keep) as record:
        if not quiet:
            place = "a temporary folder" if record.temporary else record.folder
            say(f"dynamo-lint: running {shlex.join(command)} (torch records to {place})")
        try:
            ending = run(command, record.environment(os.environ), seconds)
        except (OSError, ValueError) as error:
            raise common.cannot_run(command[0], error) from None
        if not quiet:
            for line in _told(ending, seconds):
                say(f"dynamo-lint: {line}")
        yield record.traces(), ending


def account_of_command(
    command: Sequence[str], settings: Settings, found: Discovered, texts: Sources, quiet: bool
) -> tuple[LogReport, Ending]:
    """Run a command while torch records it; what it did, with the findings that this bears out."""
    from dynamo_lint.logs.tally import read_logs
    from dynamo_lint.run.reading import ALONE

    with _recorded(command, None, None, quiet) as (left, ending):
        tally = read_logs(left, settings.contract.ignore_log)
    report = _account(tally, settings, found, texts, ALONE, ())
    assert ending is not None
    return replace(report, job=_of_command(report.job)), ending


def _told(ending: Ending, seconds: float | None) -> Iterator[str]:
    """Say how a command ended, where that is news."""
    if ending.timed_out:
        yield f"the command was ended after {seconds:g} s, as --for has it"
    elif ending.signal == "SIGKILL":
        yield "the command was killed (SIGKILL), as the system does where memory runs out"
    elif ending.signal:
        yield f"the command was ended by {ending.signal}"
    elif ending.status:
        yield f"the command failed with status {ending.status}"
    if ending.remains:
        number = counted(ending.remains, "process", "processes")
        yield f"{number} that the command had left behind {'was' if ending.remains == 1 else 'were'} ended"


def _of_command(job: Job) -> Job:
    """A job that was recorded here, so that nothing was recorded for another reason than wrong settings."""
    notes = ("not-recorded" if note == "no-log-lines" else note for note in job.notes)
    return replace(job, notes=tuple(notes))


def _account(
    tally: Tally,
    settings: Settings,
    found: Discovered | None,
    texts: Sources,
    means: Effort,
    logged: tuple[str, ...],
) -> LogReport:
    """The job with what its sources explain; `logged` are the log settings that are said to have been on."""
    from dynamo_lint.logs.budgets import budgets
    from dynamo_lint.logs.causes import Places, codes_by_id, explain
    from dynamo_lint.pages import load_pages

    processes, job = tally.processes(), tally.job()
    places = Places(texts, () if found is None else found.files)
    silent = found is None or job.proof == "none"
    findings = () if found is None or silent else _findings(settings, found, texts, means)
    codes = codes_by_id((page.code, page.gb) for page in load_pages().values())
    report = explain(processes, job, findings, places, codes)
    held = budgets(report.job, settings.contract, tally.logged() | set(logged), settings.folder.resolve())
    return replace(report, linted=found is not None, budgets=tuple(held))


def _findings(settings: Settings, found: Discovered, texts: Sources, means: Effort) -> tuple[Finding, ...]:
    """All that `check` has to say, also what it would keep to itself: the log is the proof."""
    from dynamo_lint.run.check import check
    from dynamo_lint.selectors import catalogue

    return check(settings.unfiltered, found, catalogue(), texts, effort=means).findings


def _rendered(output_format: str, report: LogReport, look: Any, texts: Sources, settings: Settings) -> str:
    """The account in the format that is wanted."""
    from dynamo_lint.commands.output import repository
    from dynamo_lint.render import formats, json_format, log_text

    view = formats.View(look, texts, repository(look.root))
    match output_format:
        case "json":
            return json_format.log_document(report, look)
        case "github" | "sarif":
            as_findings: Report = log_text.as_report(report, look, settings.torch_version)
            return formats.render(output_format, as_findings, view)
        case "html":
            from dynamo_lint.render.html.logs import render_log

            return render_log(report, view)
        case _:
            return log_text.render(report, look)


def _conclusion(
    report: LogReport,
    fail_on: tuple[str, ...] | None,
    settings: tuple[str, ...] | None,
    allow_empty: bool,
    quiet: bool,
) -> int:
    """The exit status that the account deserves; says why."""
    from dynamo_lint.render.log_text import budget, failed, silence

    fatal = FAILURES if fail_on is None else fail_on
    reasons = [f"over budget: {budget(one)}" for one in report.budgets if one.exceeded]
    if "limit" in fatal and report.job.limits:
        reasons.append("a limit was hit: code that was meant to be compiled runs eagerly")
    if "divergence" in fatal and "ranks-diverge" in report.job.notes:
        reasons.append("the ranks did not compile alike")
    wanted = [one for one in report.job.failures if one.kind in fatal and one.kind not in FAILURES]
    reasons += [f"{one.kind}: {failed(one, one.detail)}" for one in wanted]
    for reason in reasons:
        if not quiet:
            say(reason)
    if reasons:
        return EXIT_FINDINGS
    open_ends = [one for one in report.budgets if one.seen is None]
    silent = report.job.proof == "none" and not settings
    if (silent or open_ends) and not allow_empty:
        if silent:
            say(f"nothing is proved: {silence(report.job)}")
        for one in open_ends:
            say(f"not proved: {budget(one)}; run with a trace, or name with --settings what was logged")
        return EXIT_UNPROVED
    return EXIT_CLEAN
