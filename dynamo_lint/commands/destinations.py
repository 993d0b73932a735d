"""The formats of a run and where each goes: `--output-format sarif:out.sarif --output-format github`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from dynamo_lint.config import OUTPUT_FORMATS
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.selectors import closest, hint


@dataclass(frozen=True, slots=True)
class Output:
    """A format, and where the findings go in it."""

    format: str
    file: Path | None = None
    """None is stdout."""


def read_outputs(
    _context: click.Context, _option: click.Parameter, words: Sequence[str]
) -> tuple[Output, ...]:
    """The outputs that an option names, each as `FORMAT` or `FORMAT:FILE`."""
    return tuple(map(_read, words))


def _read(word: str) -> Output:
    """One of them; the file may hold colons."""
    name, colon, file = word.partition(":")
    if name not in OUTPUT_FORMATS:
        guess = hint(closest(name, OUTPUT_FORMATS))
        raise click.BadParameter(f"{name!r} is not one of {', '.join(OUTPUT_FORMATS)}{guess}")
    if colon and not file:
        raise click.BadParameter(f"{word!r} names no file; write {name}:FILE, or {name} for stdout")
    return Output(name, Path(file) if file and file != "-" else None)


def complete_format(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """The formats that begin so."""
    return [word for word in OUTPUT_FORMATS if word.startswith(incomplete)]


def destinations(asked: Sequence[Output], file: Path | None) -> tuple[Output, ...]:
    """All outputs of a run, each with its place, the one for stdout or for `file` last.

    Of several without a file of their own the last counts.
    """
    placed = [one for one in asked if one.file is not None]
    loose = [one for one in asked if one.file is None]
    if file is not None and placed and not loose:
        raise click.UsageError(f"every --output-format has a file, so {file} would get nothing; leave out -o")
    if loose:
        placed.append(replace(loose[-1], file=file))
    places = [os.path.abspath(one.file) for one in placed if one.file is not None]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise click.UsageError(f"{placed[number].file} is named for two outputs; give each its own file")
    return tuple(placed)
