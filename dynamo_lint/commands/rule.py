"""`dynamo-lint rule`: the page of a rule."""

from __future__ import annotations

import sys

import click

from dynamo_lint.commands.errors import Trouble
from dynamo_lint.commands.output import deliver
from dynamo_lint.terminal import Look, terminal_width, wants_colour


@click.command()
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "everything", is_flag=True, help="Print the pages of all rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="text (default) or json."
)
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
    deliver(render.render_json(shown) if output_format == "json" else render.render_text(shown, look), None)
