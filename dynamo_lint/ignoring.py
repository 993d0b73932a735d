"""Ignore patterns as Git reads them, each set relative to a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from dynamo_lint.files import LARGEST_LIST, read_bounded

Opinion = Callable[[str], "bool | None"]
"""Whether a path relative to the folder is ignored; folders end in a slash, and None is no opinion."""

_PLAIN = re.compile(r"[\w.\-]+", re.ASCII)
"""A pattern that is just a name."""
_WILD = 3
"""So many stars in one name, or so many `**`, are not left to a regular expression."""


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


class PatternError(Exception):
    """A line that is no pattern."""


def patterns(lines: Sequence[str], *, strict: bool = False) -> Opinion:
    """Return the opinion of some ignore patterns on a path: that of the last line that has one.

    As in Git, a line that is no pattern matches nothing; with `strict` it raises `PatternError`.
    """
    if all(map(_PLAIN.fullmatch, lines)):
        # Such as our own exclusions: names of files or folders anywhere.
        names = frozenset(lines)
        return lambda path: None if names.isdisjoint(path.split("/")) else True
    opinions = [
        _piecewise(group[0]) if wild else _by_pathspec(group, strict)
        for wild, group in ((wild, list(group)) for wild, group in groupby(lines, _is_wild))
        for group in ([[one] for one in group] if wild else [group])
    ]

    def last(path: str) -> bool | None:
        return next((said for opinion in reversed(opinions) if (said := opinion(path)) is not None), None)

    return opinions[0] if len(opinions) == 1 else last


def _by_pathspec(lines: Sequence[str], strict: bool) -> Opinion:
    from pathspec import (
        GitIgnoreSpec,  # late, because it takes as long to import as a cached run to find files
    )

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        if strict:
            raise PatternError(str(error)) from None
        if len(lines) == 1:
            return lambda _: None
        parts = [_by_pathspec([line], strict) for line in lines]
        return lambda path: next((said for one in reversed(parts) if (said := one(path)) is not None), None)
    return lambda path: spec.check_file(path).include


def _is_wild(line: str) -> bool:
    """Whether a regular expression for the line could backtrack: many stars in one name, or many `**`."""
    names = line.split("/")
    return any(name.count("*") >= _WILD for name in names) or names.count("**") >= _WILD


def _piecewise(line: str) -> Opinion:
    """The opinion of one line, matched name by name in time that does not grow with the ways to match."""
    denied, text = line.startswith("!"), line.strip().removeprefix("!")
    names = [re.sub(r"\*+", "*", name) if name != "**" else name for name in text.strip("/").split("/")]
    if len(names) == 1 and not text.startswith("/"):
        names.insert(0, "**")
    if text.startswith("#") or any(sign in text for sign in "[\\"):
        return lambda _: None

    def opinion(path: str) -> bool | None:
        parts = path.rstrip("/").split("/")
        ends = range(1, len(parts) + (path.endswith("/") or not text.endswith("/")))
        return (not denied) if any(_matches(parts[:end], names) for end in ends) else None

    return opinion


def _matches(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a path matches a pattern, both as names; `**` stands for any number of them."""
    reached = {0}
    for name in names:
        if name == "**":
            reached = set(range(min(reached, default=len(parts) + 1), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and _name_matches(parts[at], name)}
    return len(parts) in reached


def _name_matches(name: str, pattern: str) -> bool:
    """Whether one name matches a pattern with `*` and `?`: each piece is taken at its first place."""
    first, *rest = pattern.split("*")
    if not rest:
        return len(name) == len(first) and _found(name, first, 0) == 0
    *middle, last = rest
    if _found(name[: len(first)], first, 0) != 0 or len(name) < len(first) + len(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = _found(name[:end], piece, at)
        if at < 0:
            return False
        at += len(piece)
    return _found(name, last, end) == end


def _found(name: str, piece: str, start: int) -> int:
    """Where a piece stands in a name from some place on, `?` being any character; -1 if nowhere."""
    for at in range(start, len(name) - len(piece) + 1):
        if all(mine in ("?", theirs) for mine, theirs in zip(piece, name[at:], strict=False)):
            return at
    return -1


def gitignore(folder: str) -> Opinion | None:
    """The .gitignore of a folder, if it has one."""
    try:
        data, _ = read_bounded(os.path.join(folder, ".gitignore"), LARGEST_LIST)
    except OSError:
        return None  # Git follows no link here either
    return patterns(data.decode("utf-8", errors="replace").splitlines())
