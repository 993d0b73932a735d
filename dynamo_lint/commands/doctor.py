"""`dynamo-lint doctor`: the surroundings of a job, before it takes a GPU."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand, section
from dynamo_lint.config import Settings, load
from dynamo_lint.render.prose import picked
from dynamo_lint.terminal import clean, counted, look_on
from dynamo_lint.trouble import EXIT_FINDINGS

if TYPE_CHECKING:
    from dynamo_lint.doctor.checks import Check
    from dynamo_lint.doctor.look import SetInCode, Surroundings

SCHEMA = "dynamo-lint/doctor/1"
_LONGEST = 200
"""Characters of a value that are printed."""
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
expected_option = section("What is expected")


def _version(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    from dynamo_lint.torch_version import release

    if value is not None and release(value) is None:
        raise click.BadParameter("a version of torch is expected, such as 2.13")
    return None if value is None else release(value)


@click.command(cls=SectionedCommand, short_help="Check the environment of a job, then start it.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@expected_option(
    "--config",
    "--contract",
    "config",
    type=common.FILE,
    metavar="FILE",
    help="Use the contract in this configuration file, not in the nearest.",
)
@expected_option("--isolated", is_flag=True, help="Ignore all configuration files.")
@expected_option(
    "--torch-version",
    "named",
    callback=_version,
    metavar="VERSION",
    help="Default: the version that is installed.",
)
@expected_option("--strict", is_flag=True, help="Take each broken term of the contract for an error.")
@expected_option("--warn-only", is_flag=True, help="Start the command, and exit 0, in spite of errors.")
@common.output_format_option("text", "json")
@common.color_option
@common.output_option("-q", "--quiet", is_flag=True, help="Print errors only.")
def doctor(
    command: tuple[str, ...],
    config: Path | None,
    isolated: bool,
    named: tuple[int, ...] | None,
    strict: bool,
    warn_only: bool,
    output_format: str,
    color: str,
    quiet: bool,
) -> None:
    """Check the environment of a job, then start it.

    Looks at the variables that torch reads, the folders that they name, and the contract of the team.
    Without a command that is all. With one, such as `dynamo-lint doctor -- torchrun train.py`, the command
    takes over this process if there is no error. torch is not imported.
    Exit status: 0, or that of the command; 1 for an error; 2 for a wrong option or configuration;
    126 or 127 if the command cannot be run. Of several ranks the first prints, and others only their errors.
    """
    from dynamo_lint.doctor.checks import examine, strictly
    from dynamo_lint.doctor.look import environment_of, rank, surroundings
    from dynamo_lint.torch_version import installed, with_torch

    if strict and warn_only:
        raise click.UsageError("--strict and --warn-only contradict each other: leave out one")
    environ = environment_of(os.environ, command)
    settings = load(Path.cwd(), config, isolated)
    torch = named or installed()
    settings = settings if torch else with_torch(settings)
    seen = surroundings(environ, command, settings, torch, _in_code(settings))
    found = strictly(examine(seen)) if strict else examine(seen)
    failed = any(one.severity == "error" for one in found) and not warn_only
    starts = bool(command) and not failed
    number = rank(environ)
    if number == 0 or failed:
        if output_format == "json":
            click.echo(_json(seen, found, starts))
        else:
            shown = [one for one in found if one.severity == "error" or not (quiet or number)]
            _print(shown, found, number, command, starts, quiet, color)
    if failed:
        raise click.exceptions.Exit(EXIT_FINDINGS)
    if command:
        _become(command)


def _in_code(settings: Settings) -> tuple[SetInCode, ...] | None:
    """The lines that make settings, if the contract says anything of them, and there is code beside it."""
    if not settings.contract.settings:
        return None
    from dynamo_lint.doctor.code import settings_in_code  # late: it loads the reader of code

    return settings_in_code(settings)


def _json(seen: Surroundings, found: list[Check], starts: bool) -> str:
    """The report for programs; the command starts after it has been printed."""
    checks = [
        picked(one, "id", "severity", "variable", "state", "value", "read_as", "message") for one in found
    ]
    torch = ".".join(map(str, seen.torch)) if seen.torch else None
    return json.dumps({"schema": SCHEMA, "torch": torch, "checks": checks, "started": starts}, indent=2)


def _print(
    shown: list[Check],
    found: list[Check],
    number: int,
    command: tuple[str, ...],
    starts: bool,
    quiet: bool,
    color: str,
) -> None:
    """Print what is wrong, one paragraph per check; to stderr where stdout is that of the command."""
    look = look_on(color, to_stderr=bool(command))
    before = f"[rank{number}] " if number else ""
    end = "" if not command else f"; {clean(command[0])} starts" if starts else "; not started"
    lines = [
        f"{look.paint(one.severity, fg=_COLOURS[one.severity])} {clean(_subject(one) + one.message)}"
        for one in shown
    ]
    if shown or not quiet:
        lines.append(f"doctor: {_total(found)}{end}")
    for line in lines:
        click.echo(look.line(line, before, before + "    "), err=bool(command), color=True)


def _subject(one: Check) -> str:
    if one.variable is None:
        return ""
    if one.value is None:
        states = {"unset": "is not set", "set": "is set", "differs": "differs"}
        return f"{one.variable} {states[one.state or 'set']}: "
    shown = one.value if len(one.value) <= _LONGEST else f"{one.value[:_LONGEST]}…"
    return f"{one.variable}={shown}: "


def _total(found: list[Check]) -> str:
    """The number of checks of each severity: `2 errors, 1 warning`."""
    counts = {word: sum(one.severity == word for one in found) for word in ("error", "warning", "note")}
    said = [counted(count, word) for word, count in counts.items() if count]
    return ", ".join(said) or "nothing is wrong"


def _become(command: tuple[str, ...]) -> None:
    """Replace this process by a command: same process id, environment, streams and signals."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or never there
            stream.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores these, and who is ignored stays so
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        raise common.cannot_run(command[0], error) from None
