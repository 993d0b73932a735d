"""`dynamo-lint config`: what a key of the configuration means, and which value is in force."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.config import KEYS, Settings, load
from dynamo_lint.selectors import closest, hint
from dynamo_lint.terminal import clean
from dynamo_lint.trouble import Trouble

if TYPE_CHECKING:
    from dynamo_lint.terminal import Look


def _complete(_context: click.Context, _argument: click.Parameter, incomplete: str) -> list[str]:
    return [key for key in KEYS if key.startswith(incomplete)]


@click.command(cls=SectionedCommand, short_help="Explain keys of the configuration, or print all settings.")
@click.argument("keys", nargs=-1, metavar="[KEY]...", shell_complete=_complete)
@common.files_option("--config", type=common.FILE, metavar="FILE", help="Use this file, not the nearest.")
@common.files_option("--isolated", is_flag=True, help="Ignore all configuration files.")
@common.color_option
def config(keys: tuple[str, ...], config: Path | None, isolated: bool, color: str) -> None:
    """Explain keys of the configuration; without one, print all settings.

    For each key: what it means, its default, and the value in force in the current folder.
    """
    from dynamo_lint.commands.output import configuration_text, deliver
    from dynamo_lint.terminal import look_on
    from dynamo_lint.torch_version import with_torch

    settings = with_torch(load(Path.cwd(), config, isolated), Path.cwd())
    look = look_on(color)
    if not keys:
        return deliver(configuration_text(settings), None)
    named = [_named(key) for key in keys]
    return deliver("\n".join(_explained(key, settings, look) for key in named), None)


def _named(word: str) -> str:
    """The key that a word names, or the one that it is a part of."""
    key = word.replace("_", "-").partition(".")[0]
    if key not in KEYS:
        raise Trouble(f"no key of the configuration is called {word!r}{hint(closest(key, KEYS))}")
    return key


def _explained(key: str, settings: Settings, look: Look) -> str:
    from dynamo_lint.commands.output import origin

    about = KEYS[key]
    usual, value = (getattr(one, key.replace("-", "_")) for one in (Settings(), settings))
    rows = {"default": _shown(key, usual)}
    if about.choices:
        rows["one of"] = ", ".join(f'"{word}"' for word in about.choices)
    if about.example:
        rows["example"] = f"{key} = {about.example}"
    rows["in force"] = f"{_shown(key, value)} ({origin(settings, key)})"
    lines = [look.paint(key, bold=True), look.wrapped(about.meaning, "  ", "  ")]
    lines += [f"  {name + ':':<10}{clean(text)}" for name, text in rows.items()]
    return "".join(f"{line}\n" for line in lines)


def _shown(key: str, value: object) -> str:
    from dynamo_lint.commands.output import toml

    return "none" if value is None else toml(key, value)
