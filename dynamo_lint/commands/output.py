"""All that commands print and write: results, progress, settings; a file is never left half written."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click

from dynamo_lint import files
from dynamo_lint.commands.destinations import Output
from dynamo_lint.config import KEYS, TORCH_VERSIONS, Settings, place_of
from dynamo_lint.contract import Contract
from dynamo_lint.discovery import Discovered
from dynamo_lint.levels import CONFIDENCES, PRESETS, Override
from dynamo_lint.raw_values import dotted
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, clean, look_on, no_cell
from dynamo_lint.trouble import ReaderLeft, Trouble, say

if TYPE_CHECKING:
    from dynamo_lint.render.account import Account

FOR_PEOPLE = ("full", "concise", "grouped")
"""The formats that have colours, and counts instead of findings on request."""
WITH_CONTEXT = ("json", "json-lines")
"""The formats that have the source lines of a finding on request."""

PATIENCE = 1.0
"""Seconds before the line appears; a run that ends sooner never shows it."""

PAUSE = 0.1
"""Seconds between two updates."""

_FEW = 3
"""Names in a line of a run that is not asked to be verbose."""


def look_at(
    root: Path,
    color: str,
    file: Path | None = None,
    to_stderr: bool = False,
    sources: Sources | None = None,
) -> Look:
    """How to print paths below the linted root; in a file there is colour only by order.

    `sources` know the cells of the notebooks among them.
    """
    look = look_on(color, to_stderr)
    colour = look.colour and (file is None or color == "always")
    cell = no_cell if sources is None else sources.cell
    return replace(look, colour=colour, root=root, cwd=Path.cwd(), cell=cell)


def present(
    report: Report,
    sources: Sources,
    settings: Sequence[Settings],
    color: str,
    output: Output,
    statistics: bool = False,
    context: bool = False,
    account: Account | None = None,
) -> None:
    """Print the findings, or their counts, or write them to a file."""
    from dynamo_lint.render import formats

    look = look_at(report.root, color, output.file, sources=sources)
    least = min((one.least_confidence for one in settings), key=CONFIDENCES.index)
    view = formats.View(look, sources, repository(report.root), least, context, account)
    name = "statistics" if statistics else output.format
    deliver(formats.render(name, report, view), output.file)
    if output.format == "github":
        from dynamo_lint.render.services import overflow

        to_step_summary(overflow(report, view))


def conclude(report: Report, settings: Sequence[Settings], color: str, output: Output) -> None:
    """Say what was found, and what to do next: behind findings for people on stdout, else on stderr."""
    from dynamo_lint.render.text import summary

    aside = output.format not in FOR_PEOPLE
    gap = "\n" if report.findings and output.format != "concise" and output.file is None else ""
    look = look_at(report.root, color, to_stderr=aside)
    told = summary(report, look, assumed=any(one.assume != "none" for one in settings))
    if any(one.torch_from for one in settings) and report.compiled.functions:
        told += look.line(clean(f"Judged as {', '.join(dict.fromkeys(map(_torch, settings)))}.")) + "\n"
    if aside:
        click.echo(told, nl=False, err=True, color=True)
    else:
        to_stdout(gap + told)


def _torch(settings: Settings) -> str:
    """The version that a group was judged as, and where it comes from."""
    version = ".".join(map(str, settings.torch_version))
    return f"torch {version} ({settings.torch_from or origin(settings, 'torch-version')})"


def deliver(text: str | bytes, file: Path | None, to_stderr: bool = False) -> None:
    """Write to a stream, or to a file that is either replaced as a whole or left as it was."""
    if file is None:
        to_stdout(text, instead=to_stderr)
        return
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        if _leads_out(file):
            raise Trouble(f"{file}: cannot be written: a link leads out of the project; name the file itself")
        if _is_stream(file):
            # As it was named: what `/dev/stdout` stands for has no other name.
            with open(os.open(file, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                stream.write(data)
            return
        target = Path(os.path.realpath(file))
        files.remove_leftovers(target.parent)
        handle, draft = files.create_beside(target)
        try:
            with open(handle, "wb") as stream:
                stream.write(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise Trouble(f"{file}: cannot be written: {error.strerror}") from None


def _is_stream(file: Path) -> bool:
    """Whether this cannot be replaced: a device, a pipe, or what the system calls by a number."""
    return (file.exists() and not file.is_file()) or _absolute(file).parts[1:2] in (("dev",), ("proc",))


def _leads_out(file: Path) -> bool:
    """Whether a link, which may have come with the checkout, leads to another place than was named."""
    named, here = _absolute(file), Path.cwd()
    if named.is_relative_to(here):
        return not files.inside(named, [os.path.realpath(here), files.around(here)])
    return (
        named.is_symlink() and not _is_stream(named) and not files.inside(named, [files.around(named.parent)])
    )


def _absolute(file: Path) -> Path:
    return Path(os.path.normpath(file.absolute()))


def to_stdout(text: str | bytes, instead: bool = False) -> None:
    """Write to stdout, or to stderr instead; bytes are passed on as they are."""
    try:
        click.echo(text, nl=False, err=instead, color=True)
    except BrokenPipeError:
        raise ReaderLeft from None
    except OSError as error:
        raise Trouble(f"the output cannot be written: {error.strerror}") from None


def repository(root: Path) -> Path:
    """The folder that CI services count paths from: the checkout around `root`, or `root` itself."""
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        if (checkout := os.environ.get(name)) and root.is_relative_to(checkout):
            return Path(checkout)
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)


def to_step_summary(text: str) -> None:
    """Append Markdown to the summary page of a GitHub Actions step; outside of one there is none."""
    if not text or not (page := os.environ.get("GITHUB_STEP_SUMMARY")):
        return
    try:
        with Path(page).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(text)
    except OSError as error:
        click.echo(f"dynamo-lint: the step summary cannot be written: {error.strerror}", err=True)


class Progress:
    """A line for people who wait, on a terminal only.

    Call it with files done and files in all; as a context manager it wipes its line at the end.
    """

    def __init__(
        self, wanted: bool = True, text: str = "reading {done} of {total} files", unit: int = 1
    ) -> None:
        # Python has no stream at all where the caller closed it.
        self._stream = sys.stderr if wanted and sys.stderr is not None and sys.stderr.isatty() else None
        self._next = time.monotonic() + PATIENCE
        self._shown = False
        self._text, self._unit = text, unit

    def __call__(self, done: int, total: int) -> None:
        """Show how far the run is, if it is time to."""
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        self._next = now + PAUSE
        self._shown = True
        told = self._text.format(done=done // self._unit, total=total // self._unit or "?")
        self._stream.write(f"\r\x1b[K{told}" if done != total else "\r\x1b[Kchecking")
        self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def configuration_text(settings: Settings) -> str:
    """The settings as a configuration file would give them; what is not set is commented out."""
    lines = [f"# {settings.source or 'no configuration file: defaults'}"]
    for key in KEYS:
        value = getattr(settings, key.replace("-", "_"))
        shown = f"# {key} is not set" if value is None else f"{key} = {toml(key, value)}"
        lines.append(f"{shown}  # {origin(settings, key)}")
    if settings.preset is not None:
        severity = toml("severity", PRESETS[settings.preset].severity)
        lines.append(f"# severity of the preset, where nothing above says otherwise: {severity}")
    return "".join(f"{clean(line)}\n" for line in lines)


def origin(settings: Settings, key: str) -> str:
    """Where a setting comes from."""
    if key in settings.given:
        return "command line"
    if (key,) in settings.places:
        return place_of(Path(near(settings.places[key,])), key)
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
        say(f"skipped, too large: {path}")


def warn_of_links(groups: Iterable[Discovered], all_of_them: bool = False) -> None:
    """Say which links were passed over: somebody may have counted on them."""
    outside = sorted({path for found in groups for path in found.outside})
    if not outside:
        return
    names = [clean(name) for name in (outside if all_of_them else outside[:_FEW])]
    if left := len(outside) - len(names):
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
