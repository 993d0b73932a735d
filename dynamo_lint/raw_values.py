"""Read the raw values of a configuration file, or say what was expected instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from dynamo_lint.selectors import UnknownSelector, catalogue, closest, hint, matching

T = TypeVar("T")
Reader = Callable[[object], object]
"""Returns the value; a ValueError says what was expected."""
R = TypeVar("R", bound=Reader)
Schema = dict[str, Any]
"""What a reader takes, as JSON Schema: it may allow more, where that cannot say it."""


Key = str | int
_LARGEST = 2**63 - 1
"""The largest number that TOML knows."""
Keys = tuple[Key, ...]
"""The way to a value: the key of each table, outermost first, and for one of several tables its number."""


class Wrong(ValueError):
    """A key or a value that cannot be used; the text says what is wrong."""

    def __init__(self, keys: Keys, text: str) -> None:
        super().__init__(text)
        self.keys = keys
        """The way to it."""


def takes(schema: Schema | Callable[[], Schema]) -> Callable[[R], R]:
    """A decorator that notes what a reader takes."""

    def note(reader: R) -> R:
        vars(reader)["schema"] = schema
        return reader

    return note


def schema_of(reader: Reader) -> Schema:
    """The noted schema of a reader."""
    schema = vars(reader)["schema"]
    return dict(schema() if callable(schema) else schema)


def table_of(inside: Schema) -> Schema:
    """The schema of a table whose keys are names."""
    return {"type": "object", "additionalProperties": inside}


def table_with(readers: Mapping[str, Reader]) -> Schema:
    """The schema of a table whose keys are known."""
    properties = {key: schema_of(reader) for key, reader in readers.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


TEXT: Schema = {"type": "string", "minLength": 1}
TEXTS: Schema = {"type": "array", "items": TEXT}


def table(raw: Mapping[str, object], readers: Mapping[str, Reader], *outer: Key) -> dict[str, Any]:
    """The values of a table whose keys are known, by their names in Python; `outer` are the tables around."""
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in readers:
            guess = closest(key.replace("_", "-"), readers)
            meant = hint(guess and dotted(*outer, guess))
            raise Wrong((*outer, key), f"unknown key {dotted(*outer, key)!r}{meant}")
        values[key.replace("-", "_")] = entry(value, readers[key], *outer, key)
    return values


def entry(raw: object, reader: Callable[[object], T], *keys: Key) -> T:
    """The value at the end of some keys."""
    try:
        return reader(raw)
    except Wrong:
        raise
    except UnknownSelector as unknown:
        raise Wrong(keys, f"{dotted(*keys)}: {unknown}") from None
    except ValueError as expected:
        raise Wrong(keys, f"{dotted(*keys)} = {quoted(raw)}: expected {expected}") from None


def rows(
    raw: object, expected: str, reader: Callable[[str], Callable[[object], T]], *outer: Key
) -> dict[str, T]:
    """The values of a table whose keys are names, each read as its name wants it."""
    if not isinstance(raw, Mapping):
        raise ValueError(expected)
    return {name: entry(value, reader(name), *outer, name) for name, value in raw.items()}


def stated(one: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not as by default, under the keys of a configuration."""
    given = {field.name: getattr(one, field.name) for field in fields(one)}
    usual = type(one)()
    return {name.replace("_", "-"): value for name, value in given.items() if value != getattr(usual, name)}


def dotted(*keys: Key) -> str:
    """Keys as TOML writes the way to a value."""
    names = [key for key in keys if isinstance(key, str)]
    return ".".join(name if re.fullmatch(r"[\w-]+", name) else quoted(name) for name in names)


def line_of(text: str, keys: Keys) -> int | None:
    """The line of a TOML text on which the last of some keys stands; None where it is not found."""
    place = 0
    for key in keys:
        if isinstance(key, int):
            place = _header(text, place, key)
            continue
        spelt = rf"""^[^#\n]*?(?<![\w-])["']?{re.escape(key)}["']?\s*[\].=]"""
        found = re.compile(spelt, re.MULTILINE).search(text, text.rfind("\n", 0, place) + 1)
        if found is None:
            return None
        place = found.end()
    return text.count("\n", 0, place) + 1


def _header(text: str, place: int, number: int) -> int:
    """The end of the header `[[…]]` at a place, or of one of those that follow it."""
    start = text.rfind("\n", 0, place) + 1
    header = re.match(r"\s*\[\[[^\]\n]+\]\]", text[start:])
    same = [*re.finditer(rf"^{re.escape(header[0])}", text, re.MULTILINE)] if header else []
    return same[number].end() if number < len(same) else place


def quoted(raw: object) -> str:
    """A value as TOML writes it, more or less."""
    import json  # late: only what is wrong is told

    match raw:
        case bool():
            return str(raw).lower()
        case str():
            return json.dumps(raw, ensure_ascii=False)
        case int() if abs(raw) > _LARGEST:
            return "a number of many digits"
        case _:
            return str(raw)


@takes(TEXTS)
def strings(raw: object) -> tuple[str, ...]:
    """A list of strings that are not empty."""
    if not isinstance(raw, list) or not all(map(_is_text, raw)):
        raise ValueError('a list of strings, such as ["..."]')
    return tuple(item.strip() for item in raw)


def _is_text(raw: object) -> bool:
    """Whether a value is a line of text: no path, name or line of a log holds another character."""
    return isinstance(raw, str) and bool(raw.strip()) and raw.replace("\t", " ").isprintable()


@takes(TEXTS)
def selectors(raw: object) -> tuple[str, ...]:
    """A list of selectors, each of which names a rule."""
    words, known = strings(raw), catalogue()
    for word in words:
        matching(word, known)
    return words


@takes(TEXT)
def text(raw: object) -> str:
    """A string that is not empty."""
    if not isinstance(raw, str) or not _is_text(raw):
        raise ValueError("a line of text that is not empty")
    return raw.strip()


@takes({"type": "boolean"})
def flag(raw: object) -> bool:
    """A truth value."""
    if not isinstance(raw, bool):
        raise ValueError("true or false")
    return raw


def number(least: int) -> Callable[[object], int]:
    """A reader of whole numbers that are large enough."""

    @takes({"type": "integer", "minimum": least})
    def read(raw: object) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or not least <= raw <= _LARGEST:
            raise ValueError(f"a whole number of {least} or more")
        return raw

    return read


def choice(*words: str) -> Callable[[object], str]:
    """A reader of one of some words."""

    @takes({"enum": list(words)})
    def read(raw: object) -> str:
        if raw in words and isinstance(raw, str):
            return raw
        guess = closest(raw, words) if isinstance(raw, str) else None
        raise ValueError(f"one of {', '.join(map(quoted, words))}{hint(guess)}")

    return read


def satisfies(version: str, specifier: str) -> bool:
    """Whether a version meets a specifier as in PEP 440; a ValueError says what is expected.

    One that is still in development counts as the release it leads to.
    """
    from packaging.specifiers import Specifier  # late: few configurations have any
    from packaging.version import Version

    base = Version(version).base_version
    try:
        met = [Specifier(clause).contains(base) for clause in specifier.split(",")]
    except ValueError:  # no specifier, or one with a number of thousands of digits
        raise ValueError('versions as in requirements, such as ">=0.1" or ">=0.1, <1"') from None
    return all(met)
