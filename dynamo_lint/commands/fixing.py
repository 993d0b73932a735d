"""`--fix`, `--unsafe-fixes` and `--diff`: rewriting as a part of `check`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamo_lint.commands.errors import EXIT_FINDINGS, say
from dynamo_lint.commands.help import section, together

if TYPE_CHECKING:
    from dynamo_lint.baseline import Baseline
    from dynamo_lint.config import Settings
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.run.reading import Effort
    from dynamo_lint.run.rewrite import Rewritten
    from dynamo_lint.sources import Sources

fix_option = section("Fixes")
fix_options = together(
    fix_option("--fix", is_flag=True, help="Apply safe fixes, then report the remaining findings."),
    fix_option("--unsafe-fixes", is_flag=True, help="Also apply fixes that can change behaviour."),
    fix_option("--diff", is_flag=True, help="Print the changes --fix would make; exit 1 if there are any."),
)


def rewritten(
    settings: Settings,
    found: Discovered,
    rules: Mapping[str, str],
    sources: Sources,
    unsafe: bool,
    accepted: Baseline | None,
    effort: Effort,
) -> Rewritten:
    """The project with its fixes applied, in memory; text from stdin is all that may change then."""
    from dynamo_lint.run.rewrite import rewrite

    return rewrite(settings, found, rules, sources, unsafe, accepted, effort)


def show(done: Rewritten, found: Discovered, file: Path | None, quiet: bool, exit_zero: bool) -> None:
    """Print the changes as a patch, with paths as seen from the current folder."""
    from dynamo_lint.commands.output import deliver
    from dynamo_lint.run.write import diff

    deliver(diff(done, {path: _from_here(found.root / path) for path in done.files}), file)
    if not quiet:
        _say_refused(done, found)
        what = f"{_count(len(done.applied), 'finding')} in {_count(len(done.files), 'file')}"
        click.echo(f"Would fix {what}." if done.files else "Nothing would change.", err=True)
    if done.files and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def pass_on(done: Rewritten, found: Discovered) -> None:
    """Text from stdin goes to stdout, fixed: what an editor asks for."""
    from dynamo_lint.commands.output import to_stdout

    for path, text in found.given.items():
        to_stdout(done.files.get(path, text))


def put_in_place(done: Rewritten, found: Discovered) -> None:
    """Write the files, and say what was done, one line each."""
    from dynamo_lint.run.write import tidy, write

    tidy(found.root, found.files)
    left = write(found.root, done)
    written = [path for path in done.files if path not in left]
    fixed = [one for one in done.applied if one.fix and {e.span.path for e in one.fix.edits}.isdisjoint(left)]
    for path, why in sorted(left.items()):
        say(f"{_from_here(found.root / path)} was not changed: {why}")
    _say_refused(done, found)
    if written:
        click.echo(f"Fixed {_count(len(fixed), 'finding')} in {_count(len(written), 'file')}.", err=True)


def _say_refused(done: Rewritten, found: Discovered) -> None:
    """Say of each fix that was tried and not made why, one line each."""
    for finding, why in done.refused:
        place = f"{_from_here(found.root / finding.span.path)}:{finding.span.line}"
        say(f"{place} {finding.code} was not fixed: {why}")


def _from_here(path: Path) -> str:
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:
        return path.as_posix()


def _count(number: int, word: str) -> str:
    return f"{number} {word if number == 1 else word + 's'}"
