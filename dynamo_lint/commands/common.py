"""Options, settings and files that commands share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands.help import Decorator, section, together
from dynamo_lint.config import (
    ASSUMPTIONS,
    Settings,
    near_file,
    parse_torch_version,
)
from dynamo_lint.contract import KEY as CONTRACT
from dynamo_lint.raw_values import dotted
from dynamo_lint.selectors import closest, hint
from dynamo_lint.trouble import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, Trouble, say

if TYPE_CHECKING:
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.run.inputs import Choices, Inputs
    from dynamo_lint.run.reading import Effort, Progress

STDIN = Path("-")
"""The path that means standard input, and as a file to write standard output."""

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
COLOURS = click.Choice(["auto", "always", "never"])

_SECTIONS = ("What is compiled", "Files and configuration", "Exit status", "Output", "Running")
compiled_option, files_option, status_option, output_option, running_option = map(section, _SECTIONS)
limit_option = partial(status_option, type=click.IntRange(0), metavar="N")


def version(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """The torch version that an option names."""
    try:
        return parse_torch_version(value) if value is not None else None
    except ValueError as expected:
        raise click.BadParameter(f"{value!r} is not {expected}") from None


paths_argument = click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...")
region_options = together(
    compiled_option(
        "--assume",
        type=click.Choice(ASSUMPTIONS),
        metavar="WHAT",
        help="Treat as compiled: none, blocks or modules.",
    ),
    compiled_option("--assume-compiled", is_flag=True, help="--assume modules: every nn.Module.forward."),
)
file_options = together(
    files_option(
        "--exclude", multiple=True, metavar="PATTERN", help="Exclude these files; replaces the default."
    ),
    files_option("--extend-exclude", multiple=True, metavar="PATTERN", help="Exclude these files as well."),
    files_option("--force-exclude", is_flag=True, help="Exclude even files named on the command line."),
    files_option("--config", type=FILE, metavar="FILE", help="Use this configuration file, not the nearest."),
    files_option("--isolated", is_flag=True, help="Ignore all configuration files."),
)
color_option = output_option("--color", type=COLOURS, default="auto", help="Use colour.")


def output_format_option(*formats: str, metavar: str | None = "FORMAT") -> Decorator:
    """The option for one of some formats, the first of which is the usual one."""
    usual, *others = formats
    told = f"{', '.join((f'{usual} (default)', *others[:-1]))} or {others[-1]}."
    formats_known = click.Choice(formats)
    return output_option("--output-format", type=formats_known, default=usual, metavar=metavar, help=told)


def output_file_option(written: str) -> Decorator:
    """The option for the file that something is written to; `-` is stdout, as without it."""
    return output_option(
        "-o",
        "--output-file",
        type=FILE,
        callback=lambda _context, _option, file: None if file == STDIN else file,
        metavar="FILE",
        help=f"Write {written} to a file.",
    )


effort_options = together(
    running_option("--no-cache", is_flag=True, help="Do not read or write the cache."),
    running_option(
        "--cache-dir",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Default: a folder of your own for each project.",
    ),
    running_option(
        "-j",
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of worker processes (one per processor).",
    ),
)


@contextmanager
def effort(
    settings: Settings, given: dict[str, Any], progress: Progress | None = None, quiet: bool = False
) -> Iterator[Effort]:
    """The cache and the processes of a run; a fault of the cache is one line, and the run goes on without."""
    from dynamo_lint.cache.place import FORMER, open_store
    from dynamo_lint.run.reading import Effort

    home, store = settings.folder, None
    if not given["no_cache"]:
        store = open_store(home, given["cache_dir"], lambda problem: say(f"dynamo-lint: {problem}"))
        if not quiet and (home / FORMER).exists():
            click.echo(f"{FORMER} is no longer used: delete it", err=True)
    try:
        yield Effort(store, given["jobs"] or _processors(), progress, {})
    finally:
        if store is not None:
            store.close()


def cannot_run(command: str, error: OSError | ValueError) -> click.exceptions.Exit:
    """Say why a command cannot be run, and return the exit that a shell would make."""
    why = error.strerror if isinstance(error, OSError) else str(error)
    say(f"dynamo-lint: {command}: cannot be run: {why}")
    return click.exceptions.Exit(EXIT_NOT_FOUND if isinstance(error, FileNotFoundError) else EXIT_CANNOT_RUN)


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(paths: tuple[Path, ...], given: dict[str, Any]) -> tuple[Settings, Discovered]:
    """Settings and files for a command that takes one configuration; refuses paths that have several."""
    from dynamo_lint.run.inputs import read_inputs, sources_of

    choices = _choices(given)
    with _guessing(paths):
        settings, found = read_inputs(paths or (Path(),), {}, choices)
        sources = sources_of(paths or (Path(),), choices)
    if len(sources) > 1:
        names = ", ".join(sorted(str(one) if one else "none" for one in sources))
        command = click.get_current_context().info_name
        raise Trouble(
            f"the paths have different configurations ({names}): name those of one project, "
            f"or one configuration for all with --config; `{command}` takes one at a time"
        )
    return settings, found


def prepare_groups(
    paths: tuple[Path, ...], given: dict[str, Any], texts: dict[Path, bytes] | None = None
) -> Inputs:
    """Settings and files for a command, by configuration; options that are settings override each.

    `texts` holds the content of paths that are not to be read from the disk.
    """
    from dynamo_lint.run.inputs import read_groups

    with _guessing(paths):
        return read_groups(paths or (Path(),), texts or {}, _choices(given))


def _choices(given: dict[str, Any]) -> Choices:
    """The options that concern settings and files, without those that no longer matter among the rest."""
    from dynamo_lint.run.inputs import Choices

    exclude, extend = given.pop("exclude"), given.pop("extend_exclude")
    if given["assume_compiled"]:
        if given["assume"] not in (None, "modules"):
            raise click.UsageError(f"--assume-compiled contradicts --assume {given['assume']}")
        given["assume"] = "modules"
    return Choices(
        config=given["config"],
        isolated=given["isolated"],
        exclude=exclude,
        extend_exclude=extend,
        force_exclude=given["force_exclude"],
        overrides={key: one for key, one in given.items() if hasattr(Settings, key)},
    )


@contextmanager
def _guessing(paths: tuple[Path, ...]) -> Iterator[None]:
    """A path that does not exist may be a command."""
    from dynamo_lint.discovery import DiscoveryError

    try:
        yield
    except DiscoveryError as error:
        guess = closest(str(paths[0]), _commands()) if paths and not paths[0].exists() else None
        raise Trouble(str(error) + (f"; did you mean the command `{guess}`?" if guess else "")) from None


def check_places(settings: Settings) -> None:
    """Refuse a contract that expects graph breaks in a file or a function that is not there."""
    if settings.source is None or not settings.contract.expected_breaks:
        return
    from dynamo_lint.logs.functions import functions  # late: few contracts name places

    home = settings.source.parent.resolve()
    for one in settings.contract.expected_breaks:
        path = home / one.path
        names = [name for name, _, _ in functions(path)]
        if not path.is_file():
            wrong = f"there is no such file below {home}{near_file(home, one.path)}"
        elif one.function and one.function not in names:
            wrong = f"there is no such function{hint(closest(one.function, names))}"
        else:
            continue
        keys = CONTRACT, "expected-breaks", one.place
        raise Trouble(f"{settings.place(*keys)}{dotted(*keys)}: {wrong}")


def _commands() -> list[str]:
    """The names of all commands."""
    root = click.get_current_context().find_root()
    return root.command.list_commands(root) if isinstance(root.command, click.Group) else []
