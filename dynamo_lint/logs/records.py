"""Splits what a job wrote into records of torch, whatever stands before, after and between them.

A log may hold the lines of many ranks, launchers' time stamps, colours, progress bars, JSON around each line,
and bytes that are no text. So the header of torch is searched within each line, and a record is put together
by process, never by position: ranks write into the middle of each other's records. Formats as torch writes
them (torch/_logging/_internal.py, the same from 2.6 to 2.15).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.logs.costs import GRAPH, LOOKS
from dynamo_lint.logs.texts import LONGEST_TEXT, MOST_DIGITS

if TYPE_CHECKING:
    from dynamo_lint.logs.failures import Watcher

PIECE = 1 << 20
"""Bytes that are read at once."""

LONGEST_LINE = 1 << 22
"""Bytes of a line that are looked at; structured records are long lines, but no log is one line."""

MOST_LINES = 20_000
"""Lines of one record that are kept."""

MOST_TEXT = 1 << 22
"""Characters of one record that are kept."""

MOST_WRAPPERS = 3
"""Objects around a line that are taken off, one in the other: a container and a collector each put one."""

# Each part ends where the next begins, so that a line is walked once whatever it holds.
_HEADER = re.compile(
    rb"(?:\[rank(\d{1,6})\]:)?[VDIWEC](\d{4} \d\d:\d\d:\d\d\.\d{1,9}) (\d{1,10}) (\S+?):\d{1,9}\]"
    rb"(?: \[(!?[\d/_]{1,64})\])?(?: \[__(\w{1,64})\])? ?"
)
_SHORT = re.compile(rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):torch\.([\w.]+):")
_COLOURS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Within its record a break may name others: `Graph break under GenericContextWrappingVariable`.
_BREAKS = ("Graph break in user code at ", "Graph break (", "Graph break: ")
_OPENERS = ("Recompiling function ", *_BREAKS, "GUARDS:", "torch._dynamo hit config.")
_WANTED = frozenset(("recompiles", "recompiles_verbose", "graph_breaks", "guards", ""))
_STRUCTURED = frozenset(("str", "dynamo_start", "compilation_metrics", "artifact", GRAPH))
_ARTIFACTS = frozenset(("recompile_reasons", "dynamo_graph_break_reason", "torch_version", *LOOKS))
_HEADS = frozenset((GRAPH, *LOOKS))
"""Records whose payload tells nothing here, and may be large."""

Progress = Callable[[int], None]
"""Is told how many bytes have been read."""


@dataclass(slots=True)
class Record:
    """One message of torch."""

    rank: int | None
    process: str
    """Its number; empty where the format has none."""
    stamp: str
    """`MMDD hh:mm:ss.ffffff`; empty where the format has none."""
    id: str
    """Frame and compile, `0/3`; empty where the format has none."""
    artifact: str
    """`recompiles`, `graph_breaks`, `guards`; empty for warnings; of a trace, the name of the record."""
    lines: list[str]
    data: dict[str, Any] | None = field(default=None)
    """The head of a structured record; its payload are `lines`. None for text."""
    whole: bool = True
    """False for the last record of a log that ends within a line."""
    size: int = 0
    """Characters of its lines."""

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)

    def add(self, text: str, ended: bool) -> None:
        """Keep a line more, where there is room for it."""
        if len(self.lines) < MOST_LINES and self.size + len(text) <= MOST_TEXT:
            self.lines.append(text)
            self.size += len(text)
        self.whole = ended


def records(
    stream: BinaryIO, progress: Progress = lambda count: None, watcher: Watcher | None = None
) -> Iterator[Record]:
    """The records of one log, each when it is complete; `watcher` looks at all lines of text."""
    reader = _Assembly(watcher)
    seen = 0
    for lines, ended in _lines(stream, progress, watcher):
        for number, line in enumerate(lines, seen + 1):
            if watcher is not None:
                watcher.number = number
            if complete := reader.take(line, ended):
                yield from complete
        seen += len(lines)
    yield from reader.rest()


@dataclass(frozen=True, slots=True)
class _Head:
    """The text before a message on each of its lines: its rank, time and process."""

    rank: int | None
    stamp: str
    process: str
    id: str
    artifact: str
    key: tuple[bytes | None, bytes]
    """Rank and process as they are written."""

    @staticmethod
    def of(match: re.Match[bytes]) -> _Head:
        rank, stamp, process, _, ident, artifact = match.groups()
        return _Head(
            None if rank is None else int(rank),
            stamp.decode(),
            process.decode(),
            ident.decode() if ident else "",
            artifact.decode() if artifact else "",
            (rank, process),
        )


class _Assembly:
    """Puts records together from lines."""

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self._open: dict[tuple[bytes | None, bytes], Record] = {}
        """The record that each process is in the middle of: it writes one after the other."""
        self._bare: Record | None = None
        """The record that lines without a header belong to."""
        self._repeated = b"\n"
        """The header of the last line, where it began with one: a message of many lines repeats it."""
        self._head: _Head | None = None

    def take(self, line: bytes, ended: bool, wrappers: int = 0) -> Sequence[Record]:
        """Add a line; return the records that are complete by it, of most lines none."""
        if self._head is not None and line.startswith(self._repeated):
            body = line[len(self._repeated) :]
            # What follows may be a longer header.
            if body[:1] != b"[" and b"\x1b" not in body:
                return self._repeating(self._head, body, ended)
        if line[:1] == b"\t":
            if self._bare is not None and self._bare.data is not None:
                self._bare.add(_text(line[1:], LONGEST_LINE), True)
            return ()
        wrapped = line[:1] == b"{" and wrappers < MOST_WRAPPERS
        if wrapped and (inside := _unwrapped(line)) is not None:
            return [record for inner in inside for record in self.take(inner, ended, wrappers + 1)]
        if b"\x1b" in line:
            line = _COLOURS.sub(b"", line)
        if b"torch" in line:
            head = _HEADER.search(line)
            while head is not None and not _is_of_torch(head[4]):
                head = _HEADER.search(line, head.end())
            if head is not None:
                told = _Head.of(head)
                if not head.start() and head[0][-1:] == b" ":
                    self._repeated, self._head = head[0], told
                return self._headed(told, line[head.end() :], ended)
            if (head := _SHORT.search(line)) is not None:
                return self._short(head, line[head.end() :], ended)
        if self._watcher is not None:
            self._watcher.text(line)
        if self._bare is not None and self._bare.data is None:
            self._bare.add(_text(line), ended)
        return ()

    def rest(self) -> list[Record]:
        """The records that are still open at the end."""
        still_open = [*self._open.values(), *self._close_bare()]
        self._open.clear()
        return still_open

    def _close_bare(self) -> Sequence[Record]:
        closed = () if self._bare is None else (self._bare,)
        self._bare = None
        return closed

    def _repeating(self, head: _Head, body: bytes, ended: bool) -> Sequence[Record]:
        """Add a line with the header of the last one; what is indented goes on with an open record."""
        current = self._open.get(head.key) if body[:1] == b" " else None
        if current is None or current.artifact != head.artifact:
            return self._headed(head, body, ended)
        if self._watcher is not None:
            self._watcher.record(head.rank, body)
        if current.artifact != "guards":
            current.add(_text(body), ended)
        return ()

    def _headed(self, head: _Head, body: bytes, ended: bool) -> Sequence[Record]:
        if body[:2] == b'{"':
            closed = self._close_bare()
            record = _structured(head, body)
            if record is not None and record.artifact in _HEADS:
                return (*closed, record)
            self._bare = record
            return closed
        if self._watcher is not None:
            self._watcher.record(head.rank, body)
        name = head.artifact
        current = self._open.get(head.key)
        text = _text(body) if name in _WANTED else ""
        opens = text.startswith(_OPENERS) and (bool(name) or "hit config." in text)
        if not opens and current is not None and current.artifact == name:
            if name != "guards":
                current.add(text, ended)
            return ()
        complete: Sequence[Record] = () if current is None else (self._open.pop(head.key),)
        if opens:
            self._open[head.key] = Record(
                head.rank, head.process, head.stamp, head.id, name, [text], whole=ended
            )
        return complete

    def _short(self, head: re.Match[bytes], body: bytes, ended: bool) -> Sequence[Record]:
        closed = self._close_bare()
        if self._watcher is not None:
            self._watcher.record(None, body)
        name = head[1].decode().rpartition(".__")[2] if b".__" in head[1] else ""
        text = _text(body)
        if name in _WANTED and text.startswith(_OPENERS):
            self._bare = Record(None, "", "", "", name, [text], whole=ended)
        return closed


def _is_of_torch(path: bytes) -> bool:
    return b"torch/" in path or b"torch\\" in path


def _structured(head: _Head, body: bytes) -> Record | None:
    """The structured record with this head, if it is of a kind that tells of Dynamo."""
    name = body[2:].partition(b'"')[0].decode("utf-8", "replace")
    if name not in _STRUCTURED:
        return None
    try:
        data = read_json(body)
    except ValueError:
        return Record(head.rank, head.process, head.stamp, "", "broken", [], {}, whole=False)
    if not isinstance(data, dict):
        return None
    if name == "artifact":
        about = data.get("artifact")
        name = told_text(about.get("name")) if isinstance(about, dict) else ""
        if name not in _ARTIFACTS:
            return None
    frame, number = told_number(data.get("frame_id")), told_number(data.get("frame_compile_id"))
    ident = f"{frame}/{number}" if frame is not None and number is not None else ""
    told = told_number(data.get("rank"))
    return Record(head.rank if told is None else told, head.process, head.stamp, ident, name, [], data)


def read_json(text: str | bytes) -> Any:
    """The data in a text; a ValueError for one that is none, or that nests deeper than any program writes."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nests too deeply") from None


def told_number(value: object) -> int | None:
    """The number in a structured record, as `whole` has them in text; None for what is none."""
    return value if type(value) is int and 0 <= value < 10**MOST_DIGITS else None


def told_text(value: object) -> str:
    """A value of a structured record as text of one line; empty for another."""
    if not isinstance(value, str):
        return ""
    return _printed(value[:LONGEST_TEXT].encode("utf-8", "replace").decode())


def _text(line: bytes, longest: int = LONGEST_TEXT) -> str:
    """A line as text: what follows a carriage return was written over it by a progress bar."""
    if b"\r" in line:
        line = line.partition(b"\r")[0]
    text = line[:longest].decode("utf-8", "replace")
    return text if text.isprintable() else _CONTROLS.sub("", text)


def _printed(text: str) -> str:
    """A text without what steers a terminal."""
    return text if text.isprintable() else _CONTROLS.sub("", text)


def _unwrapped(line: bytes) -> list[bytes] | None:
    """The lines inside a JSON object that a container or a collector put around them; None if it is none."""
    try:
        data = read_json(line)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    longest = max((value for value in data.values() if isinstance(value, str)), key=len, default="")
    return [inner.encode("utf-8", "replace") for inner in longest.splitlines()]


def _lines(
    stream: BinaryIO, progress: Progress, watcher: Watcher | None
) -> Iterator[tuple[list[bytes], bool]]:
    """The lines of each piece of a log without their ends, and whether they had one."""
    rest = b""
    for piece in _decoded(stream, progress):
        first, *more = piece.split(b"\n")
        if not more:
            rest = (rest + first)[:LONGEST_LINE]
            continue
        if watcher is not None:
            watcher.piece(rest + piece)
        last = more.pop()
        lines = [rest + first, *more]
        yield ([*map(_without_return, lines)] if b"\r" in rest + piece else lines), True
        rest = last
    if rest:
        if watcher is not None:
            watcher.piece(rest)
        yield [_without_return(rest)], False


def _without_return(line: bytes) -> bytes:
    """A line without the carriage return at its end."""
    return line[:-1] if line.endswith(b"\r") else line


def _decoded(stream: BinaryIO, progress: Progress) -> Iterable[bytes]:
    """The pieces of a stream in an encoding that contains ASCII: UTF-16 is what PowerShell writes."""
    count = 0
    decoder: codecs.IncrementalDecoder | None = None
    while piece := stream.read(PIECE):
        if not count and (name := _wide(piece)):
            decoder = codecs.getincrementaldecoder(name)("replace")
        count += len(piece)
        yield decoder.decode(piece).encode("utf-8", "replace") if decoder else piece
        progress(count)


def _wide(start: bytes) -> str:
    """The name of the two-byte encoding that a text starts in; empty if it is none."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = start[:400]
    nuls = sample.count(b"\0")
    if not sample or nuls < len(sample) * 0.4:
        return ""
    return "utf-16-le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf-16-be"
