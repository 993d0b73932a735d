"""The pipeline as the server asks it: a verdict on a folder with its unsaved texts, and what is built on it.

These functions run in the thread of the analysis, one at a time: each changes the working directory, from
which paths are counted as on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from dynamo_lint import baseline
from dynamo_lint.cache.place import open_store
from dynamo_lint.config import Settings
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import Finding
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.regions.model import Regions, part
from dynamo_lint.render.regions import regions_object
from dynamo_lint.report import Report
from dynamo_lint.run.check import check
from dynamo_lint.run.inputs import Choices, read_inputs
from dynamo_lint.run.reading import Effort, Progress, read_content
from dynamo_lint.run.resolved import facts_of, regions_of, with_programs
from dynamo_lint.run.rewrite import Rewritten, promised, rewrite
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look


@dataclass(frozen=True, slots=True)
class Question:
    """A folder to judge, or a file that is in none, with all texts that are not saved."""

    folder: Path
    path: Path
    """The folder, or the file."""
    texts: Mapping[Path, bytes]
    cached: bool = True
    """The cache of the user is read and written."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer, with all that it was made from."""

    question: Question
    settings: Settings
    found: Discovered
    sources: Sources = field(repr=False)
    report: Report = field(repr=False)


@dataclass(frozen=True, slots=True)
class CompiledLine:
    """A function that is compiled, and by which entry."""

    path: str
    line: int
    entry: tuple[str, int]
    """File and line."""
    entries: int
    """How many entries compile it."""
    confidence: str
    guards: int = 0
    """How many values it reads that Dynamo guards on."""


def judge(question: Question, progress: Progress | None = None) -> Judgement:
    """The verdict on all that a question names, as `check` gives it; raises what that raises."""
    os.chdir(question.folder)
    settings, found = read_inputs(_named(question), question.texts, Choices())
    sources = Sources(found.root, found.given)
    with _effort(question, settings, progress) as effort:
        report = check(settings, found, catalogue(), sources, _accepted(settings), effort)
    return Judgement(question, settings, found, sources, report)


def with_promised_fixes(judgement: Judgement, progress: Progress | None = None) -> tuple[Finding, ...]:
    """The findings, with the fixes as they can be made: each is tried in memory."""
    if not any(finding.is_fixable for finding in judgement.report.findings):
        return judgement.report.findings
    with _effort(judgement.question, judgement.settings, progress) as effort:
        settings, found, sources = judgement.settings, judgement.found, judgement.sources
        accepted = _accepted(settings)
        return promised(judgement.report, settings, found, catalogue(), sources, accepted, effort).findings


def with_safe_fixes(judgement: Judgement, path: str, progress: Progress | None = None) -> Rewritten:
    """The files as all safe fixes for the findings in one file leave them; nothing is written."""
    with _effort(judgement.question, judgement.settings, progress) as effort:
        found = replace(judgement.found, reported=frozenset({path}))
        accepted = _accepted(judgement.settings)
        return rewrite(judgement.settings, found, catalogue(), judgement.sources, False, accepted, effort)


def compiled_lines(judgement: Judgement, progress: Progress | None = None) -> tuple[CompiledLine, ...]:
    """The compiled functions of all files, each with the entry that its chain starts at."""
    regions, facts = _regions(judgement, progress)
    lines = {
        (path, key): function.line for path, file in facts.items() for key, function in file.functions.items()
    }
    return tuple(_compiled_lines(regions, lines, judgement.report.compiled.reads))


def regions_document(judgement: Judgement, progress: Progress | None = None) -> dict[str, Any]:
    """The document that `dynamo-lint regions --output-format json` prints."""
    regions, facts = _regions(judgement, progress)
    shown = part(with_programs(regions, judgement.report.compiled), judgement.found.reported)
    return regions_object(shown, facts, Look(cell=judgement.sources.cell))


def _regions(judgement: Judgement, progress: Progress | None) -> tuple[Regions, Mapping[str, FileFacts]]:
    """The regions, and the facts of the files with compiled functions."""
    settings, found, sources = judgement.settings, judgement.found, judgement.sources
    with _effort(judgement.question, settings, progress) as effort:
        content = read_content(settings.region_comment, found, sources, effort.store)
        regions = regions_of(settings, content, sources, effort)
        return regions, facts_of(content, {one.function.path for one in regions.hot}, sources, effort)


def _compiled_lines(
    regions: Regions, lines: Mapping[tuple[str, str], int], reads: Mapping[tuple[str, str], int]
) -> Iterator[CompiledLine]:
    """One for each function that has a line, with the best proof that it is compiled."""
    ways = sorted(regions.hot, key=lambda way: (way.function, way.confidence, len(way.chain)))
    entries: dict[tuple[str, str], set[int]] = {}
    for way in ways:
        entries.setdefault((way.function.path, way.function.key), set()).update(way.entries)
    for way in ways:
        place = way.function.path, way.function.key
        if place in entries and place in lines:
            entry = regions.entries[way.entries[0]]
            count = len(entries.pop(place))
            word = way.confidence.word
            where = entry.path, entry.line
            yield CompiledLine(place[0], lines[place], where, count, word, reads.get(place, 0))


def _named(question: Question) -> tuple[Path, ...]:
    """The path, and with a folder the new files in it, which are not on the disk yet."""
    if question.path != question.folder:
        return (question.path,)
    new = (path for path in question.texts if path.is_relative_to(question.folder) and not path.exists())
    return (question.folder, *new)


def _accepted(settings: Settings) -> baseline.Baseline | None:
    return None if settings.baseline is None else baseline.read(settings.baseline)


@contextmanager
def _effort(question: Question, settings: Settings, progress: Progress | None) -> Iterator[Effort]:
    """The cache, in one process: a server with threads must not fork."""
    os.chdir(question.folder)
    store = open_store(settings.folder, None, lambda _: None) if question.cached else None
    try:
        yield Effort(
            store, 1, progress, go_on=(lambda: None) if progress is None else partial(progress, 1, 1)
        )
    finally:
        if store is not None:
            store.close()
