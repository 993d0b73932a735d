"""When the verdict of an earlier run still holds, although files have changed since.

A verdict follows from the facts of all files, and from the text of those files that judging looked into. It
is the same as long as both are: an edit that leaves the facts of a file as they were, in a file whose text
was never asked for, changes nothing. Facts name lines; where a file has no place in the verdict, what counts
is only their order, so that lines may come and go above them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from itertools import pairwise
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from dynamo_lint.depth import with_room
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.index.facts import FileFacts

_LINES = frozenset(
    {"line", "first_line", "end_line", "loops", "branches", "eager_lines", "comprehensions"},
)
"""Fields of facts whose numbers are lines; any other number has to stay what it was."""
_MOST_CHANGED = 50
"""Files; beyond these all is judged again at once."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a verdict was made from."""

    keys: tuple[tuple[str, str], ...]
    """For every file, the address of its facts."""
    consulted: frozenset[str]
    """Files whose text was looked into."""
    searched: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Searches that were made in all files, how and for what, and the files that answered."""
    verdict: str
    """The address of the verdict."""

    @staticmethod
    def of(keys: Mapping[str, bytes], watched: Sources, verdict: bytes) -> Basis:
        """The basis of a verdict that was just made, with sources that were watched meanwhile."""
        return Basis(
            _hex(keys),
            frozenset(watched.consulted),
            tuple((how, text, held) for (how, text), held in sorted(watched.searched.items())),
            verdict.hex(),
        )

    def now(self, keys: Mapping[str, bytes], verdict: bytes) -> Basis:
        """The same for the files as they are now."""
        return Basis(_hex(keys), self.consulted, self.searched, verdict.hex())


Facts = Callable[[str, bytes | None], "FileFacts | None"]
"""The facts of a file, as they are or as they were at an address; None if they cannot be had any more."""


def still_holds(
    basis: Basis, verdict: bytes, keys: Mapping[str, bytes], sources: Sources, facts_of: Facts
) -> bool:
    """Whether the verdict, as the cache keeps it, is what judging the files as they are now would give."""
    before = {path: bytes.fromhex(key) for path, key in basis.keys}
    if before.keys() != keys.keys():
        return False
    changed = [path for path, key in keys.items() if before[path] != key]
    if len(changed) > _MOST_CHANGED or not basis.consulted.isdisjoint(changed):
        return False
    for path in changed:
        if any((path in held) != sources.holds(how, text, path) for how, text, held in basis.searched):
            return False
        old, new = facts_of(path, before[path]), facts_of(path, None)
        if old is None or new is None or old.error is not None or new.error is not None:
            return False
        named = encode_basestring_ascii(path)[1:-1].encode("ascii") in verdict
        if not with_room(partial(_alike, old, new, named)):
            return False
    return True


def _alike(old: FileFacts, new: FileFacts, exactly: bool) -> bool:
    """Whether facts are the same but for lines that keep their order; `exactly` if these count as well."""
    moved: dict[int, int] = {}
    try:
        for was, is_ in _lines(old, new, False):
            if moved.setdefault(was, is_) != is_:
                return False
    except (_Different, RecursionError):
        return False
    if exactly:
        return all(was == is_ for was, is_ in moved.items())
    order = [is_ for _, is_ in sorted(moved.items())]
    return all(above < below for above, below in pairwise(order))


class _Different(Exception):
    """Facts differ in something else than lines."""


def _lines(old: Any, new: Any, are_lines: bool) -> Iterator[tuple[int, int]]:
    """The lines of facts beside those of others that are otherwise the same."""
    if type(old) is not type(new):
        raise _Different
    if is_dataclass(old):
        for field in fields(old):
            mine, theirs = getattr(old, field.name), getattr(new, field.name)
            yield from _lines(mine, theirs, field.name in _LINES)
    elif isinstance(old, tuple | dict):
        if len(old) != len(new) or (isinstance(old, dict) and list(old) != list(new)):
            raise _Different
        if isinstance(old, dict):
            old, new = tuple(old.values()), tuple(new.values())
        for mine, theirs in zip(old, new, strict=True):
            yield from _lines(mine, theirs, are_lines)
    elif are_lines and isinstance(old, int):
        yield old, new
    elif old != new:
        raise _Different


def _hex(keys: Mapping[str, bytes]) -> tuple[tuple[str, str], ...]:
    return tuple((path, key.hex()) for path, key in keys.items())
