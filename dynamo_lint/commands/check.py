"""`dynamo-lint check`: lint, render, and say by the exit status what was found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands.common import deliver, look_at, paths_argument, prepare, region_options
from dynamo_lint.commands.ends import EXIT_FINDINGS, Trouble
from dynamo_lint.config import CONFIDENCES, OUTPUT_FORMATS, Settings, parse_torch_version
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.terminal import wants_colour

if TYPE_CHECKING:
    from dynamo_lint.discovery import Discovered


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip()) or None


def _version(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    try:
        return parse_torch_version(value) if value is not None else None
    except ValueError as expected:
        raise click.BadParameter(f"{value!r} is not {expected}") from None


@click.command()
@paths_argument
@click.option("--select", multiple=True, callback=_codes, metavar="CODES", help="Report only these rules.")
@click.option("--ignore", multiple=True, callback=_codes, metavar="CODES", help="Leave these rules out.")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="Default: full.")
@click.option(
    "-o",
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write findings to a file.",
)
@click.option(
    "--torch-version", callback=_version, metavar="X.Y", help="The torch you compile with.  [default: 2.13]"
)
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Default: likely.")
@click.option(
    "--fail-level", type=click.Choice(SEVERITIES), help="Least severity that exits 1. Default: note."
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option("--pedantic", is_flag=True, default=None, help="Report house-style notes as well.")
@region_options
@click.option("-q", "--quiet", is_flag=True, help="Print findings only.")
@click.option("-v", "--verbose", is_flag=True, help="Say which files and settings were used.")
def check(
    paths: tuple[Path, ...],
    output_file: Path | None,
    exit_zero: bool,
    statistics: bool,
    force_exclude: bool,
    color: str,
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> None:
    """Lint Python files and folders (the default command)."""
    from dynamo_lint.check import check as run_check
    from dynamo_lint.render import summary
    from dynamo_lint.selectors import catalogue
    from dynamo_lint.sources import Sources

    settings, found = prepare(paths, force_exclude, given)
    rules = catalogue()
    _check_selectors(settings, given, rules)
    if statistics and settings.output_format == "json":
        raise click.UsageError("--statistics counts for people; with json, count the findings")
    if verbose:
        _explain(settings, found)
    sources = Sources(found.root)
    report = run_check(settings, found, rules, sources)

    colour = output_file is None and wants_colour(color, sys.stdout)
    look = look_at(found, colour or color == "always")
    if settings.output_format == "json":
        from dynamo_lint.render import json_format

        text = json_format.render(report)
    elif statistics:
        from dynamo_lint.render import statistics as counts

        text = counts.render(report)
    elif settings.output_format == "concise":
        from dynamo_lint.render import concise

        text = concise.render(report, look)
    else:
        from dynamo_lint.render import full

        text = full.render(report, sources, look)
    deliver(text, output_file)
    if not quiet:
        gap = "\n" if text and settings.output_format == "full" and output_file is None else ""
        look = look_at(found, wants_colour(color, sys.stderr))
        talk = summary.render(report, look, explain=settings.output_format == "full" and not statistics)
        click.echo(gap + talk, nl=False, err=True, color=True)
    if report.fails(settings.fail_level) and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _check_selectors(settings: Settings, given: dict[str, Any], rules: dict[str, str]) -> None:
    """Refuse selectors that name no rule, and say where they stand."""
    from dynamo_lint.selectors import UnknownSelector, enabled

    try:
        enabled(settings.select, settings.ignore, settings.pedantic, rules)
    except UnknownSelector as error:
        key = "select" if error.selector in (settings.select or ()) else "ignore"
        where = f"--{key}" if given.get(key) else f"{settings.source}: {key}"
        raise Trouble(f"{where}: {error}") from None


def _explain(settings: Settings, found: Discovered) -> None:
    """What `--verbose` says before the run."""
    click.echo(f"configuration: {settings.source or 'none, defaults'}", err=True)
    click.echo(f"root: {found.root}", err=True)
    click.echo(f"files: {len(found.files)} read, {len(found.reported)} reported on", err=True)
    for path in found.passed_over:
        click.echo(f"passed over, larger than 1 MB: {path}", err=True)
