"""`dynamo-lint init`: a first configuration."""

from __future__ import annotations

from pathlib import Path

import click

from dynamo_lint import __version__, files
from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.config import ConfigError, load
from dynamo_lint.trouble import Trouble, say

PYPROJECT, OWN = "pyproject.toml", "dynamo-lint.toml"
_START = """\
# `dynamo-lint config` prints every key with its value, `dynamo-lint config KEY` explains one.
required-version = ">={version}"
# torch-version = "{torch}"  # now: {torch_from}
# regions = ["package.module:Class"]  # compiled by code that dynamo-lint cannot see
# assume = "blocks"  # for a library whose users compile its blocks
# baseline = "dynamo-lint-baseline.json"  # `dynamo-lint --update-baseline` accepts what there is today
"""


@click.command(cls=SectionedCommand, short_help="Write a first configuration.")
@click.argument(
    "folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="[FOLDER]"
)
def init(folder: Path) -> None:
    """Write a first configuration; what is there is never overwritten.

    Into the pyproject.toml of the folder (default: the current one) if there is one, else into a new
    dynamo-lint.toml.
    """
    from dynamo_lint.commands.output import near
    from dynamo_lint.torch_version import with_torch

    home = folder.absolute()
    before = load(home)
    if before.source is not None and before.source.parent == home:
        raise Trouble(
            f"{near(before.source)}: is a configuration already; `dynamo-lint config` shows what it says"
        )
    settings = with_torch(before, home)
    start = _START.format(
        version=__version__.partition(".dev")[0],
        torch=".".join(map(str, settings.torch_version)),
        torch_from=settings.torch_from or "set above this folder",
    )
    file = home / PYPROJECT
    if file.exists():
        _extend(file, f"[tool.dynamo-lint]\n{start}")
    else:
        file = home / OWN
        _create(file, start)
    load(home)
    say(f"{near(file)}: written")
    if before.source is not None:
        say(f"It takes the place of {near(before.source)} in this folder and below.")


def _create(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Trouble(f"{file}: is there already, and is left as it is") from None
    except OSError as error:
        raise Trouble(f"{file}: cannot be written: {error.strerror}") from None


def _extend(file: Path, section: str) -> None:
    """Add a section at the end of a TOML file, with its line ends, if that makes a table of its own there."""
    from dynamo_lint.commands.output import deliver
    from dynamo_lint.toml import tomllib

    try:
        raw = files.read(file)
        text = raw.decode("utf-8")
    except OSError as error:
        raise Trouble(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: is not UTF-8 text, as TOML must be") from None
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    end = "\r\n" if "\r\n" in text else "\n"
    longer = text + (gap + section).replace("\n", end)
    try:
        tomllib.loads(longer.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        raise Trouble(
            f"{file}: takes no section [tool.dynamo-lint] at its end; create {OWN} beside it"
        ) from None
    deliver(longer.encode("utf-8"), file)
