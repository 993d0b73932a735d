"""The fixture projects, held against Dynamo by `dynamo-lint confirm` and their own probes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures"
VERDICTS = ("confirmed", "stale", "refuted", "unobserved", "unpredicted")


def section() -> list[str]:
    """What became of the findings in every fixture, as lines of the page."""
    head = ("probes", "recompiles", "breaks", *VERDICTS)
    lines = [
        "## fixtures",
        "",
        "The projects of `fixtures/`, each with a twin in which every hazard is mended; the verdicts are",
        "those of `dynamo-lint confirm`: `unpredicted` is a recompile or a break that no finding foretold.",
        "",
        f"| project | {' | '.join(head)} |",
        "|---" * (len(head) + 1) + "|",
    ]
    for name, row in _rows():
        lines.append(f"| {name} | {' | '.join(str(row[column]) for column in head)} |")
    return [*lines, ""]


def _rows() -> Iterator[tuple[str, Counter[str]]]:
    for probes in sorted(FOLDER.glob("*/*/probes.py")):
        report = _confirmed(probes)
        row: Counter[str] = Counter(report["summary"])
        for probe in report["probes"]:
            row["probes"] += 1
            row["recompiles"] += len(probe["recompiles"])
            row["breaks"] += len(probe["graph_breaks"])
        yield str(probes.parent.relative_to(FOLDER)), row


def _confirmed(probes: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "dynamo_lint", "confirm", str(probes), "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{probes} could not be confirmed: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
