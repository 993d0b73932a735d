"""A quick look at the bytes of a file, kept by its content.

Searching all files for words takes a quarter of a cached run, so what was seen in a file is not looked for
again until the file changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.cache.store import Store

ADDRESSED, BUILDS, FINDS = 1, 2, 4
"""A file may hold suppressions; it builds what YAML or JSON describes; it looks up entry points."""

_ADDRESSED = re.compile(rb"#[^\n]*(dynamo-lint:|noqa[^\n]*DYN)", re.IGNORECASE)
"""Text that every suppression holds: a search for it spares most files the tokenizer."""
_BY_SETTING = re.compile(rb"getattr\(\s*(?!self\b)\w+\s*,\s*(str\()?\w*(cfg|conf|config|args|opt)\w*[.\[]")
"""`getattr(losses, cfg.loss.name)`: which one is said in YAML, as a rule."""
_BUILDING = (
    (b"LightningCLI", None),
    (b"jsonargparse", None),
    (b"get_obj_from_str", None),
    (b"pydoc.locate(", None),
    (b"utils.get_class(", None),
    (b"instantiate", re.compile(rb"instantiate\w*\(")),
    (b"_target_", re.compile(rb"[\"']_target_[\"']")),
    (b"class_path", re.compile(rb"[\"']class_path[\"']")),
    (b"getattr(", _BY_SETTING),
    (b"__import__(", re.compile(rb"__import__\(\w+,\s*fromlist")),
    (b"import_module(f", re.compile(rb"import_module\(f[\"']")),
    (b"suppress_errors", None),
    (b"force_eager", None),
    (b"config.disable", None),
)
"""Code that builds objects described in YAML or JSON, or switches compiling off, as such a file may say.

Where there is none, no such file is read.

Of each a part that is found at once, and the whole, which begins with a text for the same reason.
"""
_TAKES_CLASS = re.compile(rb"[\[(][\"']class[\"']")
"""`config["class"]`: beside `import_module(…)` it builds what YAML describes as well."""
_TAKES_APART = re.compile(rb"\.r?(split|partition)\([\"'][.:@][\"']")
"""`module, name = text.split("@")`: beside `import_module(…)` too, for the text may stand in YAML."""
_SIZE = 16
"""Bytes of an address (see `cache.keys`)."""


class Glances:
    """Features seen in files of a project by earlier runs, and in this one."""

    def __init__(self, store: Store | None, address: bytes) -> None:
        self._store = store
        self._address = address
        kept = store.load([address]).get(address, b"") if store is not None else b""
        self._before = dict(_records(kept))
        self._now: dict[bytes, int] = {}

    def at(self, content: bytes, source: bytes) -> int:
        """The features of a file whose content has this address: a sum of the constants above."""
        seen = self._before.get(content)
        self._now[content] = seen = _look(source) if seen is None else seen
        return seen

    def keep(self) -> None:
        """Keep what this run has seen, if that is news."""
        if self._store is not None and self._now != self._before:
            records = b"".join(content + bytes([seen]) for content, seen in self._now.items())
            self._store.save({self._address: records})


def _records(kept: bytes) -> Iterator[tuple[bytes, int]]:
    for start in range(0, len(kept) - _SIZE, _SIZE + 1):
        yield kept[start : start + _SIZE], kept[start + _SIZE]


def _look(source: bytes) -> int:
    addressed = ADDRESSED if _is_addressed(source) else 0
    return addressed | (BUILDS if _builds(source) else 0) | (FINDS if b"entry_points(" in source else 0)


def _is_addressed(source: bytes) -> bool:
    small = source.lower()
    if b"dynamo-lint:" not in small and (b"noqa" not in small or b"dyn" not in small):
        return False  # most files are spared the expression, which takes ten times as long
    return _ADDRESSED.search(source) is not None


def _builds(source: bytes) -> bool:
    for part, whole in _BUILDING:
        if part in source and (whole is None or whole.search(source)):
            return True
    return b"import_module(" in source and any(one.search(source) for one in (_TAKES_CLASS, _TAKES_APART))
