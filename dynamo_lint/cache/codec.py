"""Facts as JSON and back: expressions are rows that name each other by number, all else stands inside.

JSON because a cache file may come from anybody: reading it can build the dataclasses named here and nothing
else. Equal rows are written once, which makes facts a third of their size. What a field holds is taken from
its annotation, so a new field needs no change here. As in `dataclasses`, one function per class is compiled
from text, because a loop over fields takes three times as long.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

Template = tuple[str, str]
"""Expressions over `@`: one that makes a plain value that can be hashed, one that reads it back from JSON."""

_SAME: Template = ("@", "@")
_TEXT: Template = ("@", "intern(@)")
"""Names stand in many files; one object for all saves memory, and tables find it sooner."""
_TEXT_OR_NONE: Template = ("@", "(None if @ is None else intern(@))")
_NUMBER: Template = ("@", "(numbers[@] if 0 <= @ < 10_000 else @)")
"""Nearly all numbers are lines: those of all files are the same objects as well."""
_SCALAR: Template = ("scalar(@)", "(@ if @.__class__ is not list else unscalar(@[0]))")
_ROW: Template = ("(number(id(@)) or put(@))", "known[@]")
_PLAIN: dict[Any, Template] = {str: _TEXT, int: _NUMBER, bool: _SAME, float: _SCALAR, type(None): _SAME}


_TO_JSON = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""Not in ASCII, where a pair of lone surrogates reads back as the one character that it spells."""


class BadData(Exception):
    """Data that this codec did not write."""


class Codec(Generic[T]):
    """Writes and reads one dataclass with all that it holds."""

    def __init__(self, root: type[T]) -> None:
        self._names: dict[str, Any] = {
            "scalar": _scalar,
            "unscalar": _unscalar,
            "intern": sys.intern,
            "numbers": tuple(range(10_000)),
        }
        """The names that the compiled text may use: helpers of this module and the classes."""
        hints: dict[type, dict[str, Any]] = {}
        self._rows = {root}
        """Classes that are rows: those that stand where others may stand as well."""
        self._collect(root, hints)
        self._kinds = sorted(self._rows, key=list(hints).index)
        templates = {
            kind: [(field.name, *self._template(hints[kind][field.name])) for field in fields(kind)]
            for kind in hints
        }
        writers, readers = [], []
        for kind, parts in templates.items():
            tag = [str(self._kinds.index(kind))] if kind in self._rows else []
            written = [*tag, *(write.replace("@", f"item.{name}") for name, write, _ in parts)]
            read = [each.replace("@", f"row[{i}]") for i, (_, _, each) in enumerate(parts, len(tag))]
            name = kind.__name__
            self._names[name] = kind
            if all((write, each) == _TEXT for _, write, each in parts):
                self._names[name] = cache(partial(_of_strings, kind))
                read = [f"row[{i}]" for i, _ in enumerate(parts, len(tag))]
            write_all, read_all = f"({', '.join(written)},)", f"{name}({', '.join(read)})"
            usual = _usual(kind)
            if usual and kind not in self._rows:
                few = len(parts) - len(usual)
                write_all = f"({', '.join(written[:few])},) if {' and '.join(usual)} else {write_all}"
                short = f"{name}({', '.join(read[:few])})"
                if all((write, each) == _TEXT for _, write, each in parts[:few]):
                    self._names[f"few_{name}"] = cache(partial(_of_strings, kind))
                    short = f"few_{name}({', '.join(f'row[{i}]' for i in range(few))})"
                read_all = f"{short} if len(row) == {few} else {read_all}"
            writers.append(f"write_{name} = lambda item: {write_all}")
            readers.append(f"read_{name} = lambda row: {read_all}")
        self._writers = self._compiled("number, put", writers, "write")
        self._readers = self._compiled("known", readers, "read")

    def encode(self, value: T) -> bytes:
        """The value as JSON text."""
        rows: dict[tuple[Any, ...], int] = {}
        numbers: dict[int, int] = {}
        write: dict[type, Callable[[Any], tuple[Any, ...]]] = {}

        def put(item: Any) -> int:
            number = numbers[id(item)] = rows.setdefault(write[item.__class__](item), len(rows) + 1)
            return number

        write.update(zip(self._kinds, self._writers(numbers.get, put), strict=True))
        put(value)
        write.clear()  # `put` is in it, so that all of this would outlive the call
        return _TO_JSON(list(rows)).encode(errors="surrogatepass")

    def decode(self, data: bytes) -> T:
        """Return the value that `encode` was given; `BadData` for anything it did not write."""
        known: list[Any] = [None]
        add, read = known.append, self._readers(known)
        try:
            for row in json.loads(data):
                add(read[row[0]](row))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise BadData(str(error)) from None
        if type(known[-1]) is not self._kinds[0]:
            raise BadData("the last row is of another class")
        return known[-1]

    # --- what the annotations say -----------------------------------------------------------------------

    def _collect(self, kind: type, hints: dict[type, dict[str, Any]]) -> None:
        """Note the fields of a class and of all that they hold."""
        if kind not in hints:
            hints[kind] = get_type_hints(kind)
            for hint in hints[kind].values():
                for held in self._held(hint):
                    self._collect(held, hints)

    def _held(self, hint: Any) -> Iterator[type]:
        """The dataclasses that an annotation names."""
        if isinstance(hint, type) and is_dataclass(hint):
            yield hint
        found = [held for argument in get_args(hint) for held in self._held(argument)]
        if len(found) > 1 and get_origin(hint) in (Union, types.UnionType):
            self._rows.update(found)
        yield from found

    def _template(self, hint: Any, depth: int = 0) -> Template:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in _PLAIN:
            return _PLAIN[hint]
        if isinstance(hint, type) and is_dataclass(hint):
            name = hint.__name__
            return _ROW if hint in self._rows else (f"write_{name}(@)", f"read_{name}(@)")
        if origin is Literal:
            return _SAME
        if origin is None and isinstance(hint, type) and issubclass(hint, tuple):
            self._names[hint.__name__] = hint
            parts = [self._template(part, depth) for part in get_type_hints(hint).values()]
            if any(write != "@" for write, _ in parts):
                raise TypeError(f"a fact cannot hold {hint}")
            return "@", f"{hint.__name__}(*@)"
        if isinstance(hint, type) and issubclass(hint, Enum):
            self._names[hint.__name__] = hint
            return "@.value", f"{hint.__name__}(@)"
        if origin in (Union, types.UnionType):
            choices = [argument for argument in arguments if argument is not type(None)]
            found = {self._template(argument, depth) for argument in choices}
            if found <= set(_PLAIN.values()):
                if choices == [str]:
                    return _TEXT_OR_NONE
                return _SAME if choices == [int] else _SCALAR
            if found == {_ROW}:
                written = _ROW[0] if len(choices) == len(arguments) else f"(0 if @ is None else {_ROW[0]})"
                return written, _ROW[1]  # number 0 is None
            if len(found) == 1:
                write, read = found.pop()
                return f"(None if @ is None else {write})", f"(None if @ is None else {read})"
        elif origin is frozenset or (origin is tuple and arguments[-1] is Ellipsis):
            inner = f"v{depth}"
            write, read = (part.replace("@", inner) for part in self._template(arguments[0], depth + 1))
            if origin is frozenset:
                written, made = (
                    f"tuple([{write} for {inner} in sorted(@)])",
                    f"frozenset([{read} for {inner} in @])",
                )
                return f"({written} if @ else 0)", f"({made} if @ else frozenset())"
            written = f"(tuple([{write} for {inner} in @]) if @ else 0)" if write != inner else "@"
            return written, f"(tuple([{read} for {inner} in @]) if @ else ())"
        elif origin is tuple:
            parts = [self._template(argument, depth) for argument in arguments]
            writes = [write.replace("@", f"@[{i}]") for i, (write, _) in enumerate(parts)]
            reads = [read.replace("@", f"@[{i}]") for i, (_, read) in enumerate(parts)]
            plain = all(write == "@" for write, _ in parts)
            return "@" if plain else f"({', '.join(writes)},)", f"({', '.join(reads)},)"
        elif origin is dict and arguments[0] is str:
            inner = f"v{depth}"
            write, read = (part.replace("@", inner) for part in self._template(arguments[1], depth + 1))
            return (
                f"tuple([(key, {write}) for key, {inner} in @.items()])",
                f"{{intern(key): {read} for key, {inner} in @}}",
            )
        raise TypeError(f"a fact cannot hold {hint}")

    def _compiled(self, given: str, functions: list[str], verb: str) -> Callable[..., Any]:
        """A function from what the templates need to one function per row class."""
        wanted = ", ".join(f"{verb}_{kind.__name__}" for kind in self._kinds)
        lines = [f"def make({given}):", *functions, f"return [{wanted}]"]
        space: dict[str, Any] = {}
        exec("\n    ".join(lines), self._names, space)
        made: Callable[..., Any] = space["make"]
        return made


def _of_strings(kind: type[T], *texts: str) -> T:
    """Return the one instance for some strings: names stand in many files, and each is made once."""
    return kind(*map(sys.intern, texts))


def _usual(kind: type) -> list[str]:
    """Tests that the last fields hold their defaults, as most do; such a tail is not written."""
    forms = {None: "is None", False: "is False", (): "== ()"}
    tests: list[str] = []
    for field in reversed(fields(kind)):
        if field.default not in forms:
            break
        tests.insert(0, f"item.{field.name} {forms[field.default]}")
    return tests if len(tests) < len(fields(kind)) else []


def _scalar(value: Any) -> Any:
    """Equal only where the values are written alike: `True`, `1` and `1.0` are not, nor `0.0` and `-0.0`."""
    if isinstance(value, float):
        return (repr(value),)
    return (value,) if isinstance(value, bool) else value


def _unscalar(value: Any) -> bool | float:
    return value if isinstance(value, bool) else float(value)
