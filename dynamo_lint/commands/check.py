"""`dynamo-lint check`: lint, render, and say by the exit status what was found."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.destinations import Output, complete_format, destinations, read_outputs
from dynamo_lint.commands.help import SectionedCommand, section
from dynamo_lint.config import OUTPUT_FORMATS, Settings
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.levels import CONFIDENCES, OLDER_WORDS, levels_of
from dynamo_lint.terminal import clean, counted, numbered
from dynamo_lint.trouble import EXIT_FINDINGS, Trouble, say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from dynamo_lint.baseline import Baseline
    from dynamo_lint.discovery import Discovered
    from dynamo_lint.older import Older
    from dynamo_lint.patch import Patch
    from dynamo_lint.render.account import Account
    from dynamo_lint.report import Report
    from dynamo_lint.run.inputs import Group
    from dynamo_lint.run.reading import Effort
    from dynamo_lint.run.rewrite import Rewritten
    from dynamo_lint.sources import Sources


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip()) or None


def _complete_codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from dynamo_lint.selectors import completions

    return [CompletionItem(word, help=about) for word, about in completions(incomplete)]


_codes_option: dict[str, Any] = {
    "multiple": True,
    "callback": _codes,
    "shell_complete": _complete_codes,
    "metavar": "CODES",
}
rule_option, fix_option = section("Rules"), section("Fixes")


@click.command(cls=SectionedCommand, short_help="Lint files, notebooks and folders (the default command).")
@common.paths_argument
@rule_option("--select", **_codes_option, help="Report only these rules.")
@rule_option("--ignore", **_codes_option, help="Do not report these rules.")
@rule_option("--pedantic", is_flag=True, default=None, help="Report house-style notes as well.")
@rule_option(
    "--torch-version",
    callback=common.version,
    metavar="X.Y",
    help="The torch you compile with (default: the project's).",
)
@rule_option(
    "--min-confidence",
    type=click.Choice((*CONFIDENCES, *OLDER_WORDS)),
    callback=lambda _context, _option, word: OLDER_WORDS.get(word, word),
    metavar="LEVEL",
    help="Lowest: certain, likely (default), possible.",
)
@common.region_options
@fix_option("--fix", is_flag=True, help="Apply safe fixes, then report the remaining findings.")
@fix_option("--unsafe-fixes", is_flag=True, help="Also apply fixes that can change behaviour.")
@fix_option("--diff", is_flag=True, help="Print what --fix would change; exit 1 if anything.")
@fix_option("--suggestions", is_flag=True, help="With --diff: also the edits that are yours to judge.")
@fix_option("--add-ignore", metavar="REASON", help="Silence what is reported, with this reason.")
@common.status_option(
    "--fail-level",
    type=click.Choice(SEVERITIES),
    metavar="LEVEL",
    help="Lowest to fail: error, warning (default), note.",
)
@common.status_option(
    "--fail-on-nothing-compiled",
    is_flag=True,
    default=None,
    help="Exit 1 if nothing in the project is compiled.",
)
@common.status_option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@common.status_option(
    "--baseline", type=common.FILE, metavar="FILE", help="Report only findings that are not in this file."
)
@common.status_option("--update-baseline", is_flag=True, help="Write all findings to the baseline file.")
@common.status_option("--since", metavar="REV", help="Report only what is new since the branch point.")
@common.status_option(
    "--diff-file",
    type=common.FILE,
    metavar="FILE",
    help="Report only what lines of this patch cause.",
)
@common.file_options
@common.files_option(
    "--stdin-filename", type=common.PATH, metavar="NAME", help="File name of the text on stdin (path `-`)."
)
@common.files_option("--show-files", is_flag=True, help="List the files that would be linted.")
@common.files_option("--show-settings", is_flag=True, help="Print the settings in effect.")
@common.output_option(
    "--output-format",
    "asked",
    multiple=True,
    callback=read_outputs,
    shell_complete=complete_format,
    metavar="FORMAT",
    help="One or more of " + ", ".join(OUTPUT_FORMATS) + "; as FORMAT:FILE into a file.",
)
@common.output_file_option("findings")
@common.output_option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@common.output_option("--context", is_flag=True, help="Also source lines (json and json-lines).")
@common.color_option
@common.effort_options
@common.output_option("-q", "--quiet", is_flag=True, help="Print findings only.")
@common.output_option("-v", "--verbose", is_flag=True, help="Also print the files and settings used.")
def check(
    paths: tuple[Path, ...],
    asked: tuple[Output, ...],
    output_file: Path | None,
    exit_zero: bool,
    statistics: bool,
    context: bool,
    update_baseline: bool,
    stdin_filename: Path | None,
    show_files: bool,
    show_settings: bool,
    color: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    suggestions: bool,
    quiet: bool,
    verbose: bool,
    since: str | None,
    diff_file: Path | None,
    add_ignore: str | None,
    **given: Any,
) -> None:
    """Lint files, notebooks and folders (the default command); `-` is stdin."""
    from dynamo_lint.commands import output
    from dynamo_lint.selectors import catalogue
    from dynamo_lint.sources import Sources

    paths, texts = _standard_input(paths, stdin_filename)
    outputs = destinations(asked, output_file)
    given["output_format"] = outputs[-1].format if outputs else None
    inputs = common.prepare_groups(paths, given, texts)
    groups, settings = inputs.groups, [group.settings for group in inputs.groups]
    outputs = outputs or (Output(inputs.shared.output_format, output_file),)
    rules = catalogue()
    _check_selectors(given, rules)
    if show_files or show_settings:
        text = "".join(f"{clean(p)}\n" for p in sorted({p for one in groups for p in one.found.reported}))
        shown = "\n".join(map(output.configuration_text, settings)) if show_settings else text
        return output.deliver(shown, output_file)
    _check_formats(outputs, statistics, context)
    _tell_before(groups, quiet, verbose)
    if suggestions and not diff:
        raise click.UsageError("--suggestions goes with --diff: no command makes these edits")
    rewrites = fix or diff or update_baseline
    add_ignore = _reason(add_ignore, rewrites, bool(texts))
    patch = _patch(diff_file, rewrites, bool(texts))
    if since is not None and update_baseline:
        raise click.UsageError("--update-baseline writes all findings, and --since leaves out older ones")
    names_baseline = given["baseline"] is not None
    accepted = [_baseline(one, update_baseline, names_baseline) for one in settings]
    sources = Sources(groups[0].found.root, groups[0].found.given)
    with ExitStack() as stack:
        progress = stack.enter_context(output.Progress(not quiet))
        runs = []
        for group, baseline in zip(groups, accepted, strict=True):
            means = stack.enter_context(common.effort(group.settings, given, progress, quiet))
            older = _older(since, group, rules, sources, means)
            runs.append(_Run(group.settings, group.found, rules, baseline, means, older, patch))
        if fix or diff:
            done = _rewritten(
                runs, sources, lambda run, files: run.rewritten(files, unsafe_fixes, diff, suggestions)
            )
            if diff:
                return _show(done, sources, output_file, quiet, exit_zero)
            if texts:
                return _pass_on(done, sources, quiet, exit_zero)
            _put_in_place(done, groups, sources)
        elif add_ignore is not None:
            done = _rewritten(runs, sources, lambda run, files: run.silenced(add_ignore, files))
            _put_in_place(done, groups, sources, "silenced")
        if fix or add_ignore is not None:
            sources = Sources(sources.root, sources.overlay)
        if update_baseline:
            for sentence in _accept(runs, sources, names_baseline):
                if not quiet:
                    say(sentence)
            return None
        report = _told(runs, sources)
        account = _account(runs, report, sources, outputs)
    for one in outputs:
        output.present(report, sources, settings, color, one, statistics, context, account)
    if not quiet:
        output.conclude(report, settings, color, outputs[-1])
    if report.lacks_entries:
        say("dynamo-lint: nothing in the project is compiled, and fail-on-nothing-compiled is set")
    if report.fails and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)
    return None


def _account(
    runs: Sequence[_Run], report: Report, sources: Sources, outputs: Sequence[Output]
) -> Account | None:
    """The state that compiled code reads, with the findings about it: what a page shows beside these."""
    if not report.compiled.functions or not any(one.format == "html" for one in outputs):
        return None
    from dynamo_lint.render.account import joined
    from dynamo_lint.run.resolved import reported_account

    rows = [
        one for run in runs for one in reported_account(run.settings, run.found, sources.watched(), run.means)
    ]
    return joined(rows, report.findings)


def _check_formats(outputs: Sequence[Output], statistics: bool, context: bool) -> None:
    """Refuse options that no format asked for can show."""
    from dynamo_lint.commands import output

    formats = {destination.format for destination in outputs}
    if statistics and not formats <= {*output.FOR_PEOPLE}:
        raise click.UsageError("--statistics works with the formats full, concise and grouped only")
    if context and not formats & {*output.WITH_CONTEXT}:
        raise click.UsageError("--context works with the formats json and json-lines only")


def _tell_before(groups: Sequence[Group], quiet: bool, verbose: bool) -> None:
    """Say what there is to say before a run."""
    from dynamo_lint.commands import output

    for group in groups:
        common.check_places(group.settings)
        if verbose:
            output.explain(group.settings, group.found)
        if not quiet:
            output.warn_of_version(group.settings)
    if not quiet:
        output.warn_of_links((group.found for group in groups), verbose)


@dataclass(frozen=True, slots=True)
class _Run:
    """The subject and the means of a run: the same for each look at the files."""

    settings: Settings
    found: Discovered
    rules: Mapping[str, str]
    accepted: Baseline | None
    means: Effort
    older: Older | None
    patch: Patch | None

    def linted(self, sources: Sources) -> Report:
        """The report on the files as they are in `sources`."""
        from dynamo_lint.run.check import check as run_check

        return run_check(
            self.settings, self.found, self.rules, sources, self.accepted, self.means, self.older
        )

    def on_patch(self, report: Report, sources: Sources) -> Report:
        """The part of a report that a patch has to do with, if there is one."""
        if self.patch is None:
            return report
        from dynamo_lint.commands.output import repository
        from dynamo_lint.run.changed import on_changed_lines

        return on_changed_lines(report, self.patch, (repository(report.root), Path.cwd()), sources)

    def told(self, sources: Sources) -> Report:
        """The report as it is shown."""
        return self.on_patch(self.with_promises(self.linted(sources), sources), sources)

    def rewritten(self, sources: Sources, unsafe: bool, promises: bool, suggestions: bool) -> Rewritten:
        """The files with their fixes, and what is left in those reported on; with `promises` as shown."""
        from dynamo_lint.run.rewrite import rewrite, with_suggestions
        from dynamo_lint.sources import Sources

        done = rewrite(
            *(self.settings, self.found, self.rules, sources), unsafe, self.accepted, self.means, self.older
        )
        left = tuple(one for one in done.report.findings if one.span.path in self.found.reported)
        report = replace(done.report, findings=left)
        fixed = Sources(sources.root, {**sources.overlay, **done.files})
        if promises:
            report = self.with_promises(report, fixed)
        done = replace(done, report=report)
        return with_suggestions(done, self.found, fixed) if suggestions else done

    def with_promises(self, report: Report, sources: Sources) -> Report:
        """The report with each fix as `--fix` would make it."""
        if not any(one.is_fixable for one in report.findings):
            return report
        from dynamo_lint.run.rewrite import promised

        return promised(
            report, self.settings, self.found, self.rules, sources, self.accepted, self.means, self.older
        )

    def silenced(self, reason: str, sources: Sources) -> Rewritten:
        """The files with a comment for each finding that is reported."""
        from dynamo_lint.run.ignore import silence
        from dynamo_lint.sources import Sources

        def lint(files: Mapping[str, bytes]) -> Report:
            texts = Sources(sources.root, {**sources.overlay, **files})
            return self.on_patch(self.linted(texts), texts)

        report = self.on_patch(self.linted(sources), sources)
        return silence(reason, report, self.found, sources, lint)


def _told(runs: Sequence[_Run], sources: Sources) -> Report:
    """The report of all groups."""
    from dynamo_lint.run.join import joined_report

    reports = [run.told(sources.watched()) for run in runs]
    return joined_report(reports, [run.found for run in runs])


def _rewritten(
    runs: Sequence[_Run], sources: Sources, rewrite: Callable[[_Run, Sources], Rewritten]
) -> Rewritten:
    """The files of all groups, each rewritten as those before have left them."""
    from dynamo_lint.run.join import joined_report, joined_rewrites
    from dynamo_lint.sources import Sources

    rewrites: list[Rewritten] = []
    overlay = dict(sources.overlay)
    for run in runs:
        rewrites.append(rewrite(run, Sources(sources.root, overlay)))
        overlay |= rewrites[-1].files
    report = joined_report([done.report for done in rewrites], [run.found for run in runs])
    return joined_rewrites(rewrites, report)


def _standard_input(paths: tuple[Path, ...], name: Path | None) -> tuple[tuple[Path, ...], dict[Path, bytes]]:
    """The paths to lint and what to take for the content of some of them."""
    from dynamo_lint.discovery import NAMELESS

    if common.STDIN not in paths:
        if name is not None:
            raise click.UsageError("--stdin-filename needs `-` as the path: it names the text on stdin")
        return paths, {}
    if len(paths) > 1:
        raise click.UsageError(
            "`-` (stdin) cannot be combined with other paths; name its file with --stdin-filename"
        )
    path = name or NAMELESS
    return (path,), {path: sys.stdin.buffer.read() if sys.stdin is not None else b""}


def _check_selectors(given: dict[str, Any], rules: dict[str, str]) -> None:
    """Refuse selectors of the command line that name no rule."""
    from dynamo_lint.selectors import UnknownSelector, enabled

    key = "select"
    try:
        enabled(given["select"] or (), (), False, rules)
        key = "ignore"
        enabled((), given["ignore"] or (), False, rules)
    except UnknownSelector as error:
        raise Trouble(f"--{key}: {error}") from None


def _baseline(settings: Settings, update: bool, named: bool) -> Baseline | None:
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


def _older(
    revision: str | None, group: Group, catalogue: Mapping[str, str], sources: Sources, means: Effort
) -> Older | None:
    """The findings that were there before, if a revision says what that means."""
    if revision is None:
        return None
    from dynamo_lint.run.since import older_findings  # late: it starts git, which no other run does

    return older_findings(revision, group.settings, group.found, catalogue, sources, means)


def _patch(file: Path | None, rewrites: bool, is_read: bool) -> Patch | None:
    """The patch on whose lines findings are wanted, from a file or from stdin."""
    if file is None:
        return None
    if rewrites:
        raise click.UsageError(
            "--diff-file says what is shown; it goes with no --fix, --diff or --update-baseline"
        )
    from dynamo_lint.patch import read

    if file != common.STDIN:
        return read(file)
    if is_read:
        raise click.UsageError("stdin cannot be both the code and the patch; name a file with --diff-file")
    return read(Path("<stdin>"), sys.stdin.buffer.read() if sys.stdin is not None else b"")


def _reason(text: str | None, rewrites: bool, is_read: bool) -> str | None:
    """The reason that comments are to give, if any are to be written."""
    if text is None:
        return None
    if rewrites:
        raise click.UsageError(
            "--add-ignore goes with no --fix, --diff or --update-baseline; run one after the other"
        )
    if is_read:
        raise click.UsageError("--add-ignore changes files, and stdin is none; name the file")
    from dynamo_lint.run.ignore import check_reason

    return check_reason(text)


def _accept(runs: Sequence[_Run], sources: Sources, named: bool) -> list[str]:
    """Replace the baselines by what was found; returns what to tell people."""
    from dynamo_lint.baseline import updated
    from dynamo_lint.commands import output

    counts: Counter[Path] = Counter()
    for run in runs:
        report = replace(run, accepted=None).linted(sources.watched())
        baseline = _baseline(run.settings, True, named)  # again: several groups may share it
        if baseline is not None:
            level = levels_of(run.settings.policy, run.rules, sources.root)
            text = updated(baseline, report.findings, sources.root, run.found.reported, level)
            output.deliver(text, baseline.file)
            counts[baseline.file] += len(report.findings)
    return [
        f"{output.near(file)}: accepts {counted(count, 'finding')} from now on."
        for file, count in counts.items()
    ]


def _show(done: Rewritten, sources: Sources, file: Path | None, quiet: bool, exit_zero: bool) -> None:
    """Print the changes as a patch, with paths as seen from the current folder."""
    from dynamo_lint.commands.output import deliver
    from dynamo_lint.run.write import diff

    deliver(diff(done, {path: _from_here(sources.root / path) for path in done.files}), file)
    if not quiet:
        _say_refused(done, sources)
        what = f"{counted(len(done.applied), 'finding')} in {counted(len(done.files), 'file')}"
        more = sum(one.is_fixable for one in done.report.findings)
        others = f" {more} fixable with `--unsafe-fixes`." if more else ""
        told = f"Would fix {what}." if done.applied or not done.suggested else ""
        if done.suggested:
            told += f" Shown, and yours to judge: {counted(len(done.suggested), 'suggested edit')}."
        click.echo((told.strip() if done.files else "Nothing would change.") + others, err=True)
    if done.files and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _pass_on(done: Rewritten, sources: Sources, quiet: bool, exit_zero: bool) -> None:
    """Text from stdin goes to stdout, fixed: what an editor asks for; the status is that of what is left."""
    from dynamo_lint.commands.output import to_stdout

    for path, text in sources.overlay.items():
        to_stdout(done.files.get(path, text))
    if not quiet:
        _say_refused(done, sources)
        if done.report.findings:
            say(f"{counted(len(done.report.findings), 'finding')} left")
    if done.report.fails and not exit_zero:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _put_in_place(done: Rewritten, groups: Sequence[Group], sources: Sources, did: str = "fixed") -> None:
    """Write the files, and say what was done, one line each."""
    from dynamo_lint.run.write import tidy, write

    tidy(sources.root, {path for group in groups for path in group.found.files})
    left = write(sources.root, done)
    written = [path for path in done.files if path not in left]
    fixed = [one for one in done.applied if one.fix and {e.span.path for e in one.fix.edits}.isdisjoint(left)]
    for path, why in sorted(left.items()):
        say(f"{_from_here(sources.root / path)} was not changed: {why}")
    _say_refused(done, sources, did)
    if written:
        click.echo(
            f"{did.capitalize()} {counted(len(fixed), 'finding')} in {counted(len(written), 'file')}.",
            err=True,
        )


def _say_refused(done: Rewritten, sources: Sources, did: str = "fixed") -> None:
    """Say of each change that was tried and not made why, one line each."""
    for finding, why in done.refused:
        path, line = finding.span.path, finding.span.line
        place = f"{_from_here(sources.root / path)}:{numbered(sources.cell(path, line), line)}"
        say(f"{place} {finding.code} was not {did}: {why}")


def _from_here(path: Path) -> str:
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:
        return path.as_posix()
