"""`dynamo-lint regions`: what is compiled, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.commands.output import deliver, look_at, warn_of_links
from dynamo_lint.selectors import closest, hint
from dynamo_lint.terminal import counted
from dynamo_lint.trouble import Trouble

if TYPE_CHECKING:
    from dynamo_lint.regions.model import Unresolved
    from dynamo_lint.run.judge import Judged


def _programs(judged: Judged) -> tuple[Unresolved, ...]:
    """The programs that were not followed to their end: only running them shows that."""
    from dynamo_lint.regions.model import PROGRAM, Unresolved

    return tuple(
        Unresolved(site.path, site.line, site.expression, site.why, kind=site.kind)
        for site in judged.compiled.unresolved
        if site.kind == PROGRAM
    )


@click.command(cls=SectionedCommand)
@common.paths_argument
@common.region_options
@common.file_options
@common.output_option("--why", metavar="NAME", help="Print why a function is compiled, or why it is not.")
@common.output_format_option("text", "json", metavar=None)
@common.color_option
@common.effort_options
def regions(
    paths: tuple[Path, ...],
    why: str | None,
    output_format: str,
    color: str,
    **given: Any,
) -> None:
    """Show what is compiled, and why."""
    from dynamo_lint.program.tables import OF_REGIONS, GrowingTables
    from dynamo_lint.recursion import with_deep_stack
    from dynamo_lint.regions.model import part
    from dynamo_lint.regions.resolve import resolve
    from dynamo_lint.regions.why import is_called, why_not
    from dynamo_lint.render import regions as render
    from dynamo_lint.run.declared import is_compiled
    from dynamo_lint.run.judge import judge
    from dynamo_lint.run.reading import read_content, read_facts
    from dynamo_lint.sources import Sources

    settings, found = common.prepare(paths, given)
    warn_of_links(found)
    sources = Sources(found.root, found.given)
    with common.effort(settings, given) as means:
        content = read_content(settings.region_comment, found, sources, means.store)
        gathering = GrowingTables(OF_REGIONS)
        facts = read_facts(content, sources, means, gathering.add)
        _, what = with_deep_stack(lambda: resolve(facts, settings.region_options, gathered=gathering.tables))
        is_compiled(settings, found, sources, bool(what.hot), what.idle, means)
        programs = _programs(judge(settings, found, content, sources, means)) if why is None else ()
    shown = part(replace(what, unresolved=(*what.unresolved, *programs)), found.reported)
    look = look_at(found.root, color, sources=sources)
    if why is not None:
        chosen = [hot for hot in what.hot if is_called(hot.function.id, why)]
        ends = {} if chosen else why_not(facts, what, settings.region_options, why)
        if not chosen and not ends:
            names = {hot.function.id.partition("::")[2] for hot in what.hot}
            guess = closest(why, [*names, *(name.rpartition(".")[2] for name in names)])
            raise Trouble(f"no function is named {why!r}{hint(guess)}")
        text = render.render_why(chosen, sources, look) if chosen else render.render_why_not(ends, look)
    elif output_format == "json":
        text = render.render_json(shown, facts, look)
    else:
        text = render.render_text(shown, facts, look)
    if not shown.entries and output_format == "text" and why is None:
        text += f"No compiled code found in {counted(len(found.reported), 'file')}.\n"
    deliver(text, None)
    unread = len(found.errors)
    unread += sum(facts[path].error is not None for path in found.reported if path in facts)
    if unread and why is None:
        click.echo(f"{counted(unread, 'file')} could not be read; `dynamo-lint check` says why.", err=True)
