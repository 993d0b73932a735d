"""`dynamo-lint logs`: what a job left behind, mapped to the lines that caused it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand, section
from dynamo_lint.config import Settings
from dynamo_lint.trouble import EXIT_FINDINGS, say

if TYPE_CHECKING:
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.findings import Finding
    from dynamo_lint.logs.model import LogReport
    from dynamo_lint.logs.tally import Tally
    from dynamo_lint.report import Report
    from dynamo_lint.run.reading import Effort
    from dynamo_lint.sources import Sources

source_option = section("Sources")
EXIT_UNPROVED = 3
FAILURES = ("limit", "divergence")


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


@click.command(cls=SectionedCommand, short_help="Read what a job left behind and name the lines to change.")
@click.argument("paths", nargs=-1, required=True, type=common.PATH, metavar="PATH...")
@source_option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="The sources of the job (default: the working directory).",
)
@source_option("--no-lint", is_flag=True, help="Read no sources: only count.")
@common.region_options
@common.file_options
@common.limit_option("--max-recompiles", help="Exit 1 if there are more.")
@common.limit_option("--max-breaks", help="Exit 1 if there are more.")
@common.limit_option("--max-graphs", help="Exit 1 if more were compiled.")
@common.limit_option("--max-limit-hits", help="Exit 1 if there are more.")
@common.status_option(
    "--fail-on",
    callback=_words(FAILURES),
    metavar="WHAT",
    help="What exits 1 without a budget: limit,divergence (default), either, or none.",
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
    sources: tuple[Path, ...],
    no_lint: bool,
    max_recompiles: int | None,
    max_breaks: int | None,
    max_graphs: int | None,
    max_limit_hits: int | None,
    fail_on: tuple[str, ...] | None,
    settings: tuple[str, ...] | None,
    allow_empty: bool,
    output_format: str,
    output_file: Path | None,
    color: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Read what a job left behind, and name the lines to change.

    PATH is a file that holds the job's stderr, a folder of such files, a folder that TORCH_TRACE
    named, or `-` for stdin. Set TORCH_LOGS=recompiles,graph_breaks for the job, or TORCH_TRACE=/some/folder.
    Exit status: 0 within the budgets; 1 over one, a limit hit, or ranks that differ; 2 for what cannot
    be read; 3 if the logs prove nothing.
    """
    from dynamo_lint.commands.output import Progress, deliver, look_at
    from dynamo_lint.logs.tally import read_logs
    from dynamo_lint.sources import Sources as Texts

    configured, found = common.prepare(sources, given)
    contract = configured.contract.limited(
        max_recompiles=max_recompiles,
        max_breaks=max_breaks,
        max_compiles=max_graphs,
        max_limit_hits=max_limit_hits,
    )
    configured = replace(configured, contract=contract)
    with Progress(not quiet, "reading {done} of {total} MB", 1_000_000) as progress:
        tally = read_logs(paths, configured.contract.ignore_log, progress)
    texts = Texts(found.root, found.given)
    with common.effort(configured, given, quiet=True) as means:
        report = _account(tally, configured, None if no_lint else found, texts, means, settings or ())
    look = look_at(found.root, color, output_file, sources=texts)
    deliver(_rendered(output_format, report, look, texts, configured), output_file)
    _conclude(report, fail_on, settings, allow_empty, quiet)


def _account(
    tally: Tally,
    settings: Settings,
    found: Discovered | None,
    texts: Sources,
    means: Effort,
    logged: tuple[str, ...],
) -> LogReport:
    """The job with what its sources explain; `logged` are the log settings that are said to have been on."""
    from dynamo_lint.logs.causes import Places, codes_by_id, explain
    from dynamo_lint.logs.tally import budgets
    from dynamo_lint.pages import load_pages

    processes, job = tally.processes(), tally.job()
    places = Places(texts, () if found is None else found.files)
    silent = found is None or job.proof == "none"
    findings = () if found is None or silent else _findings(settings, found, texts, means)
    codes = codes_by_id((page.code, page.gb) for page in load_pages().values())
    report = explain(processes, job, findings, places, codes)
    held = budgets(report.job, settings.contract, tally.logged() | set(logged))
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


def _conclude(
    report: LogReport,
    fail_on: tuple[str, ...] | None,
    settings: tuple[str, ...] | None,
    allow_empty: bool,
    quiet: bool,
) -> None:
    """Exit as the account deserves, and say why."""
    from dynamo_lint.render.log_text import NOTES, budget

    fatal = FAILURES if fail_on is None else fail_on
    reasons = [f"over budget: {budget(one)}" for one in report.budgets if one.exceeded]
    if "limit" in fatal and report.job.limits:
        reasons.append("a limit was hit: code that was meant to be compiled runs eagerly")
    if "divergence" in fatal and "ranks-diverge" in report.job.notes:
        reasons.append("the ranks did not compile alike")
    for reason in reasons:
        if not quiet:
            say(reason)
    if reasons:
        raise click.exceptions.Exit(EXIT_FINDINGS)
    open_ends = [one for one in report.budgets if one.seen is None]
    silent = report.job.proof == "none" and not settings
    if (silent or open_ends) and not allow_empty:
        if silent:
            say(f"nothing is proved: {NOTES['no-log-lines']}")
        for one in open_ends:
            say(f"not proved: {budget(one)}; run with a trace, or name with --settings what was logged")
        raise click.exceptions.Exit(EXIT_UNPROVED)
