"""The view that renderers have beside the report: text layout, sources, and the root of paths."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look


@dataclass(frozen=True, slots=True)
class View:
    """The surroundings of a rendering."""

    look: Look
    sources: Sources
    base: Path
    """The folder that CI services count paths from, absolute."""
    min_confidence: str = "likely"

    def path(self, path: str) -> str:
        """A path of the report as a CI service wants it: POSIX, relative to the checkout."""
        absolute = os.path.normpath(self.look.root / path)
        return os.path.relpath(absolute, self.base).replace(os.sep, "/")
