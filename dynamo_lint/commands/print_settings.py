"""`--show-settings`: the settings as a configuration file would give them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from dynamo_lint.config import KEYS, TORCH_VERSIONS, Settings, place_of
from dynamo_lint.contract import Contract
from dynamo_lint.discovery import Discovered
from dynamo_lint.levels import PRESETS, Override
from dynamo_lint.raw_values import dotted
from dynamo_lint.terminal import clean
from dynamo_lint.trouble import say

_FEW = 3
"""Names in a line of a run that is not asked to be verbose."""


def configuration_text(settings: Settings) -> str:
    """The settings as a configuration file would give them; what is not set is commented out."""
    lines = [f"# {settings.source or 'no configuration file: defaults'}"]
    for key in KEYS:
        value = getattr(settings, key.replace("-", "_"))
        shown = f"# {key} is not set" if value is None else f"{key} = {toml(key, value)}"
        lines.append(f"{shown}  # {_origin(settings, key)}")
    if settings.preset is not None:
        severity = toml("severity", PRESETS[settings.preset].severity)
        lines.append(f"# severity of the preset, where nothing above says otherwise: {severity}")
    return "".join(f"{clean(line)}\n" for line in lines)


def _origin(settings: Settings, key: str) -> str:
    """Where a setting comes from."""
    if key in settings.given:
        return "command line"
    if key in settings.stated and settings.source is not None:
        return place_of(Path(near(settings.source)), key)
    if key in {"pedantic", "contract"} and settings.preset is not None:
        return f"preset {settings.preset}"
    if key == "torch-version" and settings.torch_from:
        return settings.torch_from
    return "default"


def toml(key: str, value: object) -> str:
    """A setting as TOML; JSON's strings, lists and truth values are TOML too."""
    if key == "torch-version" and isinstance(value, tuple):
        value = ".".join(map(str, value))
    if isinstance(value, Contract | Override):
        value = value.as_table()
    if isinstance(value, tuple) and any(isinstance(one, Override) for one in value):
        return f"[{', '.join(toml(key, one) for one in value)}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{dotted(name)} = {toml(name, one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return json.dumps(value, default=str, ensure_ascii=False)


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
