"""`dynamo-lint clean`: remove caches."""

from __future__ import annotations

from pathlib import Path

import click

from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.trouble import Trouble, say


@click.command(cls=SectionedCommand)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--all", "everything", is_flag=True, help="Remove the caches of all your projects.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Remove the cache there.",
)
def clean(paths: tuple[Path, ...], everything: bool, cache_dir: Path | None) -> None:
    """Remove the cache of a project, and say how large it was."""
    from dynamo_lint.cache.place import clear
    from dynamo_lint.config import load
    from dynamo_lint.discovery import base
    from dynamo_lint.terminal import counted

    if (bool(paths) + everything + (cache_dir is not None)) > 1:
        raise click.UsageError("name paths, or --all, or --cache-dir, and only one of them")
    project = None if everything or cache_dir is not None else load(base(paths or (Path(),))).folder
    try:
        gone = clear(project, cache_dir)
    except OSError as error:
        raise Trouble(
            f"the cache cannot be removed: {error.filename or cache_dir}: {error.strerror}"
        ) from None
    for one in gone:
        say(f"{one.folder}: removed {counted(one.files, 'file')}, {one.bytes:,} bytes")
    if not gone:
        say(f"no cache of {project or cache_dir or 'any project'}")
