"""YAML and JSON files as constructor calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.index import packaging
from dynamo_lint.index.decoding import decode
from dynamo_lint.index.ir import (
    MODULE_KEY,
    UNKNOWN,
    Attribute,
    Call,
    Constant,
    Display,
    Expr,
    FileFacts,
    Function,
    Import,
    Setting,
)

_MOST = 20_000
"""Nodes of one file, those behind an alias each time: ten lines of YAML can stand for a billion."""
_DEEPEST = 100
_MARKS = [mark.encode() for mark in knowledge.in_order("config_marks")]
_CALLED = knowledge.in_order("target_keys")
"""Keys beside which the arguments stand."""
_NESTED = knowledge.pairs("argument_keys")
"""Keys with that of the arguments."""
(_PARTIAL,) = knowledge.in_order("partial_key")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_NAMED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*[.:@][A-Z]\w*")
"""A text that some code takes apart to import what it names: `pkg.mod@Net`."""
_NAMES = re.compile(rb"\w[.:@][A-Z]\w*[\"']?\s*([,\]}#]|$)", re.MULTILINE)
"""Whether a file may hold such a text."""
_PACKAGE, _, _NAME = knowledge.in_order("makes_described")[0].rpartition(".")
_INSTANTIATE = Import(_PACKAGE, _NAME)
_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{0,15})?([eE][-+]?[0-9]{1,2})?")
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_WORD = re.compile(
    r"""(?:^|[{,\s])["']?([A-Za-z_]\w*)["']?[ \t]*:"""
    r"""[ \t]*["']?([A-Za-z_][\w.]*)["']?[ \t]*(?=[,}\]#\r\n]|$)""",
    re.MULTILINE,
)
"""`name: resnet`, in a line of its own, in braces, or in JSON: it takes no parser to see such."""
_TABLE = re.compile(r"""^[ \t]*["']?([A-Za-z_]\w*)["']?[ \t]*:[ \t]*(?:[&{#].*)?\r?$""", re.MULTILINE)
"""`resnet:`, over a table of its own."""
_PLAIN_WORDS = frozenset({"true", "false", "null", "none", "yes", "no", "on", "off"})
_MOST_WORDS = 1000


@dataclass(frozen=True, slots=True)
class _Map:
    line: int
    rows: dict[str, Any]
    """Each value is a `_Map`, a list or a plain value."""


def summarize_config(path: str, source: bytes) -> FileFacts:
    """The facts of one file that is no code; a file that cannot be read says nothing."""
    top = {MODULE_KEY: Function(MODULE_KEY, MODULE_KEY, 1, 1, 1)}
    # Named by its path, for nobody can import it.
    if path.endswith((".toml", ".cfg")):
        try:
            rows = packaging.offered(path, decode(source).replace("\r\n", "\n"))
        except (SyntaxError, ValueError, RecursionError) as error:
            why = f"cannot be read: {error}".partition("\n")[0]
            return FileFacts(path, path, functions=top, is_code=False, error=(1, why))
        return FileFacts(path, path, functions=top, is_code=False, settings=rows)
    words = _words(source)
    if not (any(mark in source for mark in _MARKS) or _NAMES.search(source)):
        return FileFacts(path, path, functions=top, is_code=False, words=words)
    import yaml  # type: ignore[import-untyped]  # late: few projects build anything from such files

    try:
        tree = _DocumentReader(
            yaml.parse(decode(source), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        ).document()
        writer = _Writer(tree, _names(path))
        rows = writer.rows()
    except (yaml.YAMLError, SyntaxError, ValueError, _TooMuch) as error:
        why = f"cannot be read as YAML: {error}".partition("\n")[0]
        return FileFacts(path, path, functions=top, is_code=False, error=(1, why))
    named = tuple(dict.fromkeys(writer.named))
    return FileFacts(path, path, functions=top, is_code=False, settings=rows, named=named, words=words)


def _words(source: bytes) -> tuple[tuple[str, str], ...]:
    """The keys that have a single word for a value, with it, and those of tables, under no key: the first."""
    text = source.decode(errors="replace")
    rows = chain(_WORD.findall(text), (("", key) for key in _TABLE.findall(text)))
    words = dict.fromkeys(row for row in rows if row[1].lower() not in _PLAIN_WORDS)
    return tuple(islice(words, _MOST_WORDS))


def _names(path: str) -> tuple[str, ...]:
    """The keys that a whole file configures: its group, which is its folder, or its own name."""
    *folders, name = path.split("/")
    return (*folders[-1:], name.rpartition(".")[0])


class _TooMuch(Exception):
    """The file is no configuration, or means harm."""

    def __init__(self) -> None:
        super().__init__("it is nested too deeply, or stands for too much")


class _DocumentReader:
    """Puts the events of a parser together: nothing is constructed, whatever the tags say."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, Any] = {}
        self._count = 0

    def document(self) -> Any:
        """The first document of the file."""
        for event in self._events:
            if event.__class__.__name__ not in ("StreamStartEvent", "DocumentStartEvent"):
                return self._node(event, 0) if event.__class__.__name__ != "StreamEndEvent" else None
        return None

    def _node(self, event: Any, depth: int) -> Any:
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST:
            raise _TooMuch
        kind = event.__class__.__name__
        if kind == "AliasEvent":
            return self._anchors.get(event.anchor)
        if kind == "ScalarEvent":
            made: Any = _plain(event.value) if event.implicit[0] else event.value
        elif kind == "SequenceStartEvent":
            made = list(self._until("SequenceEndEvent", depth))
        else:
            made = self._map(event.start_mark.line + 1, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = made
        return made

    def _until(self, end: str, depth: int) -> Iterator[Any]:
        for event in self._events:
            if event.__class__.__name__ == end:
                return
            yield self._node(event, depth + 1)

    def _map(self, line: int, depth: int) -> _Map:
        inside = list(self._until("MappingEndEvent", depth))
        merged: dict[str, Any] = {}
        rows: dict[str, Any] = {}
        for key, value in zip(inside[::2], inside[1::2], strict=True):
            if key == "<<":
                for part in reversed(value if isinstance(value, list) else [value]):
                    given = part.rows if isinstance(part, _Map) else {}
                    self._count += len(given)
                    merged |= given
                if self._count > _MOST:
                    raise _TooMuch
            elif isinstance(key, str):
                rows[key] = value
        return _Map(line, merged | rows)


def _plain(text: str) -> str | int | float | bool | None:
    """The value of a YAML scalar without quotes."""
    match text.lower():
        case "true":
            return True
        case "false":
            return False
        case "" | "~" | "null":
            return None
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[1] or number[2] else int(text)


class _Writer:
    """Writes what was read as calls."""

    def __init__(self, tree: Any, names: tuple[str, ...]) -> None:
        self._tree = tree
        self._names = names
        self._count = 0
        self._rows: list[Setting] = []
        self.named: list[tuple[str, str]] = []
        self._following: set[str] = set()
        """The references on the way: what refers to itself means the same key of another file."""

    def rows(self) -> tuple[Setting, ...]:
        """All descriptions of the file, each under its key."""
        self._expr(self._tree, self._names, outer=True, depth=0)
        return tuple(self._rows)

    def _expr(self, node: Any, names: tuple[str, ...], *, outer: bool, depth: int) -> Expr:
        self._count += 1
        if self._count > _MOST or depth > _DEEPEST:
            raise _TooMuch
        match node:
            case _Map(line, rows):
                called = _called(rows)
                if called is None:
                    return self._mapping(rows, outer, depth)
                target, inside, positional = called
                given = self._each(inside, depth)
                arguments = tuple(self._expr(one, names, outer=False, depth=depth + 1) for one in positional)
                call = _call(target, arguments, given, line, partial=rows.get(_PARTIAL) is True)
                self._rows += [Setting(name, call, line, outer) for name in dict.fromkeys(names)]
                return call
            case list():
                items = tuple(self._expr(one, names, outer=outer, depth=depth + 1) for one in node)
                return Display("list", items)
            case str():
                return self._text(node, names, depth)
            case None | bool() | int() | float():
                return Constant(node)
        return UNKNOWN

    def _mapping(self, rows: dict[str, Any], outer: bool, depth: int) -> Expr:
        items = tuple(self._expr(value, (key,), outer=outer, depth=depth + 1) for key, value in rows.items())
        return Display("dict", items, tuple(rows))

    def _each(self, rows: dict[str, Any], depth: int) -> tuple[tuple[str | None, Expr], ...]:
        return tuple(
            (key, self._expr(value, (key,), outer=False, depth=depth + 1)) for key, value in rows.items()
        )

    def _text(self, text: str, names: tuple[str, ...], depth: int) -> Expr:
        """A text, or what `${model.net}` refers to in the same file, or in another that is put beside it."""
        reference = _REFERENCE.fullmatch(text)
        if reference is None:
            if _NAMED.fullmatch(text):
                self.named += [(name, text) for name in names]
            return Constant(text)
        node = self._tree
        for part in reference[1].split("."):
            node = node.rows.get(part) if isinstance(node, _Map) else None
        if node is None or text in self._following:  # another file puts it there, as a choice of a group does
            return Call(_INSTANTIATE, (Attribute(UNKNOWN, part),))
        self._following.add(text)
        meant = self._expr(node, names, outer=False, depth=depth + 1)
        self._following.remove(text)
        return meant


def _called(rows: dict[str, Any]) -> tuple[str, dict[str, Any], list[Any]] | None:
    """The call that a mapping describes, with named and other arguments; None if it describes none."""
    for key in _CALLED:
        target = rows.get(key)
        if isinstance(target, str) and _DOTTED.fullmatch(target):
            named = {name: value for name, value in rows.items() if not name.startswith("_")}
            positional = rows.get("_args_")
            return target, named, positional if isinstance(positional, list) else []
    for key, beside in _NESTED.items():
        target, inside = rows.get(key), rows.get(beside)
        if isinstance(target, str) and _DOTTED.fullmatch(target):
            return target, inside.rows if isinstance(inside, _Map) else {}, []
    return None


def _call(
    target: str,
    arguments: tuple[Expr, ...],
    given: tuple[tuple[str | None, Expr], ...],
    line: int,
    *,
    partial: bool,
) -> Call:
    callee = _dotted(target)
    if partial:
        return Call(Import("functools", "partial"), (callee, *arguments), given, line)
    return Call(callee, arguments, given, line)


def _dotted(target: str) -> Expr:
    """`package.module.Class`, or `package.module.Class.method`, where a class is what looks like one."""
    module, _, name = target.rpartition(".")
    above, _, last = module.rpartition(".")
    if above and last[:1].isupper():
        return Attribute(Attribute(Import(above), last), name)
    return Attribute(Import(module), name)
