"""When the verdict of an earlier run still holds, although files have changed since.

A verdict follows from what judging asked of the facts of all files, and from the text of those files that it
looked into. It is the same as long as the answers are: what was asked of the facts of a file is asked again
of those that it has now, and an edit outside of the text that was asked for changes nothing else. Facts name
lines; what counts is only their order, so that lines may come and go above them: the places that a verdict
names move along.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import pairwise
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from dynamo_lint.cache.keys import content
from dynamo_lint.dataclass import dataclass
from dynamo_lint.program.outlines import outline
from dynamo_lint.recursion import with_deep_stack
from dynamo_lint.sources import OUTLINE, Sources

if TYPE_CHECKING:
    from dynamo_lint.index.ir import FileFacts
    from dynamo_lint.program.dependencies import Recorder
_LINES = frozenset(
    {"line", "first_line", "end_line", "loops", "branches", "arms", "flags", "eager_lines", "comprehensions"}
    | {
        "within",
        "picked",
        "filled",
        "exceeding",
        "texts",
        "patched",
        "submodules",
        "process_tests",
        "returned_at",
        "excluded",
    },
)
"""Fields of facts whose numbers are lines; any other number has to stay what it was."""
_PLACES = frozenset({"line", "end_line"})
"""The lines of a verdict, beside the path of their file."""
_TOLD = r"(?:\bline |%s:)(\d+)"
"""How a sentence tells of a line, in the file that it is about or in one that it names."""
_MOST_CHANGED = 50
"""Files; beyond these all is judged again at once."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Which files a verdict was made of, or has come to hold for."""

    keys: dict[str, str]
    """For every file, the address of its facts."""
    verdict: str
    """The address of the verdict."""
    grounds: str
    """The address of its grounds."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The facts that a verdict was made from."""

    consulted: frozenset[str]
    """Files whose text was looked into."""
    opened: dict[str, dict[str, str]]
    """Of other files the functions, or the outline, whose text was looked into, with a digest of it."""
    searched: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Searches that were made in all files, how and for what, and the files that answered."""
    asked: dict[str, str]
    """For every file that was asked anything, the address of what that was: an edit needs that of few."""
    everywhere: dict[str, tuple[str, ...]]
    """The names that were looked up in the tables of all files."""
    tested: dict[str, tuple[str, ...]]
    """All names of tables that were gone through by name."""
    tests: dict[str, tuple[str, ...]]
    """The questions by which names of other tables were chosen."""
    untested: dict[str, tuple[str, ...]]
    """For tables of which only names that the project knows could be chosen, those that they did not have."""

    @staticmethod
    def of(watched: Sources, notes: Recorder, asked: dict[str, str]) -> Grounds:
        """The sources and facts asked for while a verdict was made; `asked` says where that is kept."""
        return Grounds(
            frozenset(watched.consulted),
            {path: _digests(watched, path, spans) for path, spans in watched.opened.items()},
            tuple((how, text, held) for (how, text), held in sorted(watched.searched.items())),
            asked,
            {table: tuple(sorted(names)) for table, names in notes.everywhere.items()},
            {table: tuple(sorted(names)) for table, names in notes.tested.items()},
            {table: tuple(sorted(tests)) for table, tests in notes.tests.items()},
            {table: tuple(sorted(names)) for table, names in notes.untested.items()},
        )


def recorded_of_files(notes: Recorder) -> Iterator[tuple[str, bytes]]:
    """The questions that were asked of each file, in the form that is kept.

    The sort of each table, the function or class that it is about, and the names that were asked for.
    """
    for path, tables in notes.files.items():
        rows = [(sort, key, sorted(names)) for (sort, key), names in tables.items() if names]
        if rows:
            yield path, json.dumps(rows).encode("ascii")


@dataclass(frozen=True, slots=True)
class Recent:
    """The recent verdicts on some files, the latest first."""

    bases: tuple[Basis, ...] = ()


Lines = Mapping[int, int]
"""Lines of a file as it is now, by what they were."""
Facts = Callable[[str, bytes | None], "FileFacts | None"]
"""The facts of a file, as they are or as they were at an address; None if they cannot be had any more."""
Asked = Callable[[str], bytes]
"""The bytes at an address that `Grounds.asked` gives; raises KeyError if they cannot be had any more."""


def still_holds(
    basis: Basis,
    grounds: Grounds,
    verdict: bytes,
    keys: Mapping[str, bytes],
    sources: Sources,
    facts_of: Facts,
    asked_at: Asked,
) -> dict[str, Lines] | None:
    """How lines have moved, by file, if the verdict is what judging the files as they are now would give.

    None if it is not.
    """
    moved: dict[str, Lines] = {}
    before = {path: bytes.fromhex(key) for path, key in basis.keys.items()}
    changed = [path for path in {**before, **keys} if before.get(path) != keys.get(path)]
    if len(changed) > _MOST_CHANGED or not grounds.consulted.isdisjoint(changed):
        return None
    if not _leave_others_alone(before.keys() ^ keys.keys(), before.keys() & keys.keys()):
        return None
    try:
        pairs = {
            path: (
                [_readable(facts_of(path, before[path]))] if path in before else [],
                [_readable(facts_of(path, None))] if path in keys else [],
            )
            for path in changed
        }
        learnt = with_deep_stack(partial(_learnt, pairs.values())) if grounds.untested else frozenset()
    except (_Different, RecursionError):
        return None
    for path, (olds, news) in pairs.items():
        if any((path in held) != sources.holds(how, text, path) for how, text, held in grounds.searched):
            return None
        if not (olds and news):
            if path in grounds.asked or path in grounds.opened:
                return None
            if not with_deep_stack(partial(_is_unasked, grounds, olds, news, learnt)):
                return None
            continue
        [old], [new] = olds, news
        asked = json.loads(asked_at(grounds.asked[path])) if path in grounds.asked else []
        opened = grounds.opened.get(path, {})
        if opened and _digests(sources, path, _places(new, opened, sources)) != opened:
            return None
        lines = with_deep_stack(partial(_lines_if_alike, grounds, asked, old, new, learnt))
        if lines is None:
            return None
        name = re.escape(encode_basestring(path)[1:-1].encode(errors="surrogatepass"))
        if any(was != is_ for was, is_ in lines.items()) and re.search(name, verdict):
            moved[path] = lines
    return moved


def _leave_others_alone(paths: Collection[str], others: Collection[str]) -> bool:
    """Whether the other files are called what they were, when these come or go: no folder does, and no name
    of a module of Python is taken or given back."""
    folders = {path.rpartition("/")[0] for path in others if path.endswith(".py")}
    stems = {path.rpartition("/")[2].partition(".")[0] for path in paths}
    return stems.isdisjoint(sys.stdlib_module_names) and all(
        path.rpartition("/")[0] in folders for path in paths
    )


def _readable(file: FileFacts | None) -> FileFacts:
    """The facts of a file of code, if they can be had and it could be read."""
    if file is None or file.error is not None or file.launcher is not None:
        raise _Different
    return file


def _learnt(pairs: Iterable[tuple[Sequence[FileFacts], Sequence[FileFacts]]]) -> frozenset[str]:
    """The names that files have come to know."""
    from dynamo_lint.program.tables import KNOWN, READINGS, tables_of

    learnt: set[str] = set()
    for reading in (one for one in READINGS if not set(KNOWN).isdisjoint(one.tables)):
        for old, new in pairs:
            before, now = tables_of(old, reading), tables_of(new, reading)
            for table in set(KNOWN).intersection(reading.tables):
                learnt |= now[table].keys() - before[table].keys()
    return frozenset(learnt)


def _is_unasked(
    grounds: Grounds, old: Sequence[FileFacts], new: Sequence[FileFacts], learnt: Collection[str]
) -> bool:
    """Whether all answers are the same without a file, or with it."""
    try:
        return all(was == is_ for was, is_, _ in _rows(grounds, old, new, learnt))
    except (_Different, RecursionError):
        return False


def relocated(item: Any, moved: Mapping[str, Lines]) -> Any:
    """A verdict, or a part of it, with its places where they are now; raises KeyError if one is not known."""
    if isinstance(item, tuple):
        match item:
            case (str() as path, int() as line) if path in moved:
                return path, moved[path][line]
        return tuple(relocated(part, moved) for part in item)
    if not is_dataclass(item) or isinstance(item, type):
        return item
    parts = {field.name: getattr(item, field.name) for field in fields(item)}
    lines = moved.get(parts.get("path", ""), {})
    return replace(
        item,
        **{
            name: lines[part] if lines and name in _PLACES else relocated(part, moved)
            for name, part in parts.items()
        },
    )


def tells_of_moved(verdict: Any, moved: Mapping[str, Lines]) -> bool:
    """Whether a sentence of a verdict tells of a line that has moved, or may have."""
    for part in _parts(verdict):
        texts = [*_texts(part)]
        for path, lines in moved.items():
            named = any(path in text for text in texts)
            told = (number for text in texts for number in re.findall(_TOLD % re.escape(path), text))
            if any(lines.get(number, None if named else number) != number for number in map(int, told)):
                return True
    return False


def _parts(verdict: Any) -> Iterator[Any]:
    """The findings of a verdict, and all else that is told apart."""
    for field in fields(verdict):
        part = getattr(verdict, field.name)
        if is_dataclass(part):
            yield from _parts(part)
        else:
            yield from part if isinstance(part, tuple) else (part,)


def _texts(item: Any) -> Iterator[str]:
    """All texts in a part of a verdict."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple | frozenset):
        for part in item:
            yield from _texts(part)
    elif is_dataclass(item):
        for field in fields(item):
            yield from _texts(getattr(item, field.name))


def _spans(facts: FileFacts, keys: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The first and last lines of those of some functions that a file has."""
    known = facts.functions
    return {key: (known[key].first_line, known[key].end_line) for key in keys if key in known}


def _places(
    facts: FileFacts, keys: Collection[str], sources: Sources
) -> dict[str, Sequence[tuple[int, int]]]:
    """The same, and the lines of the file's outline, if it is among them."""
    found: dict[str, Sequence[tuple[int, int]]] = {key: [at] for key, at in _spans(facts, keys).items()}
    if OUTLINE in keys:
        found[OUTLINE] = outline(ast.parse(sources.text(facts.path)))
    return found


def _digests(sources: Sources, path: str, places: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, str]:
    """The text of some functions of a file, each as a digest."""
    lines = sources.text(path).split("\n")
    texts = {
        key: "\n".join(line for first, last in spans for line in (*lines[first - 1 : last], ""))
        for key, spans in places.items()
    }
    return {key: content(text.encode(errors="surrogatepass")).hex() for key, text in texts.items()}


def _lines_if_alike(
    grounds: Grounds, asked: list[Any], old: FileFacts, new: FileFacts, learnt: Collection[str]
) -> Lines | None:
    """Where lines are now, if all answers are the same but for lines, and these have kept their order."""
    moved: dict[int, int] = {}
    opened = grounds.opened.get(old.path, {})
    was_at, is_at = _spans(old, opened), _spans(new, opened)
    for key, (first, last) in was_at.items():
        moved.update(zip(range(first, last + 1), range(is_at[key][0], is_at[key][1] + 1), strict=True))
    try:
        for was, is_, are_lines in _answers(grounds, asked, old, new, learnt):
            for above, below in _lines(was, is_, are_lines):
                if moved.setdefault(above, below) != below:
                    return None
    except (_Different, RecursionError):
        return None
    order = [is_ for _, is_ in sorted(moved.items())]
    return moved if all(above < below for above, below in pairwise(order)) else None


def _answers(
    grounds: Grounds, asked: list[Any], old: FileFacts, new: FileFacts, learnt: Collection[str]
) -> Iterator[tuple[object, object, bool]]:
    """The answers of a file's old facts and of its new ones; whether numbers are lines."""
    # Late, like all that a run needs only when something has changed.
    from dynamo_lint.program.dependencies import ALL, answered
    from dynamo_lint.program.scopes import TABLES

    for name in ("module", "is_package", "is_script", "stars"):
        yield getattr(old, name), getattr(new, name), False
    yield old.markers, new.markers, False
    for sort, key, names in asked:
        try:
            was, is_ = TABLES[sort](old, key), TABLES[sort](new, key)
        except KeyError:  # there is no such function or class any more
            raise _Different from None
        if ALL in names:
            yield was, is_, True
        elif sort not in ("function", "class"):
            yield from ((was.get(name), is_.get(name), True) for name in names)
        else:
            yield from ((answered(was, name), answered(is_, name), name in _LINES) for name in names)
    yield from _rows(grounds, (old,), (new,), learnt)


def _rows(
    grounds: Grounds, old: Sequence[FileFacts], new: Sequence[FileFacts], learnt: Collection[str]
) -> Iterator[tuple[object, object, bool]]:
    """The rows of the tables of all files that were asked for, from old facts and from new ones."""
    from dynamo_lint.program.dependencies import ALL, answered
    from dynamo_lint.program.tables import READINGS, tables_of

    for reading in READINGS:
        if grounds.everywhere.keys().isdisjoint(reading.tables):
            continue
        before, now = tables_of(old, reading), tables_of(new, reading)
        for table in reading.tables:
            names = grounds.everywhere.get(table, ())
            if table in grounds.tested and not now[table].keys() <= set(grounds.tested[table]):
                raise _Different  # it is not known how a new name would be tested
            untested = grounds.untested.get(table)
            if untested is not None and not now[table].keys().isdisjoint((*untested, *learnt)):
                raise _Different  # nor is it of what the project knows, but nobody used
            wanted, tests = before[table].keys() | now[table].keys(), grounds.tests.get(table, ())
            asked = set(names).union(name for name in wanted for test in tests if answered(name, test))
            for name in wanted if ALL in names else wanted & asked:
                yield before[table].get(name), now[table].get(name), True


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
    elif isinstance(old, tuple | list | dict):
        if len(old) != len(new) or (isinstance(old, dict) and list(old) != list(new)):
            raise _Different
        if isinstance(old, dict):
            old, new = tuple(old.values()), tuple(new.values())
        for mine, theirs in zip(old, new, strict=True):
            yield from _lines(mine, theirs, are_lines)
    elif are_lines and type(old) is int:
        yield old, new
    elif old != new:
        raise _Different
