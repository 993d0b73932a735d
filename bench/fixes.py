"""How many findings get an automatic fix on fixtures, test cases and documented bugs, and what it says.

    python bench/fixes.py [--cases cases.jsonl --sources FOLDER [--upstream FOLDER]]

The formats are those of bench/corpus.py; the upstream folder holds the same files at each case's
`fix_commit`, and where both are there, our diff is printed beside what the maintainers did. A file counts as
damaged if it no longer parses, if only white space of a line changed, or if a second run changes it again.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.run.rewrite import Rewritten, rewrite
from dynamo_lint.run.write import diff
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

ROOT = Path(__file__).parent.parent
COUNTED = ("DYN101", "DYN103", "DYN201")


def main() -> int:
    """Print the fixes and the totals; 1 if a file is damaged."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--upstream", type=Path)
    options = parser.parse_args()
    totals: dict[str, Counter[tuple[str, str]]] = {
        "fixtures": Counter(),
        "cases": Counter(),
        "corpus": Counter(),
    }
    damaged = 0
    for folder in sorted((ROOT / "fixtures").glob("*/hazard")):
        damaged += _report(f"fixture {folder.parent.name}", folder, totals["fixtures"])
    for file in sorted((ROOT / "tests" / "cases").glob("*.py")):
        with tempfile.TemporaryDirectory() as alone:
            (Path(alone) / file.name).write_bytes(file.read_bytes())
            damaged += _report(f"case {file.name}", Path(alone), totals["cases"])
    for case in _lines(options.cases) if options.cases else ():
        folder = options.sources / f"{case['repo']}@{case['commit']}"
        if folder.is_dir():
            damaged += _report(f"corpus {case['id']}", folder, totals["corpus"], _regions(case))
            if options.upstream:
                _print_upstream(case, folder, options.upstream)
    both = totals["fixtures"] + totals["corpus"]
    for name, counts in (*totals.items(), ("fixtures + corpus", both)):
        fixed = sum(n for (code, verdict), n in counts.items() if code in COUNTED and verdict == "fixed")
        every = sum(n for (code, _), n in counts.items() if code in COUNTED)
        rows = ", ".join(f"{code} {n} {verdict}" for (code, verdict), n in sorted(counts.items()))
        print(f"{name}: {fixed} of {every} {'/'.join(COUNTED)} fixed ({rows})")
    print(f"{damaged} files damaged")
    return 1 if damaged else 0


def _report(title: str, folder: Path, counts: Counter[tuple[str, str]], regions: tuple[str, ...] = ()) -> int:
    done = _fix(folder, regions)
    for finding in done.applied:
        counts[finding.code, "fixed"] += 1
    for finding in done.report.findings:
        counts[finding.code, "left"] += 1
    if done.files:
        print(f"== {title}\n{diff(done, {})}")
    for finding, why in done.refused:
        print(f"== {title}: {finding.code} on {finding.subject} taken back: {why}")
    return sum(_damaged(done, path) for path in done.files) + _fixes_again(folder, done, regions)


def _fix(folder: Path, regions: tuple[str, ...], overlay: dict[str, bytes] | None = None) -> Rewritten:
    found = discover((folder,), [], force_exclude=False)
    settings = Settings(min_confidence="possible", regions=regions)
    return rewrite(settings, found, catalogue(), Sources(found.root, overlay or {}), unsafe=True)


def _damaged(done: Rewritten, path: str) -> bool:
    """It does not parse, or a line changed that no edit is responsible for: its end or its blanks."""
    try:
        ast.parse(done.files[path])
    except SyntaxError:
        return True
    before, after = done.originals[path].splitlines(True), done.files[path].splitlines(True)
    return any(
        tag == "replace" and [b.strip() for b in before[a:b_]] == [b.strip() for b in after[c:d]]
        for tag, a, b_, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    )


def _fixes_again(folder: Path, done: Rewritten, regions: tuple[str, ...]) -> bool:
    if not done.files:
        return False
    again = _fix(folder, regions, dict(done.files))
    if again.files:
        print(f"!! fixed again:\n{diff(again, {})}")
    return bool(again.files)


def _print_upstream(case: dict[str, Any], folder: Path, upstream: Path) -> None:
    """What the maintainers did to the same files."""
    for path in case.get("after_paths", case["files"]):
        after = upstream / f"{case['repo']}@{case.get('fix_commit', '')}" / path
        before = folder / path
        if after.is_file() and before.is_file():
            lines = (file.read_text(encoding="utf-8").splitlines(True) for file in (before, after))
            print(f"-- upstream {case['id']}: {case.get('fix', '')}")
            print("".join(difflib.unified_diff(*lines, f"{path}", f"{path} upstream", n=2)))


def _regions(case: dict[str, Any]) -> tuple[str, ...]:
    functions = [name.strip() for name in case["fn"].split("/")]
    if case["cls"].startswith("("):
        return tuple(f"*{name}" for name in functions)
    return (f"*{case['cls']}", *(f"*{case['cls']}.{name}" for name in functions))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
