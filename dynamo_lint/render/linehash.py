"""The hash by which GitHub code scanning recognises a line (github/codeql-action: src/fingerprints.ts).

A line is known by the 100 characters that start with it, blanks and tabs left out, as a polynomial in 37
modulo 2**64; the n-th line of a file with the same hash ends in `:n`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

WINDOW = 100
BASE = 37
END = 0xFFFF
"""Stands behind the last character of a file; after it come zeros."""


def line_hashes(text: str, wanted: Iterable[int]) -> dict[int, str]:
    """The hashes of the wanted lines, by line number from 1; `text` has `\\n` line ends."""
    bare = text.replace(" ", "").replace("\t", "")
    units = bare.encode("utf-16-le", errors="surrogatepass")
    values = [units[i] | units[i + 1] << 8 for i in range(0, len(units), 2)]
    starts = [0, *(at + 1 for at, value in enumerate(values) if value == ord("\n"))]
    values += [END, *[0] * WINDOW]
    last = max(wanted := set(wanted), default=0)
    seen: Counter[int] = Counter()
    found = {}
    for line, start in enumerate(starts[:last], 1):
        digest = 0
        for value in values[start : start + WINDOW]:
            digest = digest * BASE + value & 0xFFFF_FFFF_FFFF_FFFF
        seen[digest] += 1
        if line in wanted:
            found[line] = f"{digest:x}:{seen[digest]}"
    return found
