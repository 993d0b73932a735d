"""Facts as JSON and back: every dataclass is a row, and rows name each other by number.

JSON because a cache file may come from anybody: reading it can build the dataclasses named here and nothing
else. Equal rows are written once, which makes facts a third of their size. What a field holds is taken from
its annotation, so a new field needs no change here. As in `dataclasses`, one function per class is compiled
from text, because a loop over fields takes three times as long.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from json.encoder import encode_basestring_ascii
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

Template = tuple[str, str]
"""Expressions over `@`: one that writes it as JSON text, one that reads it back."""

_SCALAR: Template = ("scalar(@)", "@")
_ROW: Template = ("(number(id(@)) or put(@))", "known[@]")
_PLAIN: dict[Any, Template] = {
    str: ("quoted(@)", "@"),
    int: ("repr(@)", "@"),
    bool: ("('true' if @ else 'false')", "@"),
    float: _SCALAR,
    type(None): _SCALAR,
}


class BadData(Exception):
    """Data that this codec did not write."""


class Codec(Generic[T]):
    """Writes and reads one dataclass with all that it holds."""

    def __init__(self, root: type[T]) -> None:
        self._templates: dict[type, list[tuple[str, Template]]] = {}
        self._names: dict[str, Any] = {"quoted": encode_basestring_ascii, "scalar": _scalar}
        """What the compiled text may name: our helpers, and the classes by their tag."""
        self._add(root)
        self._kinds = list(self._templates)
        self._writers = self._compiled("number, put", "item", self._writer)
        self._readers = self._compiled("known", "row", self._reader)

    def encode(self, value: T) -> bytes:
        """The value as JSON text in ASCII."""
        rows: dict[str, int] = {}
        numbers: dict[int, str] = {id(None): "0"}

        def put(item: Any) -> str:
            text = write[item.__class__](item)
            number = numbers[id(item)] = str(rows.setdefault(text, len(rows) + 1))
            return number

        write = dict(zip(self._kinds, self._writers(numbers.get, put), strict=True))
        put(value)
        return f"[{','.join(rows)}]".encode("ascii")

    def decode(self, data: bytes) -> T:
        """What `encode` was given; `BadData` for anything it did not write."""
        known: list[Any] = [None]
        add, read = known.append, self._readers(known)
        try:
            for row in json.loads(data):
                add(read[row[0]](row))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise BadData(str(error)) from None
        if type(known[-1]) is not self._kinds[0]:
            raise BadData("the last row is of another class")
        return known[-1]  # type: ignore[return-value]

    # --- what the annotations say -----------------------------------------------------------------------

    def _add(self, kind: type) -> None:
        if kind not in self._templates:
            found = self._templates[kind] = []  # before its fields are read: classes hold each other
            hints = get_type_hints(kind)
            found += [(field.name, self._template(hints[field.name])) for field in fields(kind)]

    def _template(self, hint: Any, depth: int = 0) -> Template:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in _PLAIN:
            return _PLAIN[hint]
        if isinstance(hint, type) and is_dataclass(hint):
            self._add(hint)
            return _ROW
        if isinstance(hint, type) and issubclass(hint, Enum):
            self._names[hint.__name__] = hint
            return "scalar(@.value)", f"{hint.__name__}(@)"
        if origin in (Union, types.UnionType):
            choices = [argument for argument in arguments if argument is not type(None)]
            found = {self._template(argument, depth) for argument in choices}
            if found <= set(_PLAIN.values()):
                return _SCALAR
            if found == {_ROW}:
                return _ROW  # number 0 is None
            if len(found) == 1:
                write, read = found.pop()
                return f"('null' if @ is None else {write})", f"(None if @ is None else {read})"
        elif origin is frozenset or (origin is tuple and arguments[-1] is Ellipsis):
            inner = f"v{depth}"
            write, read = (part.replace("@", inner) for part in self._template(arguments[0], depth + 1))
            items, make = ("sorted(@)", "frozenset") if origin is frozenset else ("@", "tuple")
            written = f"('[%s]' % ','.join([{write} for {inner} in {items}]) if @ else '0')"
            return written, f"({make}([{read} for {inner} in @]) if @ else {make}())"
        elif origin is tuple:
            parts = [self._template(argument, depth) for argument in arguments]
            writes = [write.replace("@", f"@[{i}]") for i, (write, _) in enumerate(parts)]
            reads = [read.replace("@", f"@[{i}]") for i, (_, read) in enumerate(parts)]
            return _joined(writes), f"({', '.join(reads)},)"
        elif origin is dict and arguments[0] is str:
            inner = f"v{depth}"
            write, read = (part.replace("@", inner) for part in self._template(arguments[1], depth + 1))
            pair = f"quoted(key) + ':' + {write}"
            return (
                f"'{{%s}}' % ','.join([{pair} for key, {inner} in @.items()])",
                f"{{key: {read} for key, {inner} in @.items()}}",
            )
        raise TypeError(f"a fact cannot hold {hint}")

    # --- compiling --------------------------------------------------------------------------------------

    def _writer(self, tag: int, kind: type) -> str:
        return _joined(
            [f"'{tag}'", *(w.replace("@", f"item.{name}") for name, (w, _) in self._templates[kind])]
        )

    def _reader(self, tag: int, kind: type) -> str:
        self._names[f"kind{tag}"] = kind
        reads = [read.replace("@", f"row[{i}]") for i, (_, (_, read)) in enumerate(self._templates[kind], 1)]
        return f"kind{tag}({', '.join(reads)})"

    def _compiled(self, given: str, parameter: str, body: Callable[[int, type], str]) -> Callable[..., Any]:
        """A function from what the templates need to one function per class."""
        functions = [f"lambda {parameter}: {body(tag, kind)}" for tag, kind in enumerate(self._kinds)]
        source = f"lambda {given}: [{', '.join(functions)}]"
        compiled: Callable[..., Any] = eval(source, self._names)
        return compiled


def _joined(texts: list[str]) -> str:
    return f"'[{','.join(['%s'] * len(texts))}]' % ({', '.join(texts)},)"


def _scalar(value: Any) -> str:
    return encode_basestring_ascii(value) if isinstance(value, str) else json.dumps(value)
