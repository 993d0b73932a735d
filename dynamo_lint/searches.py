"""Words that the bytes of a file are searched for, without a look at what they mean there."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping

_BETWEEN = re.compile(rb"\.(?:\s|\\|#[^\r\n]*[\r\n])*\Z")
"""A dot, and what may stand between it and the name: white space, a line that goes on, comments."""
_MOST_BETWEEN = 5000
"""Bytes; nobody writes longer comments inside an expression."""


def speaks_of(word: bytes, raw: bytes) -> bool:
    """Whether `.word` or `"word"` stands in a file; looks closely only where the word does."""
    at = raw.find(word)
    while at >= 0:
        before, after = raw[at - 1 : at], raw[at + len(word) : at + len(word) + 1]
        if before in {b"'", b'"'} and after in {b"'", b'"'}:
            return True
        if not (after.isalnum() or after == b"_" or after >= b"\x80"):
            if before == b".":
                return True
            if before == b"\\" or before.isspace():
                left = raw[max(at - _MOST_BETWEEN, 0) : at]
                code = left.rstrip(b" \t\r\n\f\v\\")
                commented = b"#" in code[code.rfind(b"\n") + 1 :]
                if code.endswith(b".") or (commented and _BETWEEN.search(left)):
                    return True
        at = raw.find(word, at + 1)
    return False


def _has_word(word: bytes, raw: bytes) -> bool:
    return re.search(rb"\b" + re.escape(word) + rb"\b", raw) is not None


_REFLECTION = re.compile(
    rb"__dict__|\b(vars|attrgetter)\s*\(|\bobject\s*\.\s*__(set|del)attr__\s*\("
    rb"|\b(get|set|has|del)attr\s*\([^,\"']*,\s*(?![rRbBuU]?[\"'])"
)
"""Attributes that are reached without their names: an object's dictionary, a name that is computed."""


_Search = Callable[[bytes, bytes], bool]
_ANYWHERE: Mapping[str, _Search] = {
    "text": lambda text, raw: text in raw,
    "word": lambda text, raw: text in raw and _has_word(text, raw),
    "attribute": speaks_of,
    "reflection": lambda _, raw: _REFLECTION.search(raw) is not None,
}
"""By name: anywhere at all, as a word of its own, as `.text` or `"text"`, or attributes without names."""


def _in_code(search: _Search) -> _Search:
    """The same search, in the code of a file without comments and docstrings."""
    return lambda text, raw: search(text, raw) and search(text, _code(raw))


IN_CODE = " in code"
"""What the names of searches end with that pass over comments and docstrings."""
SEARCHES: Mapping[str, _Search] = {
    **_ANYWHERE,
    **{f"{how}{IN_CODE}": _in_code(search) for how, search in _ANYWHERE.items()},
}
"""All searches by name."""


def _code(raw: bytes) -> bytes:
    """The lines of a file without comments and docstrings; all of it where it has no tokens."""
    lines = io.BytesIO(raw).readlines()
    try:
        for (first, start), (last, end) in _remarks(raw):
            for number in range(first - 1, last):
                text = lines[number].decode()
                head = text[:start] if number == first - 1 else ""
                tail = text[end:] if number == last - 1 else "\n"
                lines[number] = f"{head}{tail}".encode()
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, IndexError):
        return raw
    return b"".join(lines)


_Place = tuple[int, int]
_BEFORE_STATEMENT = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING})
_NO_CODE = frozenset({tokenize.NL, tokenize.COMMENT})


def _remarks(raw: bytes) -> Iterator[tuple[_Place, _Place]]:
    """Where comments and texts that are statements stand, the last first, so that none moves another."""
    found: list[tuple[_Place, _Place]] = []
    before, text = tokenize.ENCODING, None
    for token in tokenize.tokenize(io.BytesIO(raw).readline):
        if token.type == tokenize.COMMENT:
            found.append((token.start, token.end))
        if token.type in _NO_CODE:
            continue
        if token.type == tokenize.NEWLINE and text is not None:
            found.append((text.start, text.end))
        text = token if token.type == tokenize.STRING and before in _BEFORE_STATEMENT else None
        before = token.type
    return iter(sorted(found, reverse=True))
