"""Whether a version meets a specifier: of dynamo-lint for `required-version`, of torch for a contract."""

from __future__ import annotations

import re

Release = tuple[int, ...]
_CLAUSE = re.compile(r"(~=|==|!=|<=|>=|<|>)\s*(\d+(?:\.\d+)*)(\.\*)?")


def satisfies(version: str, specifier: str) -> bool:
    """Whether a version meets a specifier as in PEP 440; a ValueError says what is expected."""
    return all(_meets(_release(version), clause.strip()) for clause in specifier.split(","))


def _release(version: str) -> Release:
    """The numbers of a version: one that is still in development counts as the release it leads to."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _meets(version: Release, clause: str) -> bool:
    match = _CLAUSE.fullmatch(clause)
    sensible = match and (match[1] in ("==", "!=") if match[3] else match[1] != "~=" or "." in match[2])
    if match is None or not sensible:
        raise ValueError('versions as in requirements, such as ">=0.1" or ">=0.1, <1"')
    operator, wanted = match[1], _release(match[2])
    if match[3] or operator == "~=":
        prefix = wanted if match[3] else wanted[:-1]
        alike = _padded(version, len(prefix))[: len(prefix)] == prefix
        if operator == "~=":
            return alike and _meets(version, f">={match[2]}")
        return alike == (operator == "==")
    length = max(len(version), len(wanted))
    mine, other = _padded(version, length), _padded(wanted, length)
    return {
        "==": mine == other,
        "!=": mine != other,
        "<=": mine <= other,
        ">=": mine >= other,
        "<": mine < other,
        ">": mine > other,
    }[operator]


def _padded(release: Release, length: int) -> Release:
    return release + (0,) * (length - len(release))
