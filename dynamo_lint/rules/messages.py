"""Costs of findings, as sentences."""

from __future__ import annotations


def storm(limit: int, what: str = "this code") -> str:
    """Every call compiles `what`; `limit` is the recompile limit."""
    return (
        f"one recompile per call until the recompile limit ({limit}); "
        f"after that {what} is never compiled again and runs eagerly"
    )


def bounded(entries: int, unit: str = "value") -> str:
    """One version for each of a known number of values, keys or lengths."""
    return f"one compiled version per {unit}, {entries} in all"


def changing(effect: str, entries: int | None, limit: int, once: str) -> str:
    """Return the cost of state that compiled code itself changes; `once` says what one compile more buys."""
    if effect == "storm":
        return storm(limit)
    if effect == "once":
        return once
    if entries is not None:
        return bounded(entries)
    return f"one compiled version per value; beyond the recompile limit ({limit}) this code runs eagerly"
