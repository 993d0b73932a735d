"""Findings that are accepted for now, kept in a file without line numbers so that it survives edits.

An entry names a finding by file, code, function and subject; `count` says how many such findings it stands
for. Paths are relative to the folder of the baseline, so that it does not matter where a run starts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding, Span
from dynamo_lint.levels import Level
from dynamo_lint.lintrules import lint_finding
from dynamo_lint.trouble import Trouble

SCHEMA_VERSION = 1
UNUSED = "DYN905"


@dataclass(frozen=True, slots=True)
class Key:
    """The identity of a finding: two with the same key are one."""

    path: str
    code: str
    symbol: str
    subject: str

    def __lt__(self, other: Key) -> bool:
        return astuple(self) < astuple(other)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the file."""

    key: Key
    count: int
    line: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it was read."""

    file: Path
    """Absolute."""
    entries: tuple[Entry, ...] = ()

    def key(self, finding: Finding, root: Path) -> Key:
        """The identity of a finding, counted from the folder of the baseline."""
        path = os.path.relpath(root / finding.span.path, self.file.parent).replace(os.sep, "/")
        return Key(path, finding.code, finding.symbol.partition("::")[2], finding.subject)

    def local(self, path: str, root: Path) -> str:
        """The path of an entry, counted from the linted root."""
        return os.path.relpath(self.file.parent / path, root).replace(os.sep, "/")


def read(file: Path, named: bool = False) -> Baseline:
    """The baseline in a file, which may be a pipe if it is `named` on the command line."""
    try:
        text = (files.read_named if named else files.read)(file).decode("utf-8")
        document = json.loads(text)
    except FileNotFoundError:
        raise Trouble(f"{file}: no such file; create it with `--update-baseline`") from None
    except OSError as error:
        raise Trouble(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Trouble(f"{file}: is not a baseline: {error}") from None
    except RecursionError:
        raise Trouble(f"{file}: is not a baseline: it is nested too deeply") from None
    rows = document.get("findings") if isinstance(document, dict) else None
    if not isinstance(rows, list) or document.get("schema_version") != SCHEMA_VERSION:
        raise Trouble(f'{file}: is not a baseline: needs "schema_version": {SCHEMA_VERSION} and "findings"')
    lines = _lines(text, len(rows))
    entries = [_entry(file, number, row, lines[number]) for number, row in enumerate(rows)]
    return Baseline(file.absolute(), tuple(entries))


def subtract(
    baseline: Baseline, findings: Sequence[Finding], root: Path
) -> tuple[list[Finding], list[tuple[Entry, int]]]:
    """The findings that are new, and for each entry how many findings it stands for but did not meet."""
    left: Counter[Key] = Counter()
    for entry in baseline.entries:
        left[entry.key] += entry.count
    new = []
    for finding in findings:
        key = baseline.key(finding, root)
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(finding)
    idle = [(entry, min(left[entry.key], entry.count)) for entry in baseline.entries if left[entry.key] > 0]
    return new, idle


def unused(
    baseline: Baseline,
    idle: Iterable[tuple[Entry, int]],
    root: Path,
    judged: Collection[str],
    level: Callable[[str], Level],
) -> list[Finding]:
    """A finding for each entry that stands for nothing, as far as this run can know.

    It can know for files that it judged and for files that are gone, and for rules that are enabled.
    """
    here = os.path.relpath(baseline.file, root).replace(os.sep, "/")
    found = []
    for entry, missing in idle:
        path = baseline.local(entry.key.path, root)
        known = path in judged or not (root / path).exists()
        if not known or entry.key.code not in level(path).codes:
            continue
        which = "the accepted" if entry.count == 1 else f"{missing} of the {entry.count} accepted"
        found.append(
            lint_finding(
                UNUSED,
                Span(here, entry.line, 1, entry.line, 1),
                " ".join(astuple(entry.key)),
                f"{which} {entry.key.code} on `{entry.key.subject}` in {entry.key.path} is no longer found",
                "none now, but it would hide the next such finding",
                "run again with `--update-baseline`",
            )
        )
    return found


def updated(
    baseline: Baseline,
    findings: Iterable[Finding],
    root: Path,
    reported: Collection[str],
    level: Callable[[str], Level],
) -> str:
    """The text of a baseline for `findings`; entries that this run could not see stay as they are.

    Of a file that was not reported on it saw what entries elsewhere compile: that may be more or fewer.
    """
    counts = Counter(baseline.key(finding, root) for finding in findings if finding.code != UNUSED)
    kept: Counter[Key] = Counter()
    for entry in baseline.entries:
        path = baseline.local(entry.key.path, root)
        seen = path in reported or not (root / path).exists()
        if not seen or entry.key.code not in level(path).codes:
            kept[entry.key] += entry.count
    counts |= kept
    rows = [
        {"path": key.path, "code": key.code, "symbol": key.symbol, "subject": key.subject}
        | ({"count": count} if count > 1 else {})
        for key, count in sorted(counts.items())
    ]
    # A line for each finding, so that changes can be read and merged.
    body = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows)
    findings_text = f"[\n{body}\n  ]" if body else "[]"
    return f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "findings": {findings_text}\n}}\n'


def _entry(file: Path, number: int, row: Any, line: int) -> Entry:
    match row:
        case {"path": str(path), "code": str(code), "symbol": str(symbol), "subject": str(subject)}:
            count = row.get("count", 1)
            if type(count) is int and count > 0:
                return Entry(Key(path, code, symbol, subject), count, line)
    raise Trouble(
        f"{file}: is not a baseline: entry {number + 1} needs path, code, symbol and subject as strings"
    )


def _lines(text: str, number: int) -> list[int]:
    """The line of each entry as we write them; the first line where somebody wrote them otherwise."""
    found = [line for line, row in enumerate(text.splitlines(), 1) if row.lstrip().startswith('{"path":')]
    return found if len(found) == number else [1] * number
