"""Ignore patterns as Git reads them, each set relative to a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Opinion = Callable[[str], "bool | None"]
"""Whether a path relative to the folder is ignored; folders end in a slash, and None is no opinion."""

_PLAIN = re.compile(r"[\w.\-]+", re.ASCII)
"""A pattern that is just a name."""


@dataclass(frozen=True, slots=True)
class Ignores:
    """Sets of patterns with the folder that each is relative to, outermost first."""

    specs: tuple[tuple[str, Opinion], ...] = ()

    def match(self, path: str, is_folder: bool) -> bool:
        """Whether a path is ignored: the innermost set that has an opinion decides, as in Git."""
        verdict = False
        for folder, opinion in self.specs:
            top = os.path.join(folder, "")
            if path.startswith(top):
                relative = path[len(top) :].replace(os.sep, "/") + ("/" if is_folder else "")
                said = opinion(relative)
                verdict = verdict if said is None else said
        return verdict

    def below(self, folder: str) -> Ignores:
        """These patterns and those of the folder's own .gitignore."""
        spec = gitignore(folder)
        return Ignores((*self.specs, (folder, spec))) if spec else self


def patterns(lines: Sequence[str]) -> Opinion:
    """Return the opinion of some ignore patterns on a path."""
    if all(map(_PLAIN.fullmatch, lines)):
        # Such as our own exclusions: names of files or folders anywhere.
        names = frozenset(lines)
        return lambda path: None if names.isdisjoint(path.split("/")) else True
    from pathspec import (
        GitIgnoreSpec,  # late, because it takes as long to import as a cached run to find files
    )

    spec = GitIgnoreSpec.from_lines(lines)
    return lambda path: spec.check_file(path).include


def gitignore(folder: str) -> Opinion | None:
    """The .gitignore of a folder, if it has one."""
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return patterns(file.read().splitlines())
    except OSError:
        return None
