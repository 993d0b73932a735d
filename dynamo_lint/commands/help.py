"""Help texts: how options and commands are laid out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from textwrap import fill
from typing import Any

import click

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


class SectionedOption(click.Option):
    """An option that knows its section."""

    def __init__(self, *args: Any, section: str = "Other", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists its options by section, in the order in which they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a heading for each section."""
        for title, parameters in sections(self, ctx).items():
            records = [record for one in parameters if (record := one.get_help_record(ctx))]
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


class WithCommand(SectionedCommand):
    """A command that can have another one behind `--`, whose words are left as they are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the other command off, and parse what stands before it."""
        before, mark, command = args, False, []
        if "--" in args:
            place = args.index("--")
            before, mark, command = args[:place], True, args[place + 1 :]
        rest = super().parse_args(ctx, before)
        if mark and not command and not ctx.resilient_parsing:
            raise click.UsageError("name a command behind `--`", ctx)
        ctx.params["command"] = tuple(command)
        return rest


def sections(command: click.Command, ctx: click.Context) -> dict[str, list[click.Option]]:
    """The options of a command by section; `--help` itself needs no mention."""
    found: dict[str, list[click.Option]] = {}
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            found.setdefault(getattr(parameter, "section", "Options"), []).append(parameter)
    return found


def overview(command: click.Command, ctx: click.Context, width: int = 76) -> str:
    """The names of all options of a command, in their order, as lines for a help that fits a screen."""
    names = [max(one.opts, key=len) for group in sections(command, ctx).values() for one in group]
    return fill(" ".join(names), width, break_on_hyphens=False)


def section(title: str) -> Callable[..., Decorator]:
    """A decorator that declares options in a section of the help, as `click.option` does without one."""
    return partial(click.option, cls=SectionedOption, section=title)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, listed in order."""
    return lambda function: reduce(lambda made, decorator: decorator(made), reversed(decorators), function)
