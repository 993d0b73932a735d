"""`--show-settings`: the settings as a configuration file would give them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import click

from dynamo_lint.commands.errors import say
from dynamo_lint.config import KEYS, TORCH_VERSIONS, Settings
from dynamo_lint.contract import Contract
from dynamo_lint.discovery import Discovered
from dynamo_lint.raw_values import dotted
from dynamo_lint.terminal import clean

_FEW = 3
"""Names in a line of a run that is not asked to be verbose."""


def configuration_text(settings: Settings) -> str:
    """The settings as a configuration file would give them; what is not set is commented out."""
    lines = [f"# {settings.source or 'no configuration file: defaults'}"]
    names = {field.name for field in fields(settings)}
    for key in KEYS:
        value = getattr(settings, key.replace("-", "_")) if key.replace("-", "_") in names else None
        lines.append(f"# {key} is not set" if value is None else f"{key} = {toml(key, value)}")
    return "".join(f"{clean(line)}\n" for line in lines)


def toml(key: str, value: object) -> str:
    """A setting as TOML; JSON's strings, lists and truth values are TOML too."""
    if key == "torch-version" and isinstance(value, tuple):
        value = ".".join(map(str, value))
    if isinstance(value, Contract):
        value = value.as_table()
    if isinstance(value, dict):
        inside = ", ".join(f"{dotted(name)} = {toml(name, one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return json.dumps(value, default=str, ensure_ascii=False)


def files_text(found: Discovered) -> str:
    """The files whose findings would be reported, one a line."""
    return "".join(f"{clean(path)}\n" for path in sorted(found.reported))


def explain(settings: Settings, found: Discovered) -> None:
    """Print what `--verbose` adds before the run: the configuration, the root and the files."""
    say(f"configuration: {settings.source or 'none, defaults'}")
    say(f"root: {found.root}")
    click.echo(f"files: {len(found.files)} read, {len(found.reported)} reported on", err=True)
    for path in found.passed_over:
        say(f"skipped, larger than 1 MB: {path}")


def warn_of_links(found: Discovered, all_of_them: bool = False) -> None:
    """Say which links were passed over: somebody may have counted on them."""
    if not found.outside:
        return
    names = [clean(name) for name in (found.outside if all_of_them else found.outside[:_FEW])]
    if left := len(found.outside) - len(names):
        names.append(f"and {left} more")
    say(f"passed over, because links lead out of the project: {', '.join(names)}")


def warn_of_version(settings: Settings) -> None:
    """Say that a torch version is newer than what the rules know."""
    if settings.torch_version > TORCH_VERSIONS[-1]:
        asked, newest = (".".join(map(str, pair)) for pair in (settings.torch_version, TORCH_VERSIONS[-1]))
        say(f"torch {asked} is newer than {newest}, the newest known here, and is judged as that")


def near(path: Path) -> str:
    """A path as it is shown: relative to the working directory where it lies below it."""
    cwd = Path.cwd()
    return str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)
