"""The changes that releases of torch made to the cost of a line, by name (releases.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """One change, which holds from a release on."""

    since: tuple[int, int]
    until: tuple[int, int]
    """The first release without it."""
    rules: tuple[str, ...]
    """Codes of those that say something else then."""
    programs: tuple[str, ...]
    """Programs of tests/truth that show it."""


@cache
def changes() -> Mapping[str, ReleaseChange]:
    """All changes by name."""
    return {
        name: ReleaseChange(
            _version(row["since"]),
            _version(row.get("until", "9.0")),
            tuple(row["rules"]),
            tuple(row["programs"]),
        )
        for name, row in knowledge.table("releases").items()
    }


def holds(change: str, torch_version: tuple[int, int]) -> bool:
    """Whether a torch has a change."""
    found = changes()[change]
    return torch_version >= found.since and torch_version < found.until


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)
