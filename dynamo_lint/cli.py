"""The command line: options in, exit status out. `dynamo-lint src/` means `dynamo-lint check src/`."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint import __version__
from dynamo_lint.config import (
    ASSUMPTIONS,
    CONFIDENCES,
    OUTPUT_FORMATS,
    ConfigError,
    Settings,
    load,
    override,
    parse_torch_version,
)
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.selectors import closest
from dynamo_lint.terminal import Look, terminal_width, wants_colour

if TYPE_CHECKING:
    from dynamo_lint.discovery import Discovered

EXIT_CLEAN, EXIT_FINDINGS, EXIT_TROUBLE, EXIT_INTERRUPTED, EXIT_PIPE = 0, 1, 2, 130, 141
DEBUG = "DYNAMO_LINT_DEBUG"
"""The environment variable that asks for a traceback."""


class Trouble(click.ClickException):
    """Something that a person must put right; one line, exit status 2."""

    exit_code = EXIT_TROUBLE

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        click.echo(f"dynamo-lint: {self.format_message()}", err=True)


class ReaderLeft(Exception):
    """Whoever read our output has closed the pipe; not a BrokenPipeError, which click makes an exit 1."""


class DefaultGroup(click.Group):
    """A group whose first word may be a path: then the command is `check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command where none is named."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h", "--version")):
            args = ["check", *args]
        return super().parse_args(ctx, args)


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def options(*decorators: Decorator) -> Decorator:
    """Several click options as one decorator, listed in order."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip()) or None


def _version(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    try:
        return parse_torch_version(value) if value is not None else None
    except ValueError as expected:
        raise click.BadParameter(f"{value!r} is not {expected}") from None


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


@click.group(
    cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="dynamo-lint", message="%(prog)s %(version)s")
def app() -> None:
    """Find the Python that makes torch.compile recompile, break or go stale.

    \b
    dynamo-lint               lint the current folder
    dynamo-lint src train.py  lint these (short for `dynamo-lint check ...`)
    dynamo-lint rule DYN101   what a finding means and how to end it
    """


@app.command()
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

    settings, found = _prepare(paths, force_exclude, given)
    rules = catalogue()
    _check_selectors(settings, given, rules)
    if statistics and settings.output_format == "json":
        raise click.UsageError("--statistics counts for people; with json, count the findings")
    if verbose:
        _explain(settings, found)
    sources = Sources(found.root)
    report = run_check(settings, found, rules, sources)

    colour = output_file is None and wants_colour(color, sys.stdout)
    look = _look(found, colour or color == "always")
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
    _deliver(text, output_file)
    if not quiet:
        gap = "\n" if text and settings.output_format == "full" and output_file is None else ""
        look = _look(found, wants_colour(color, sys.stderr))
        talk = summary.render(report, look, explain=settings.output_format == "full" and not statistics)
        click.echo(gap + talk, nl=False, err=True, color=True)
    if report.fails(settings.fail_level) and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)


@app.command()
@paths_argument
@click.option("--why", metavar="NAME", help="Print how a function comes to be compiled.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@region_options
def regions(
    paths: tuple[Path, ...],
    why: str | None,
    output_format: str,
    force_exclude: bool,
    color: str,
    **given: Any,
) -> None:
    """Show what is compiled, and why."""
    from dynamo_lint.check import read_files
    from dynamo_lint.regions.resolve import resolve
    from dynamo_lint.render import regions as render
    from dynamo_lint.sources import Sources

    settings, found = _prepare(paths, force_exclude, given)
    index = read_files(settings, found)
    _, what = resolve(index.facts, settings.region_options)
    look = _look(found, wants_colour(color, sys.stdout))
    if why is not None:
        chosen = [hot for hot in what.hot if _ends_with(hot.function.id, why)]
        if not chosen:
            names = {hot.function.id.partition("::")[2] for hot in what.hot}
            guess = closest(why, [*names, *(name.rpartition(".")[2] for name in names)])
            raise Trouble(
                f"no compiled function is called {why!r}" + (f"; did you mean {guess!r}?" if guess else "")
            )
        text = render.render_why(chosen, Sources(found.root), look)
    elif output_format == "json":
        text = render.render_json(what)
    else:
        text = render.render_text(what, index.facts, look)
    _deliver(text, None)
    if not what.entries and output_format == "text":
        click.echo(f"Nothing is compiled in {len(found.files)} files, as far as can be seen.", err=True)


@app.command()
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "everything", is_flag=True, help="All rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Use colour.")
def rule(codes: tuple[str, ...], everything: bool, output_format: str, color: str) -> None:
    """Explain rules, by code or name."""
    from dynamo_lint.pages import PageError, load_pages
    from dynamo_lint.render import page as render
    from dynamo_lint.selectors import UnknownSelector, matching

    try:
        pages = load_pages()
    except (PageError, OSError) as error:
        raise Trouble(f"the rule pages cannot be read: {error}") from None
    names = {code: page.name for code, page in pages.items()}
    if bool(codes) == everything:
        raise click.UsageError("name the rules to explain, or use --all")
    try:
        chosen = sorted(names if everything else {hit for word in codes for hit in matching(word, names)})
    except UnknownSelector as error:
        raise Trouble(str(error)) from None
    shown = [pages[code] for code in chosen]
    look = Look(colour=wants_colour(color, sys.stdout), width=terminal_width())
    _deliver(render.render_json(shown) if output_format == "json" else render.render_text(shown, look), None)


def main() -> None:
    """Run the program and exit."""
    sys.exit(run(sys.argv[1:]))


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
        click.echo(f"dynamo-lint: {said[:1].lower()}{said[1:]} (see `{command} --help`)", err=True)
        return EXIT_TROUBLE
    except click.ClickException as error:
        error.show()
        return EXIT_TROUBLE
    except (click.Abort, KeyboardInterrupt):
        click.echo("dynamo-lint: interrupted", err=True)
        return EXIT_INTERRUPTED
    except ReaderLeft:
        # The interpreter must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        click.echo(f"dynamo-lint: internal error: {_where(error)}; please report it", err=True)
        click.echo(f"Set {DEBUG}=1 to see the traceback.", err=True)
        return EXIT_TROUBLE


def _prepare(
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
        guess = closest(str(paths[0]), app.commands) if not paths[0].exists() else None
        raise Trouble(str(error) + (f"; did you mean the command `{guess}`?" if guess else "")) from None
    except ConfigError as error:
        raise Trouble(str(error)) from None


def _check_selectors(settings: Settings, given: dict[str, Any], rules: dict[str, str]) -> None:
    """Refuse selectors that name no rule, and say where they stand."""
    from dynamo_lint.selectors import UnknownSelector, enabled

    try:
        enabled(settings.select, settings.ignore, settings.pedantic, rules)
    except UnknownSelector as error:
        key = "select" if error.selector in (settings.select or ()) else "ignore"
        where = f"--{key}" if given.get(key) else f"{settings.source}: {key}"
        raise Trouble(f"{where}: {error}") from None


def _look(found: Discovered, colour: bool) -> Look:
    return Look(colour=colour, width=terminal_width(), root=found.root, cwd=Path.cwd())


def _explain(settings: Settings, found: Discovered) -> None:
    """What `--verbose` says before the run."""
    click.echo(f"configuration: {settings.source or 'none, defaults'}", err=True)
    click.echo(f"root: {found.root}", err=True)
    click.echo(f"files: {len(found.files)} read, {len(found.reported)} reported on", err=True)
    for path in found.passed_over:
        click.echo(f"passed over, larger than 1 MB: {path}", err=True)


def _deliver(text: str, file: Path | None) -> None:
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


def _ends_with(identity: str, name: str) -> bool:
    """`name` is the identity, its qualname, or a tail of either that starts at a whole word."""
    return identity == name or any(identity.endswith(mark + name) for mark in ("::", ".", "/"))


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
