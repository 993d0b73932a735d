"""`dynamo-lint regions`: what is compiled, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand
from dynamo_lint.commands.output import deliver, look_at, near, warn_of_links
from dynamo_lint.dataclass import dataclass
from dynamo_lint.selectors import closest, hint
from dynamo_lint.terminal import counted
from dynamo_lint.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dynamo_lint.findings import Finding
    from dynamo_lint.index.ir import FileFacts
    from dynamo_lint.interpreter.account import Accounted
    from dynamo_lint.regions.model import CompiledFunction, Regions
    from dynamo_lint.run.inputs import Group
    from dynamo_lint.sources import Sources
    from dynamo_lint.state.guard_surface import GuardedRead
    from dynamo_lint.terminal import Look


@click.command(cls=SectionedCommand)
@common.paths_argument
@common.region_options
@common.file_options
@common.output_option("--why", metavar="NAME", help="Print why a function is compiled, or why it is not.")
@common.output_option("--guards", is_flag=True, help="Print the Python values that it reads.")
@common.output_option("--update", is_flag=True, help="Write them to the contract's `guard-surface`.")
@common.output_option("--state", is_flag=True, help="Print which of them change between calls.")
@common.output_format_option("text", "json", "html", metavar=None)
@common.color_option
@common.effort_options
def regions(
    paths: tuple[Path, ...],
    why: str | None,
    guards: bool,
    update: bool,
    state: bool,
    output_format: str,
    color: str,
    **given: Any,
) -> None:
    """Show what is compiled, and why."""
    from dynamo_lint.regions.model import joined
    from dynamo_lint.render import regions as render
    from dynamo_lint.sources import Sources

    if output_format == "html" and not state:
        raise click.UsageError("regions has a page of its state only: add --state")
    groups = common.prepare_groups(paths, given).groups
    first = groups[0]
    surface = first.settings.contract.guard_surface
    if update and len(groups) > 1:
        raise click.UsageError("--update writes the file of one configuration: name the paths of one")
    if update and not (guards and isinstance(surface, str)):
        needs = "`guard-surface` in the contract, the file to write" if guards else "`--guards`"
        raise click.UsageError(f"--update needs {needs}")
    warn_of_links(group.found for group in groups)
    sources = Sources(first.found.root, first.found.given)
    look = look_at(first.found.root, color, sources=sources)
    if guards:
        read = [(group, _guards(group, sources.watched(), given)) for group in groups]
        if update and isinstance(surface, str):
            return _update((first.settings.folder / surface).absolute(), read[0][1], first.found.root)
        shown_here = [
            one for group, some in read for one in some if one.hot.function.path in group.found.reported
        ]
        return deliver(render.render_guards(shown_here, look, output_format), None)
    if state:
        return deliver(_state(groups, sources, given, look, output_format), None)
    if why is not None:
        return deliver(_evidence(why, groups, sources, given, look), None)
    parts = [_part(group, sources.watched(), given) for group in groups]
    shown = joined([one.regions for one in parts])
    facts = {path: file for one in parts for path, file in one.facts.items()}
    if output_format == "json":
        text = render.render_json(shown, facts, look)
    else:
        text = render.render_text(shown, facts, look)
    if not shown.entries and output_format == "text":
        count = sum(len(group.found.reported) for group in groups)
        text += f"No compiled code found in {counted(count, 'file')}.\n"
    deliver(text, None)
    if errors := sum(one.errors for one in parts):
        click.echo(f"{counted(errors, 'file')} could not be read; `dynamo-lint check` says why.", err=True)
    return None


@dataclass(frozen=True, slots=True)
class _Part:
    """The compiled code of one group, the facts of its files, and how many files could not be read."""

    regions: Regions
    facts: Mapping[str, FileFacts]
    errors: int


def _part(group: Group, sources: Sources, given: dict[str, Any]) -> _Part:
    from dynamo_lint.regions.model import part
    from dynamo_lint.run.declared import is_compiled
    from dynamo_lint.run.judge import judge
    from dynamo_lint.run.reading import read_content
    from dynamo_lint.run.resolved import facts_of, regions_of, with_programs

    settings, found = group.settings, group.found
    with common.effort(settings, given) as means:
        content = read_content(settings.region_comment, found, sources, means.store)
        judged = judge(settings, found, content, sources, means)
        what = regions_of(settings, content, sources, means)
        is_compiled(settings, found, sources, bool(what.hot), what.idle, means)
        shown = part(with_programs(what, judged.compiled), found.reported)
        facts = facts_of(content, {hot.function.path for hot in shown.hot}, sources, means)
    return _Part(shown, facts, len(judged.errors))


def _guards(group: Group, sources: Sources, given: dict[str, Any]) -> Sequence[GuardedRead]:
    """The Python values that the compiled code of a group reads."""
    from dynamo_lint.run.reading import read_content
    from dynamo_lint.run.resolved import surface_of

    with common.effort(group.settings, given) as means:
        content = read_content(group.settings.region_comment, group.found, sources, means.store)
        return surface_of(group.settings, content, sources, means)


def _state(
    groups: Sequence[Group], sources: Sources, given: dict[str, Any], look: Look, output_format: str
) -> str:
    """The account of the state that compiled code reads, with what `check` finds about it."""
    from dynamo_lint.render import state as render
    from dynamo_lint.render.account import joined
    from dynamo_lint.run.check import check
    from dynamo_lint.run.resolved import reported_account
    from dynamo_lint.selectors import catalogue

    rows: list[Accounted] = []
    findings: list[Finding] = []
    for settings, found in ((group.settings, group.found) for group in groups):
        texts = sources.watched()
        with common.effort(settings, given) as means:
            rows += reported_account(settings, found, texts, means)
            findings += check(settings, found, catalogue(), texts, effort=means).findings
    made = joined(rows, findings)
    if output_format == "html":
        from dynamo_lint.render.html.state import page_of

        return page_of(made, look)
    return render.document(made) if output_format == "json" else render.text(made, look)


def _update(file: Path, surface: Sequence[GuardedRead], root: Path) -> None:
    """Write the guarded values to a file, and say so."""
    from dynamo_lint.guards import written

    guards = [one.guarded for one in surface]
    deliver(written(guards, file, root), file)
    click.echo(f"{near(file)}: lists {counted(len(guards), 'value')} that compiled code reads.", err=True)


def _evidence(name: str, groups: Sequence[Group], sources: Sources, given: dict[str, Any], look: Look) -> str:
    """Why the functions of a name are compiled in any group, or else why they are not."""
    from dynamo_lint.regions.why import is_called, why_not
    from dynamo_lint.render import regions as render
    from dynamo_lint.run.declared import is_compiled
    from dynamo_lint.run.reading import read_content
    from dynamo_lint.run.resolved import facts_of, regions_of

    chosen: dict[object, CompiledFunction] = {}
    ends: dict[str, Sequence[str]] = {}
    names: set[str] = set()
    for settings, found in ((group.settings, group.found) for group in groups):
        texts = sources.watched()
        with common.effort(settings, given) as means:
            content = read_content(settings.region_comment, found, texts, means.store)
            what = regions_of(settings, content, texts, means)
            is_compiled(settings, found, texts, bool(what.hot), what.idle, means)
            ways = [hot for hot in what.hot if is_called(hot.function.id, name)]
            chosen |= {(hot.function, hot.receiver, hot.chain): hot for hot in ways}
            names.update(hot.function.id.partition("::")[2] for hot in what.hot)
            if not chosen:
                facts = facts_of(content, content.places, texts, means)
                ends |= why_not(facts, what, settings.region_options, name)
    if chosen:
        return render.render_why(chosen.values(), sources, look)
    if not ends:
        guess = closest(name, [*names, *(one.rpartition(".")[2] for one in names)])
        raise Trouble(f"no function is named {name!r}{hint(guess)}")
    return render.render_why_not(ends, look)
