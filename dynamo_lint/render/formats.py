"""The output formats by name, each loaded when it is used, and the surroundings that they are given."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.render.prose import explained
from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look

if TYPE_CHECKING:
    from dynamo_lint.render.account import Account

_FUNCTIONS = {
    "full": "text.full",
    "concise": "text.concise",
    "grouped": "text.grouped",
    "statistics": "text.statistics",
    "json": "json_format.render",
    "json-lines": "json_format.lines",
    "sarif": "sarif.render",
    "github": "services.github",
    "gitlab": "services.gitlab",
    "rdjson": "services.rdjson",
    "junit": "services.junit",
    "html": "html.check.render",
}
"""Module and function of each."""


@dataclass(frozen=True, slots=True)
class View:
    """The surroundings of a rendering: text layout, sources, and the root of paths."""

    look: Look
    sources: Sources
    base: Path
    """The folder that CI services count paths from, absolute."""
    min_confidence: str = "likely"
    context: bool = False
    """The source lines of findings are wanted."""
    account: Account | None = None
    """The state that compiled code reads, for a page."""

    def path(self, path: str) -> str:
        """A path of the report as a CI service wants it: POSIX, relative to the checkout."""
        absolute = os.path.normpath(self.look.root / path)
        return os.path.relpath(absolute, self.base).replace(os.sep, "/")

    def line(self, path: str, line: int) -> int:
        """A line as a CI service counts it: in the file, where the JSON of a notebook has other lines."""
        if self.look.cell(path, line) is None:
            return line
        return self.sources.notebook(path).line_of_json(line)

    def explained(self, finding: Finding) -> list[str]:
        """Message, cost and fix, each as a sentence; where a service cannot tell, the cell comes first."""
        message, *more = explained(finding)
        cell = self.look.cell(finding.span.path, finding.span.line)
        return [f"Cell {cell[0]}, line {cell[1]}: {message}" if cell else message, *more]


def render(name: str, report: Report, view: View) -> str:
    """The report in the format of that name."""
    module, _, function = _FUNCTIONS[name].rpartition(".")
    made: Callable[[Report, View], str] = getattr(import_module(f"dynamo_lint.render.{module}"), function)
    return made(report, view)
