"""The output formats by name, each loaded when it is used, and the surroundings that they are given."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from dynamo_lint.report import Report
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look

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

    def path(self, path: str) -> str:
        """A path of the report as a CI service wants it: POSIX, relative to the checkout."""
        absolute = os.path.normpath(self.look.root / path)
        return os.path.relpath(absolute, self.base).replace(os.sep, "/")


def render(name: str, report: Report, view: View) -> str:
    """The report in the format of that name."""
    module, _, function = _FUNCTIONS[name].rpartition(".")
    made: Callable[[Report, View], str] = getattr(import_module(f"dynamo_lint.render.{module}"), function)
    return made(report, view)
