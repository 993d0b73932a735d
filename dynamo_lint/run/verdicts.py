"""The verdicts of earlier runs: the one that still holds after an edit, and keeping the one just made."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store
from dynamo_lint.run.reading import Content, facts_at
from dynamo_lint.run.reuse import Basis, Grounds, Recent, recorded_of_files, relocated, still_holds
from dynamo_lint.sources import Sources

if TYPE_CHECKING:
    from dynamo_lint.program.dependencies import Recorder
_MOST_RECENT = 4
"""Verdicts that are tried after an edit."""


def reusable(
    store: Store, latest: bytes, address: bytes, content: Content, sources: Sources, codec: Codec[Any]
) -> bytes | None:
    """The verdict of a recent run with these files and settings, if the changes since cannot matter."""
    for recent in _recent(store, latest):
        found = _kept(store, recent, content, sources, codec)
        if found is not None:
            verdict, grounds = found
            _remember(store, latest, address, verdict, content, grounds)
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
    _remember(store, latest, address, verdict, content, grounds)


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


def _kept(
    store: Store, recent: bytes, content: Content, sources: Sources, codec: Codec[Any]
) -> tuple[bytes, bytes] | None:
    """The verdict with this basis, if it still holds, and the address of its grounds."""
    facts_of = partial(facts_at, content, sources, store)

    def asked_at(text: str) -> bytes:
        address = bytes.fromhex(text)
        return store.load([address])[address]

    try:
        basis = Codec(Basis).decode(store.load([recent])[recent])
        verdict, grounds = bytes.fromhex(basis.verdict), bytes.fromhex(basis.grounds)
        known = store.load([verdict, grounds])
        why = Codec(Grounds).decode(known[grounds])
        moved = still_holds(basis, why, known[verdict], content.keys, sources, facts_of, asked_at)
        if moved is not None:
            kept = known[verdict]
            return codec.encode(relocated(codec.decode(kept), moved)) if moved else kept, grounds
    except (KeyError, TypeError, ValueError, BadData):
        pass  # as good as none
    return None


def _recent(store: Store, latest: bytes) -> list[bytes]:
    """The addresses of the bases of recent verdicts, the latest first: an edit may be undone again."""
    try:
        return [bytes.fromhex(text) for text in Codec(Recent).decode(store.load([latest])[latest]).bases]
    except (KeyError, TypeError, ValueError, BadData):
        return []


def _remember(
    store: Store, latest: bytes, address: bytes, verdict: bytes, content: Content, grounds: bytes
) -> None:
    """Keep a verdict on the files as they are now, and what it rests on."""
    mine = key("basis", address)
    bases = [mine, *(one for one in _recent(store, latest) if one != mine)][:_MOST_RECENT]
    store.save(
        {
            address: verdict,
            mine: Codec(Basis).encode(Basis.of(content.keys, address, grounds)),
            latest: Codec(Recent).encode(Recent(tuple(one.hex() for one in bases))),
        }
    )
