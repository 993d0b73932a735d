"""Joins graph breaks of the records with findings that foretell some: true, false, unknown, not foretold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dynamo_lint.confirm.model import Receipt, from_json
from dynamo_lint.findings import Finding
from dynamo_lint.logs.texts import INTENDED


def is_of_break(finding: Finding) -> bool:
    """Whether a finding foretells a break."""
    return finding.effect in ("break", "eager")


def section(records: Iterable[dict[str, Any]], findings: Sequence[Finding], root: Path) -> Iterator[str]:
    """The table of one source and mode: a finding is false if its line ran compiled and broke nothing."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    false: dict[str, list[str]] = defaultdict(list)
    missed: Counter[str] = Counter()
    about = [one for one in findings if is_of_break(one)]
    for record in records:
        receipt = from_json(Receipt, record["receipt"])
        told: set[tuple[str, int]] = set()
        for finding in about:
            lines = set(range(finding.span.line, finding.span.end_line + 1))
            path = str(root / finding.span.path)
            here = {(place, line) for place, line in _places(receipt) if place == path and line in lines}
            told |= here
            ran = not lines.isdisjoint(receipt.traced.get(path, ()))
            verdict = "true" if here else "false" if ran else "unknown"
            row = finding.code if finding.severity != "note" else f"{finding.code} (note)"
            counts[row][verdict] += 1
            if verdict == "false" and finding.severity != "note":
                false[f"{finding.code} {finding.span.path}:{finding.span.line} {finding.subject}"].append(
                    record["name"]
                )
        for one in receipt.breaks:
            places = {(one.path, one.line), *((frame.path, frame.line) for frame in one.stack)}
            if one.id not in INTENDED and told.isdisjoint(places):
                missed[f"{one.id} {Path(one.path).name}:{one.line}"] += 1
    yield from ("### Graph breaks", "", "| rule | true | false | unknown |", "|---|---|---|---|")
    for code, row in sorted(counts.items()):
        yield f"| {code} | {row['true']} | {row['false']} | {row['unknown']} |"
    yield ""
    yield from (
        f"- false: `{text}`: {len(names)} ({', '.join(sorted(set(names))[:4])})"
        for text, names in false.items()
    )
    yield f"- not foretold: {missed.total()} breaks at {len(missed)} lines, most often " + ", ".join(
        f"`{text}` ({count})" for text, count in missed.most_common(8)
    )
    yield ""


def _places(receipt: Receipt) -> set[tuple[str, int]]:
    """The lines that broke, and those of the program that led to them."""
    return {
        place
        for one in receipt.breaks
        for place in ((one.path, one.line), *((frame.path, frame.line) for frame in one.stack))
    }
