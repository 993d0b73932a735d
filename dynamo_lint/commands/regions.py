"""`dynamo-lint regions`: what is compiled, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.commands.output import deliver, look_at, near, warn_of_links
from dynamo_lint.selectors import closest, hint
from dynamo_lint.terminal import counted
from dynamo_lint.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dynamo_lint.config import Settings
    from dynamo_lint.regions.model import Regions
    from dynamo_lint.run.reading import Content, Effort
    from dynamo_lint.sources import Sources
    from dynamo_lint.state.guard_surface import Read
    from dynamo_lint.terminal import Look


@click.command(cls=SectionedCommand)
@common.paths_argument
@common.region_options
@common.file_options
@common.output_option("--why", metavar="NAME", help="Print why a function is compiled, or why it is not.")
@common.output_option("--guards", is_flag=True, help="Print the Python values that compiled code reads.")
@common.output_option("--update", is_flag=True, help="Write them to the contract's `guard-surface`.")
@common.output_format_option("text", "json", metavar=None)
@common.color_option
@common.effort_options
def regions(
    paths: tuple[Path, ...],
    why: str | None,
    guards: bool,
    update: bool,
    output_format: str,
    color: str,
    **given: Any,
) -> None:
    """Show what is compiled, and why."""
    from dynamo_lint.regions.model import part
    from dynamo_lint.render import regions as render
    from dynamo_lint.run.declared import is_compiled
    from dynamo_lint.run.judge import judge
    from dynamo_lint.run.reading import read_content
    from dynamo_lint.run.resolved import facts_of, regions_of, surface_of, with_programs
    from dynamo_lint.sources import Sources

    settings, found = common.prepare(paths, given)
    surface = settings.contract.guard_surface
    if update and not (guards and isinstance(surface, str)):
        needs = "`guard-surface` in the contract, the file to write" if guards else "`--guards`"
        raise click.UsageError(f"--update needs {needs}")
    warn_of_links(found)
    sources = Sources(found.root, found.given)
    look = look_at(found.root, color, sources=sources)
    with common.effort(settings, given) as means:
        content = read_content(settings.region_comment, found, sources, means.store)
        if guards:
            read = surface_of(settings, content, sources, means)
            if update and isinstance(surface, str):
                return _update((settings.folder / surface).absolute(), read, found.root)
            shown_here = [one for one in read if one.hot.function.path in found.reported]
            return deliver(render.render_guards(shown_here, look, output_format), None)
        judged = judge(settings, found, content, sources, means) if why is None else None
        what = regions_of(settings, content, sources, means)
        is_compiled(settings, found, sources, bool(what.hot), what.idle, means)
        if judged is None:
            return deliver(_evidence(why or "", what, settings, content, sources, means, look), None)
        shown = part(with_programs(what, judged.compiled), found.reported)
        facts = facts_of(content, {hot.function.path for hot in shown.hot}, sources, means)
    if output_format == "json":
        text = render.render_json(shown, facts, look)
    else:
        text = render.render_text(shown, facts, look)
    if not shown.entries and output_format == "text":
        text += f"No compiled code found in {counted(len(found.reported), 'file')}.\n"
    deliver(text, None)
    if judged.errors:
        unread = counted(len(judged.errors), "file")
        click.echo(f"{unread} could not be read; `dynamo-lint check` says why.", err=True)
    return None


def _update(file: Path, surface: Sequence[Read], root: Path) -> None:
    """Write the guarded values to a file, and say so."""
    from dynamo_lint.guards import written

    guards = [one.guarded for one in surface]
    deliver(written(guards, file, root), file)
    click.echo(f"{near(file)}: lists {counted(len(guards), 'value')} that compiled code reads.", err=True)


def _evidence(
    name: str,
    what: Regions,
    settings: Settings,
    content: Content,
    sources: Sources,
    means: Effort,
    look: Look,
) -> str:
    """Why the functions of a name are compiled, or why they are not."""
    from dynamo_lint.regions.why import is_called, why_not
    from dynamo_lint.render import regions as render
    from dynamo_lint.run.resolved import facts_of

    chosen = [hot for hot in what.hot if is_called(hot.function.id, name)]
    if chosen:
        return render.render_why(chosen, sources, look)
    facts = facts_of(content, content.places, sources, means)
    ends = why_not(facts, what, settings.region_options, name)
    if not ends:
        names = {hot.function.id.partition("::")[2] for hot in what.hot}
        guess = closest(name, [*names, *(one.rpartition(".")[2] for one in names)])
        raise Trouble(f"no function is named {name!r}{hint(guess)}")
    return render.render_why_not(ends, look)
