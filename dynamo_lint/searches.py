"""Words that the bytes of a file are searched for, without a look at what they mean there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
    rb"__dict__|\b(vars|attrgetter)\s*\("
    rb"|\b(get|set|has|del)attr\s*\([^,\"']*,\s*(?![rRbBuU]?[\"'])"
)
"""Attributes that are reached without their names: an object's dictionary, a name that is computed."""


SEARCHES: Mapping[str, Callable[[bytes, bytes], bool]] = {
    "text": lambda text, raw: text in raw,
    "word": lambda text, raw: text in raw and _has_word(text, raw),
    "attribute": speaks_of,
    "reflection": lambda _, raw: _REFLECTION.search(raw) is not None,
}
"""By name: anywhere at all, as a word of its own, as `.text` or `"text"`, or attributes without names."""
