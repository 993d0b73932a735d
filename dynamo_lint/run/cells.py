"""Sentences that name lines of a notebook, told by its cells: nobody sees the lines of the whole module."""

from __future__ import annotations

import re
from dataclasses import replace

from dynamo_lint.findings import FileError, Finding
from dynamo_lint.index.notebooks import ENDING, is_notebook
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import numbered

_LINE = re.compile(rf"(?P<path>[^\s`'\"(]+{re.escape(ENDING)}):(?P<line>\d+)|\bline (?P<own>\d+)")
"""`train.ipynb:12`, or `line 12` of the file that is being spoken of."""


def told_by_cells(finding: Finding, sources: Sources) -> Finding:
    """The finding, with cells in its sentences."""
    path = finding.span.path

    def told(text: str) -> str:
        return _told(text, path, sources)

    return replace(
        finding,
        message=told(finding.message),
        cost=told(finding.cost),
        fix=finding.fix and replace(finding.fix, message=told(finding.fix.message)),
        chain=tuple(replace(step, note=_told(step.note, step.path, sources)) for step in finding.chain),
        related=tuple(replace(one, message=_told(one.message, path, sources)) for one in finding.related),
    )


def error_told_by_cells(error: FileError, sources: Sources) -> FileError:
    """The error, with cells in its message."""
    return replace(error, message=_told(error.message, error.path, sources))


def _told(text: str, path: str, sources: Sources) -> str:
    def cell(match: re.Match[str]) -> str:
        named, own = match["path"], match["own"]
        if own is not None and not is_notebook(path):
            return match[0]
        found = sources.cell(named or path, int(own or match["line"]))
        if found is None:
            return match[0]
        return f"line {found[1]} of cell {found[0]}" if named is None else f"{named}:{numbered(found, 0)}"

    return _LINE.sub(cell, text)
