"""`dynamo-lint check`: lint, render, and say by the exit status what was found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from dynamo_lint.commands import fixing
from dynamo_lint.commands.common import (
    FILE,
    PATH,
    STDIN,
    check_places,
    color_option,
    effort,
    effort_options,
    file_options,
    files_option,
    output_file_option,
    output_option,
    paths_argument,
    prepare,
    region_options,
    version,
)
from dynamo_lint.commands.errors import EXIT_FINDINGS, say
from dynamo_lint.commands.fixing import fix_options
from dynamo_lint.commands.help import SectionedCommand, section
from dynamo_lint.config import OUTPUT_FORMATS
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.levels import CONFIDENCES, OLDER_WORDS
from dynamo_lint.trouble import Trouble


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip()) or None


rule_option, status_option = section("Rules"), section("Exit status")


@click.command(cls=SectionedCommand, short_help="Lint Python files and folders (the default command).")
@paths_argument
@rule_option("--select", multiple=True, callback=_codes, metavar="CODES", help="Report only these rules.")
@rule_option("--ignore", multiple=True, callback=_codes, metavar="CODES", help="Do not report these rules.")
@rule_option("--pedantic", is_flag=True, default=None, help="Report house-style notes as well.")
@rule_option(
    "--torch-version",
    callback=version,
    metavar="X.Y",
    help="The torch you compile with (default: the project's).",
)
@rule_option(
    "--min-confidence",
    type=click.Choice((*CONFIDENCES, *OLDER_WORDS)),
    callback=lambda _context, _option, word: OLDER_WORDS.get(word, word),
    metavar="LEVEL",
    help="Lowest to report: certain, likely (default), possible.",
)
@region_options
@fix_options
@status_option(
    "--fail-level",
    type=click.Choice(SEVERITIES),
    metavar="LEVEL",
    help="Lowest to fail: error, warning (default), note.",
)
@status_option(
    "--fail-on-nothing-compiled",
    is_flag=True,
    default=None,
    help="Exit 1 if nothing in the project is compiled.",
)
@status_option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@status_option(
    "--baseline", type=FILE, metavar="FILE", help="Report only findings that are not in this file."
)
@status_option("--update-baseline", is_flag=True, help="Write all findings to the baseline file.")
@file_options
@files_option(
    "--stdin-filename", type=PATH, metavar="NAME", help="File name of the text on stdin (path `-`)."
)
@files_option("--show-files", is_flag=True, help="List the files that would be linted.")
@files_option("--show-settings", is_flag=True, help="Print the settings in effect.")
@output_option(
    "--output-format",
    type=click.Choice(OUTPUT_FORMATS),
    metavar="FORMAT",
    help="One of " + ", ".join(OUTPUT_FORMATS) + ".",
)
@output_file_option("findings")
@output_option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@color_option
@effort_options
@output_option("-q", "--quiet", is_flag=True, help="Print findings only.")
@output_option("-v", "--verbose", is_flag=True, help="Also print the files and settings used.")
def check(
    paths: tuple[Path, ...],
    output_file: Path | None,
    exit_zero: bool,
    statistics: bool,
    force_exclude: bool,
    update_baseline: bool,
    stdin_filename: Path | None,
    show_files: bool,
    show_settings: bool,
    color: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    quiet: bool,
    verbose: bool,
    no_cache: bool,
    cache_dir: Path | None,
    jobs: int | None,
    **given: Any,
) -> None:
    """Lint Python files and folders (the default command); `-` reads stdin."""
    from dynamo_lint.commands import baselines, output, print_settings
    from dynamo_lint.commands.progress import Progress
    from dynamo_lint.run.check import check as run_check
    from dynamo_lint.selectors import catalogue
    from dynamo_lint.sources import Sources

    paths, texts = _standard_input(paths, stdin_filename)
    settings, found = prepare(paths, force_exclude, given, texts)
    rules = catalogue()
    _check_selectors(given, rules)
    if show_files or show_settings:
        text = (
            print_settings.configuration_text(settings) if show_settings else print_settings.files_text(found)
        )
        return output.deliver(text, output_file)
    check_places(settings)
    if statistics and settings.output_format not in output.FOR_PEOPLE:
        raise click.UsageError("--statistics works with the formats full, concise and grouped only")
    if verbose:
        print_settings.explain(settings, found)
    if not quiet:
        print_settings.warn_of_links(found, verbose)
        print_settings.warn_of_version(settings)
    accepted = baselines.load(settings, update_baseline, given["baseline"] is not None)
    sources = Sources(found.root, found.given)
    with (
        Progress(not quiet) as progress,
        effort(settings, no_cache, cache_dir, jobs, progress, quiet) as means,
    ):
        if fix or diff:
            done = fixing.rewritten(settings, found, rules, sources, unsafe_fixes, accepted, means)
            if diff:
                return fixing.show(done, found, output_file, quiet, exit_zero)
            if found.given:
                return fixing.pass_on(done, found)
            fixing.put_in_place(done, found)
            sources = Sources(found.root, found.given)
        report = run_check(settings, found, rules, sources, None if update_baseline else accepted, means)
    if update_baseline and accepted is not None:
        told = baselines.write(accepted, report, found, settings, rules)
        return None if quiet else say(told)
    output.present(report, sources, settings, color, output_file, statistics)
    if not quiet:
        output.conclude(report, settings, color, output_file, statistics)
    if report.lacks_entries:
        say("dynamo-lint: nothing in the project is compiled, and fail-on-nothing-compiled is set")
    if report.fails and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)
    return None


def _standard_input(paths: tuple[Path, ...], name: Path | None) -> tuple[tuple[Path, ...], dict[Path, bytes]]:
    """The paths to lint and what to take for the content of some of them."""
    from dynamo_lint.discovery import NAMELESS

    if STDIN not in paths:
        if name is not None:
            raise click.UsageError("--stdin-filename needs `-` as the path: it names the text on stdin")
        return paths, {}
    if len(paths) > 1:
        raise click.UsageError(
            "`-` (stdin) cannot be combined with other paths; name its file with --stdin-filename"
        )
    path = name or NAMELESS
    return (path,), {path: sys.stdin.buffer.read() if sys.stdin is not None else b""}


def _check_selectors(given: dict[str, Any], rules: dict[str, str]) -> None:
    """Refuse selectors of the command line that name no rule."""
    from dynamo_lint.selectors import UnknownSelector, enabled

    key = "select"
    try:
        enabled(given["select"] or (), (), False, rules)
        key = "ignore"
        enabled((), given["ignore"] or (), False, rules)
    except UnknownSelector as error:
        raise Trouble(f"--{key}: {error}") from None
