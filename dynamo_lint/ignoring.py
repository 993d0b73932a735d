"""Ignore patterns as Git reads them, each set relative to a folder."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from dynamo_lint import files

Opinion = Callable[[str], "bool | None"]
"""Whether a path relative to the folder is ignored; folders end in a slash, and None is no opinion."""

_PLAIN = re.compile(r"[\w.\-]+", re.ASCII)
"""A pattern that is just a name."""
_LARGEST = 100_000
"""Bytes of a .gitignore; nobody writes a larger one, and each line is asked about each path."""
_STARS = re.compile(r"(?<![^/])\*\*(?![^/])|\*")
"""Each a repetition in the regular expression of a pattern."""
_FEW_STARS = 2
"""In a pattern; with more of them the regular expressions of pathspec can take hours on a long name."""


class BadPattern(ValueError):
    """A text that Git takes for no pattern."""


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
    """Return the opinion of some ignore patterns on a path; raises `BadPattern` for a line that is none."""
    if all(map(_PLAIN.fullmatch, lines)):
        # Such as our own exclusions: names of files or folders anywhere.
        names = frozenset(lines)
        return lambda path: None if names.isdisjoint(path.split("/")) else True
    # The last pattern that matches decides.
    opinions = [part for many, group in groupby(lines, _has_many_stars) for part in _parts(many, [*group])]
    opinions.reverse()
    return opinions[0] if len(opinions) == 1 else partial(_first, tuple(opinions))


def gitignore(folder: str) -> Opinion | None:
    """The .gitignore of a folder, if it has one; as in Git a link is none, and no pattern matches nothing."""
    try:
        text = files.read(os.path.join(folder, ".gitignore"), _LARGEST, links=False)
    except OSError:
        return None
    lines = text.decode("utf-8", "replace").splitlines()
    try:
        return patterns(lines)
    except BadPattern:
        return patterns([line for line in lines if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether Git would take this for a pattern."""
    try:
        patterns([line])
    except BadPattern:
        return False
    return True


def _first(opinions: tuple[Opinion, ...], path: str) -> bool | None:
    for opinion in opinions:
        if (said := opinion(path)) is not None:
            return said
    return None


def _has_many_stars(line: str) -> bool:
    return len(_STARS.findall(line)) > _FEW_STARS and not line.startswith("#")


def _parts(many_stars: bool, lines: list[str]) -> Iterator[Opinion]:
    if many_stars:
        yield from map(_piecewise, lines)
        return
    # Late, because it takes as long to import as a cached run to find files.
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has doubts about `[[`
            spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error, OverflowError, RecursionError) as error:
        raise BadPattern(str(error)) from None
    yield lambda path: spec.check_file(path).include


def _piecewise(line: str) -> Opinion:
    """The opinion of one pattern, matched folder by folder and star by star, in time that grows with both."""
    from fnmatch import translate  # its stars never go back

    text = re.sub(r"(?<!\\) +$", "", line)
    said = not text.startswith("!")
    text = text.removeprefix("!")
    names = text.strip("/").split("/")
    if "/" not in text.rstrip("/"):
        names.insert(0, "**")
    try:
        tests = [None if name == "**" else re.compile(translate(_unescaped(name))).match for name in names]
    except re.error as error:
        raise BadPattern(str(error)) from None
    folders_only = text.endswith("/")

    def opinion(path: str) -> bool | None:
        parts = path.rstrip("/").split("/")
        ends = {0}
        for number, test in enumerate(tests, 1):
            if test is not None:
                ends = {end + 1 for end in ends if end < len(parts) and test(parts[end])}
            elif ends:
                ends = set(range(min(ends) + (number == len(tests)), len(parts) + 1))
        # What lies in a folder that matches, matches as well.
        last = len(parts) - (folders_only and not path.endswith("/"))
        return said if any(end <= last for end in ends) else None

    return opinion


def _unescaped(name: str) -> str:
    """A name of a pattern as `fnmatch` spells it."""
    name = re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], name)
    return name.replace("[^", "[!")
