"""The facts of all files, each unpacked when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.index.facts import FileFacts


@lru_cache(maxsize=1)
def facts_codec() -> Codec[FileFacts]:
    """The codec of one file's facts."""
    return Codec(FileFacts)


class Shelf(Mapping[str, FileFacts]):
    """Facts by path: many files are never looked at, and stay packed; `renew` replaces a bad package."""

    def __init__(self, items: Mapping[str, FileFacts | bytes], renew: Callable[[str], FileFacts]) -> None:
        self._items = dict(items)
        self._renew = renew

    def __getitem__(self, path: str) -> FileFacts:
        """The facts of one file."""
        item = self._items[path]
        if isinstance(item, bytes):
            try:
                item = facts_codec().decode(item)
            except BadData:
                item = self._renew(path)
            self._items[path] = item
        return item

    def __iter__(self) -> Iterator[str]:
        """The paths, in file order."""
        return iter(self._items)

    def __len__(self) -> int:
        """How many files there are."""
        return len(self._items)

    def __contains__(self, path: object) -> bool:
        """Whether there is such a file; nothing is unpacked for it."""
        return path in self._items
