"""Source bytes to text, the way Python itself reads a file."""

from __future__ import annotations

import io
import tokenize


def decode(source: bytes) -> str:
    """Source text under its declared encoding (PEP 263), universal newlines.

    Raises `SyntaxError` for an unknown encoding and `UnicodeDecodeError` for bytes that do not fit it.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    try:
        return io.TextIOWrapper(io.BytesIO(source), encoding).read()
    except LookupError as error:  # a codec from bytes to bytes, such as hex
        raise SyntaxError(str(error)) from None
