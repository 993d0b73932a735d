"""Findings that an earlier state of a project has: what is there already is not new."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dynamo_lint.baseline import Key
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding

_PLACE = re.compile(r"^\S+::")
"""The file of a function in the subject of a finding."""


@dataclass(frozen=True, slots=True)
class Older:
    """The findings of the commit at which the working tree and a revision part."""

    revision: str
    """As it was named."""
    commit: str
    keys: tuple[Key, ...] = ()
    """One for each finding, by the paths that files have now."""


def key_of(finding: Finding, renamed: Mapping[str, str] | None = None) -> Key:
    """The identity of a finding, by the name that its file has now."""
    path, subject = finding.span.path, finding.subject
    if renamed:
        path = renamed.get(path, path)
        place, mark, rest = subject.partition("::")
        subject = renamed.get(place, place) + mark + rest
    return Key(path, finding.code, finding.symbol.partition("::")[2], subject)


def subtract(older: Older, findings: Sequence[Finding], everywhere: Iterable[Finding]) -> list[Finding]:
    """The findings that are new; `everywhere` are all that the project has, whatever is reported of it.

    One whose function was moved to another file is not: there is one less where it came from.
    """
    left = Counter(older.keys)
    others = []
    for finding in findings:
        if left[key_of(finding)] > 0:
            left[key_of(finding)] -= 1
        else:
            others.append(finding)
    gone = Counter(older.keys) - Counter(map(key_of, everywhere))
    moved = Counter(map(_without_path, gone.elements()))
    new = []
    for finding in others:
        if moved[_without_path(key_of(finding))] > 0:
            moved[_without_path(key_of(finding))] -= 1
        else:
            new.append(finding)
    return new


def _without_path(key: Key) -> Key:
    return replace(key, path="", subject=_PLACE.sub("", key.subject))
