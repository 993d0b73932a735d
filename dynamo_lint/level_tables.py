"""Read the tables of the configuration that say how severe each rule is, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dynamo_lint.findings import SEVERITIES
from dynamo_lint.levels import CONFIDENCES, LEVELS, OLDER_WORDS, Choices, Override
from dynamo_lint.raw_values import Reader, Wrong, choice, entry, selectors, strings, table
from dynamo_lint.selectors import catalogue, matching

SEVERITY, PER_FILE_IGNORES, OVERRIDES = "severity", "per-file-ignores", "overrides"
"""The names of the tables in the configuration."""


def read_severity(raw: object) -> dict[str, str]:
    """The level of each selector."""
    return _severity()(raw)


def read_per_file_ignores(raw: object) -> dict[str, tuple[str, ...]]:
    """The selectors that are ignored in the files of each pattern."""
    if not isinstance(raw, Mapping):
        raise ValueError('a table of paths, such as { "tests/**" = ["DYN1"] }')
    return {
        _path(pattern, PER_FILE_IGNORES, pattern): entry(listed, selectors, PER_FILE_IGNORES, pattern)
        for pattern, listed in raw.items()
    }


def read_overrides(raw: object) -> tuple[Override, ...]:
    """The overrides, in the order in which they count."""
    if not isinstance(raw, list) or not all(isinstance(one, Mapping) for one in raw):
        raise ValueError("tables [[tool.dynamo-lint.overrides]], each with paths")
    return tuple(_override(one, number) for number, one in enumerate(raw))


def confidence(raw: object) -> str:
    """A confidence by its name, or by the one that it had before."""
    return choice(*CONFIDENCES)(OLDER_WORDS.get(raw, raw) if isinstance(raw, str) else raw)


def _override(raw: Mapping[str, object], number: int) -> Override:
    outer = OVERRIDES, number
    readers: Mapping[str, Reader] = {
        "paths": strings,
        "select": selectors,
        "extend-select": selectors,
        "ignore": selectors,
        "extend-ignore": selectors,
        SEVERITY: _severity(*outer),
        "min-confidence": confidence,
        "fail-level": choice(*SEVERITIES),
    }
    values = table(raw, readers, *outer)
    paths = values.pop("paths", ())
    if not paths:
        raise Wrong(
            (*outer, "paths") if "paths" in raw else outer,
            f'{OVERRIDES}: expected paths, such as paths = ["src/kernels"]',
        )
    return Override(tuple(_path(path, *outer, "paths") for path in paths), Choices(**values))


def _severity(*outer: str | int) -> Callable[[object], dict[str, str]]:
    """A reader of the levels in a table below some others."""

    def read(raw: object) -> dict[str, str]:
        if not isinstance(raw, Mapping):
            raise ValueError('a table of levels, such as { DYN201 = "error" }')
        known = catalogue()
        for selector in raw:
            entry(selector, lambda word: matching(str(word), known), *outer, SEVERITY, selector)
        return {word: entry(level, choice(*LEVELS), *outer, SEVERITY, word) for word, level in raw.items()}

    return read


def _path(pattern: str, *keys: str | int) -> str:
    """A pattern that is one as in .gitignore."""
    from dynamo_lint.ignoring import is_pattern  # late: few configurations have any

    if not pattern.strip() or not is_pattern(pattern):
        raise Wrong(keys, f'{pattern!r} is no pattern as in .gitignore, such as "tests/**"')
    return pattern
