"""The links of the chain that leads from a compile entry to a line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: the line that leads on, the function it stands in, and what it does."""

    path: str
    line: int
    symbol: str
    note: str
