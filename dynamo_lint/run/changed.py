"""The findings that a change has to do with, for `check --diff-file`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dynamo_lint.findings import Finding
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.patch import Patch
from dynamo_lint.report import Change, Report
from dynamo_lint.sources import Sources

UNREADABLE = "DYN901"


def on_changed_lines(report: Report, patch: Patch, tops: tuple[Path, ...], sources: Sources) -> Report:
    """The report with those findings alone that have their line, or one of their chain, on a new line.

    A file of the patch that cannot be read is told all the same: nothing else would be found in it.
    """
    named = {step.path for finding in report.findings for step in finding.chain}
    named.update(finding.span.path for finding in report.findings)
    lines = patch.of(report.root, tops, tuple(named))

    def concerned(finding: Finding) -> bool:
        if finding.code == UNREADABLE and finding.span.path in lines:
            return True
        span = finding.span
        places = [(span.path, line) for line in range(span.line, span.end_line + 1)]
        places += [(step.path, step.line) for step in finding.chain]
        return any(_is_new(path, line, lines, sources) for path, line in places)

    shown = tuple(filter(concerned, report.findings))
    change = Change(patch.name, len(report.findings) - len(shown))
    return replace(report, findings=shown, change=change)


def _is_new(path: str, line: int, lines: Mapping[str, frozenset[int]], sources: Sources) -> bool:
    new = lines.get(path, frozenset())
    if new and is_notebook(path):
        line = sources.notebook(path).line_of_json(line)
    return line in new
