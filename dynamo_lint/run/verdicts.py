"""The verdicts of earlier runs: the one that still holds after an edit, and keeping the one just made."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store
from dynamo_lint.run.reading import Content, facts_at
from dynamo_lint.run.reuse import (
    Basis,
    Grounds,
    Recent,
    recorded_of_files,
    relocated,
    still_holds,
    tells_of_moved,
)
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.program.dependencies import Recorder
_MOST_RECENT = 4
"""Verdicts that are tried after an edit."""


def reusable(
    store: Store, latest: bytes, address: bytes, content: Content, sources: Sources, codec: Codec[Any]
) -> bytes | None:
    """The verdict of a recent run with these files and settings, if the changes since cannot matter."""
    for basis in _recent(store, latest).bases:
        verdict = _kept(store, basis, content, sources, codec)
        if verdict is not None:
            _remember(store, latest, address, verdict, content, basis.grounds)
            return verdict
    return None


def keep(
    store: Store,
    latest: bytes,
    address: bytes,
    verdict: bytes,
    content: Content,
    watched: Sources,
    notes: Recorder,
) -> None:
    """Keep a new verdict, and what it was made from."""
    grounds = key("grounds", address)
    asked = _keep_recorded(store, notes)
    store.save({grounds: Codec(Grounds).encode(Grounds.of(watched, notes, asked))})
    _remember(store, latest, address, verdict, content, grounds.hex())


def _keep_recorded(store: Store, notes: Recorder) -> dict[str, str]:
    """Keep what was asked of each file, on its own, and give the addresses."""
    addresses: dict[str, str] = {}

    def entries() -> Iterator[tuple[bytes, bytes]]:
        for path, asked in recorded_of_files(notes):
            address = key("asked", asked)
            addresses[path] = address.hex()
            yield address, asked

    store.save_new(entries())
    return addresses


def _kept(store: Store, basis: Basis, content: Content, sources: Sources, codec: Codec[Any]) -> bytes | None:
    """The verdict with this basis, if it still holds."""
    facts_of = partial(facts_at, content, sources, store)

    def asked_at(text: str) -> bytes:
        address = bytes.fromhex(text)
        return store.load([address])[address]

    try:
        kept = asked_at(basis.verdict)
        why = Codec(Grounds).decode(asked_at(basis.grounds))
        moved = still_holds(basis, why, kept, content.keys, sources, facts_of, asked_at)
        if not moved:
            return None if moved is None else kept
        whole = codec.decode(kept)
        if not tells_of_moved(whole, moved):
            return codec.encode(relocated(whole, moved))
    except (AttributeError, ImportError, KeyError, TypeError, ValueError, BadData):
        pass  # as good as none
    return None


def _recent(store: Store, latest: bytes) -> Recent:
    """The bases of recent verdicts, the latest first: an edit may be undone again."""
    try:
        return Codec(Recent).decode(store.load([latest])[latest])
    except (KeyError, TypeError, ValueError, BadData):
        return Recent()


def _remember(
    store: Store, latest: bytes, address: bytes, verdict: bytes, content: Content, grounds: str
) -> None:
    """Keep a verdict on the files as they are now, and what it rests on."""
    mine = Basis({path: key.hex() for path, key in content.keys.items()}, address.hex(), grounds)
    others = (one for one in _recent(store, latest).bases if one.verdict != mine.verdict)
    store.save({address: verdict, latest: Codec(Recent).encode(Recent((mine, *others)[:_MOST_RECENT]))})
