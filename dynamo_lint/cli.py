"""The command line: options in, exit status out. `dynamo-lint src/` means `dynamo-lint check src/`."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamo_lint import __version__
from dynamo_lint.commands.help import overview
from dynamo_lint.trouble import (
    EXIT_CLEAN,
    EXIT_INTERRUPTED,
    EXIT_PIPE,
    EXIT_TROUBLE,
    ReaderLeft,
    Trouble,
    say,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = (
    *("check", "regions", "rule", "confirm", "logs", "doctor", "server", "mcp"),
    *("init", "config", "config-schema", "clean"),
)
"""Each is a module of `dynamo_lint.commands` that holds a click command of the same name."""

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Errors of a full or broken disk, caught here for help texts, which click writes by itself."""

DEBUG = "DYNAMO_LINT_DEBUG"
"""The environment variable that asks for a traceback."""


class DefaultGroup(click.Group):
    """A group whose first word may be a path: then the command is `check`; commands load when used."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command where none is named; a shell that completes may still name one."""
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args or (args[0] not in COMMANDS and args[0] not in ("--help", "-h", "--version")):
            args = ["check", *args]
        elif len(args) == 1 and Path(args[0]).is_dir():
            say(f"`{args[0]}` is a command; `dynamo-lint ./{args[0]}` lints the folder")
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"dynamo_lint.commands.{name}"), name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The first word may be a command, a path, or an option of the default command."""
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        check = self.get_command(ctx, "check")
        if check is not None and incomplete.startswith("-"):
            return found + check.shell_complete(click.Context(check, parent=ctx), incomplete)
        return [*found, CompletionItem(incomplete, type="file")]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, and the names of the options of the one that is meant without a name."""
        self.format_commands(ctx, formatter)
        check = self.get_command(ctx, "check")
        if check is not None:
            with formatter.section("Options of check (`dynamo-lint check --help` explains them)"):
                # After the mark \b click leaves lines as they are; it would break them at hyphens.
                formatter.write_text(f"\b\n{overview(check, ctx)}")


@click.group(
    cls=DefaultGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="",
    subcommand_metavar="[COMMAND] [OPTIONS] [PATH]...",
)
@click.version_option(__version__, prog_name="dynamo-lint", message="%(prog)s %(version)s")
def app() -> None:
    """Find the Python code that makes torch.compile recompile, break or go stale.

    \b
    dynamo-lint [src train.py]  lint these, or the current folder (`check`)
    dynamo-lint --version       print the version
    """


def main() -> None:
    """Run the program and exit."""
    # Facts and syntax trees hold no cycles; looking for some among millions of them costs half the time.
    gc.disable()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` has it ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    status = run(sys.argv[1:])
    # Python would free object by object at its end, and wait for threads: after Ctrl-C one of them may wait
    # for a process that has been ended in the middle of its answer.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # full, closed, or never there
            stream.flush()
    os._exit(status)


def _end(number: int, _: object) -> None:
    """End in an orderly way: drafts, temporary folders and probes are cleared away."""
    raise SystemExit(128 + number)


def run(args: Sequence[str]) -> int:
    """The exit status for these arguments; all that can go wrong ends here as one line for people."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # File names and source lines may hold what the terminal's encoding cannot say.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = app(list(args), prog_name="dynamo-lint", standalone_mode=False)
        return status if isinstance(status, int) else EXIT_CLEAN
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "dynamo-lint"
        said = error.format_message().rstrip(".")
        say(f"dynamo-lint: {said[:1].lower()}{said[1:]} (see `{command} --help`)")
        return EXIT_TROUBLE
    except (Trouble, click.ClickException) as error:
        say(f"dynamo-lint: {error}")
        return EXIT_TROUBLE
    except (click.Abort, KeyboardInterrupt):
        click.echo("dynamo-lint: interrupted", err=True)
        return EXIT_INTERRUPTED
    except SystemExit as ended:
        return int(ended.code or 0)
    except ReaderLeft:
        return EXIT_PIPE
    except MemoryError:
        click.echo("dynamo-lint: out of memory; lint fewer files at once, or raise the limit", err=True)
        return EXIT_TROUBLE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            click.echo(f"dynamo-lint: the output cannot be written: {error.strerror}", err=True)
            return EXIT_TROUBLE
        if os.environ.get(DEBUG):
            raise
        say(f"dynamo-lint: internal error: {_where(error)}; please report it")
        click.echo(f"Set {DEBUG}=1 to see the traceback.", err=True)
        return EXIT_TROUBLE


def _where(error: Exception) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
