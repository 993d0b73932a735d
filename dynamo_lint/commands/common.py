"""What commands share: common options, settings and files for a run, and writing the result."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands.ends import ReaderLeft, Trouble
from dynamo_lint.config import ASSUMPTIONS, ConfigError, Settings, load, override
from dynamo_lint.selectors import closest
from dynamo_lint.terminal import Look, terminal_width

if TYPE_CHECKING:
    from dynamo_lint.discovery import Discovered

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def options(*decorators: Decorator) -> Decorator:
    """Several click options as one decorator, listed in order."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


paths_argument = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")

region_options = options(
    click.option("--assume", type=click.Choice(ASSUMPTIONS), help="What your users compile, if you do not."),
    click.option(
        "--assume-compiled", is_flag=True, help="Same as --assume modules: every nn.Module.forward."
    ),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Replace the default exclusions."),
    click.option("--extend-exclude", multiple=True, metavar="PATTERN", help="Exclude more."),
    click.option("--force-exclude", is_flag=True, help="Exclude even what is named on the command line."),
    click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Use this configuration instead of the nearest.",
    ),
    click.option("--isolated", is_flag=True, help="Ignore all configuration files."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Use colour."
    ),
)


def prepare(
    paths: tuple[Path, ...], force_exclude: bool, given: dict[str, Any]
) -> tuple[Settings, Discovered]:
    """Settings and files for a command; `given` holds the options that override the configuration."""
    from dynamo_lint.discovery import DiscoveryError, base, discover

    paths = paths or (Path(),)
    config, isolated = given.pop("config"), given.pop("isolated")
    exclude, extend = given.pop("exclude"), given.pop("extend_exclude")
    if given.pop("assume_compiled"):
        if given["assume"] not in (None, "modules"):
            raise click.UsageError(f"--assume-compiled contradicts --assume {given['assume']}")
        given["assume"] = "modules"
    try:
        settings = override(load(base(paths), config, isolated), **given)
        home = settings.source.parent if settings.source and config is None else Path.cwd()
        patterns = [
            (Path.cwd(), exclude) if exclude else (home, settings.exclude),
            (home, settings.extend_exclude),
            (Path.cwd(), extend),
        ]
        return settings, discover(paths, patterns, force_exclude)
    except DiscoveryError as error:
        guess = closest(str(paths[0]), _commands()) if not paths[0].exists() else None
        raise Trouble(str(error) + (f"; did you mean the command `{guess}`?" if guess else "")) from None
    except ConfigError as error:
        raise Trouble(str(error)) from None


def _commands() -> list[str]:
    """The names of all commands."""
    root = click.get_current_context().find_root()
    return root.command.list_commands(root) if isinstance(root.command, click.Group) else []


def look_at(found: Discovered, colour: bool) -> Look:
    """How to print paths below the linted root."""
    return Look(colour=colour, width=terminal_width(), root=found.root, cwd=Path.cwd())


def deliver(text: str, file: Path | None) -> None:
    """Write to stdout, or to a file that is either replaced as a whole or left as it was."""
    if file is None:
        try:
            click.echo(text, nl=False, color=True)
        except BrokenPipeError:
            raise ReaderLeft from None
        except OSError as error:
            raise Trouble(f"the output cannot be written: {error.strerror}") from None
        return
    target = Path(os.path.realpath(file))
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", errors="backslashreplace")
            return
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            draft.write_text(text, encoding="utf-8", errors="backslashreplace")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise Trouble(f"{file}: cannot be written: {error.strerror}") from None
