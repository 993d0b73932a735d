"""The baseline of a run: read it, or write what the run found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from dynamo_lint.commands.output import deliver
from dynamo_lint.commands.print_settings import near
from dynamo_lint.config import Settings
from dynamo_lint.discovery import Discovered
from dynamo_lint.levels import levels_of
from dynamo_lint.report import Report

if TYPE_CHECKING:
    from dynamo_lint.baseline import Baseline


def load(settings: Settings, update: bool, named: bool) -> Baseline | None:
    """The baseline in force, None if there is none; one that is to be written need not exist.

    `named` if the command line names it, rather than the configuration.
    """
    file = settings.baseline
    if file is None:
        if update:
            raise click.UsageError(
                "--update-baseline needs --baseline FILE, or `baseline` in the configuration"
            )
        return None
    from dynamo_lint.baseline import Baseline, read

    if update and not file.exists():
        return Baseline(file.absolute())
    return read(file, named)


def write(
    baseline: Baseline, report: Report, found: Discovered, settings: Settings, catalogue: Mapping[str, str]
) -> str:
    """Replace the file by what was found; returns what to tell people."""
    from dynamo_lint.baseline import updated

    level = levels_of(settings.policy, catalogue, found.root)
    deliver(updated(baseline, report.findings, found.root, found.reported, level), baseline.file)
    count = len(report.findings)
    name = near(baseline.file)
    return f"{name}: accepts {count} finding{'' if count == 1 else 's'} from now on."
