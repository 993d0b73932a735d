"""Documented recompile bugs of public projects, and code that only looks like one.

    python bench/corpus.py --cases cases.jsonl --negatives negatives.jsonl --sources FOLDER

A line of `cases.jsonl` names a repository, a commit, files, the lines of the bug, the class and function
that is compiled, and how much a static tool is expected to see (must, should, info, impossible). FOLDER holds
the files as OWNER/REPOSITORY@COMMIT/PATH; fill it with, for each of them,

    git -C CLONE show COMMIT:PATH > FOLDER/OWNER/REPOSITORY@COMMIT/PATH

A case is linted with its class, or its function, declared as compiled, and if that finds nothing with every
module assumed to be; it is hit if a finding stands on its lines. A negative is linted in all ways of assuming
and must have no finding on its lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

BREAKS = {"data-dependent-graph-break", "side-effect-graph-break", "opaque-kernel"}
"""Kinds that the graph-break rules are for; the others are guards."""
SLACK = 2
"""A statement may begin a line or two before or after the lines that were noted down."""


def main() -> int:
    """Print a line per case and the totals; 1 if a must is missed or a negative is blamed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--negatives", type=Path, required=True)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print every finding in the files of a case"
    )
    options = parser.parse_args()
    totals: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for case in _lines(options.cases):
        verdict, found = _case(case, options.sources)
        group = "breaks" if case["kind"] in BREAKS else "guards"
        totals[group, case["expect"]][verdict] += 1
        print(f"{verdict:<10} {group} {case['expect']:<10} {case['id']} ({case['kind']})")
        _print(found, options.verbose)
    blamed = 0
    for case in _lines(options.negatives):
        verdict, found = _negative(case, options.sources)
        totals["negatives", ""][verdict] += 1
        blamed += verdict == "FALSE"
        print(f"{verdict:<10} negative {case['id']}")
        _print(found, options.verbose)
    print()
    for (group, expect), row in sorted(totals.items()):
        print(
            f"{group} {expect}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(row.items()))
        )
    return 1 if blamed or totals["guards", "must"]["MISSED"] else 0


def _case(case: dict[str, Any], sources: Path) -> tuple[str, list[Finding]]:
    folder = sources / f"{case['repo']}@{case['commit']}"
    if not all((folder / path).is_file() for path in case["files"]):
        return "no source", []
    declared = _lint(folder, regions=_regions(case))
    assumed = _lint(folder, assume="modules") if not _on(case, declared, related=True) else []
    found = [*declared, *assumed]
    if _on(case, found):
        return "hit", found
    return ("related" if _on(case, found, related=True) else "MISSED"), found


def _negative(case: dict[str, Any], sources: Path) -> tuple[str, list[Finding]]:
    folder = sources / f"{case['repo']}@{case['commit']}"
    if not all((folder / path).is_file() for path in case["files"]):
        return "no source", []
    found = [one for assume in ("none", "blocks", "modules") for one in _lint(folder, assume=assume)]
    blamed = _on(case, found, slack=0)
    return ("FALSE", blamed) if blamed else ("quiet", [])


def _regions(case: dict[str, Any]) -> tuple[str, ...]:
    """The class and the function that the case calls compiled; which of them is one does not matter."""
    functions = [name.strip() for name in case["fn"].split("/")]
    if case["cls"].startswith("("):
        return tuple(f"*{name}" for name in functions)
    return (f"*{case['cls']}", *(f"*{case['cls']}.{name}" for name in functions))


def _lint(folder: Path, **options: Any) -> list[Finding]:
    found = discover((folder,), [], force_exclude=False)
    settings = Settings(min_confidence="assumed", **options)
    return list(check(settings, found, catalogue(), Sources(found.root)).findings)


def _on(
    case: dict[str, Any], found: Iterable[Finding], related: bool = False, slack: int = SLACK
) -> list[Finding]:
    """The findings that stand on the case's lines."""
    return [one for one in found if any(_within(case, place, slack) for place in _places(one, related))]


def _places(one: Finding, related: bool) -> list[tuple[str, int]]:
    places = [(one.span.path, one.span.line)]
    return [*places, *((other.path, other.line) for other in one.related)] if related else places


def _within(case: dict[str, Any], place: tuple[str, int], slack: int) -> bool:
    path, line = place
    return any(
        where["path"] == path and where["lines"][0] - slack <= line <= where["lines"][1] + slack
        for where in case["locations"]
    )


def _print(found: list[Finding], verbose: bool) -> None:
    for one in found if verbose else ():
        print(f"    {one.span.path}:{one.span.line} {one.code} {one.effect} {one.severity} {one.message}")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
