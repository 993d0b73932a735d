"""`dynamo-lint rule`: the page of a rule."""

from __future__ import annotations

from pathlib import Path

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.output import deliver
from dynamo_lint.config import load
from dynamo_lint.terminal import clean, look_on
from dynamo_lint.trouble import Trouble


@click.command()
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "everything", is_flag=True, help="Print the pages of all rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="text (default) or json."
)
@click.option(
    "--torch-version",
    callback=common.version,
    metavar="X.Y",
    help="Show what was measured with it (the project's).",
)
@click.option("--color", type=common.COLOURS, default="auto", help="Use colour.")
def rule(
    codes: tuple[str, ...],
    everything: bool,
    output_format: str,
    torch_version: tuple[int, int] | None,
    color: str,
) -> None:
    """Explain rules, by code or name."""
    from dynamo_lint.pages import PageError, as_measured, load_pages
    from dynamo_lint.render import page as render
    from dynamo_lint.selectors import matching

    try:
        pages = load_pages()
    except (PageError, OSError) as error:
        raise Trouble(f"the rule pages cannot be read: {error}") from None
    names = {code: page.name for code, page in pages.items()}
    if bool(codes) == everything:
        raise click.UsageError("name the rules to explain, or use --all")
    chosen = sorted(names if everything else {hit for word in codes for hit in matching(word, names)})
    torch, where = (torch_version, "") if torch_version else _torch()
    shown = [as_measured(pages[code], torch) for code in chosen]
    look = look_on(color)
    if output_format == "json":
        return deliver(render.render_json(shown), None)
    text = render.render_text(shown, look)
    if where:
        version = ".".join(map(str, torch))
        text += look.line(clean(f"Measured tables are those of torch {version} ({where}).")) + "\n"
    return deliver(text, None)


def _torch() -> tuple[tuple[int, int], str]:
    """The torch of the project around the working directory, and where it comes from."""
    from dynamo_lint.torch_version import with_torch

    settings = with_torch(load(Path.cwd()))
    source = settings.source.name if settings.source else ""
    return settings.torch_version, settings.torch_from or f"set in {source}"
