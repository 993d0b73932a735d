"""The facts of one file as bytes, for the cache and between processes, and back."""

from __future__ import annotations

from functools import lru_cache

from dynamo_lint.cache.codec import Codec
from dynamo_lint.index.ir import FileFacts


@lru_cache(maxsize=1)
def facts_codec() -> Codec[FileFacts]:
    """The codec of one file's facts."""
    return Codec(FileFacts)
