"""How often the linter and Dynamo agree: `python bench/agreement.py [THEME ...]`, where torch is installed.

Lints every program of tests/truth, runs it under torch and prints, per theme and per rule, how many claims
Dynamo bears out, how many hazards were missed, how many harmless programs were blamed and how many effects
were wrong; then every disagreement.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.proof import Receipt, watch
from tests.truths import THEMES, Claim, agreement, cases, claims

VERDICTS = ("agree", "missed", "false", "wrong effect")


def main(themes: list[str]) -> int:
    """Print the tables; 1 if anything disagrees."""
    warnings.simplefilter("ignore")
    by_theme: dict[str, Counter[str]] = defaultdict(Counter)
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    disagreements = []
    blamed = 0
    for theme in themes or THEMES:
        for case in cases(theme):
            with tempfile.TemporaryDirectory() as folder:
                receipt = watch(case.write(Path(folder)))
                said = claims(Path(folder))
            verdict = agreement(said, receipt)
            by_theme[theme][verdict] += 1
            for code in {claim.code for claim in case.expected if not claim.note} or {"harmless"}:
                by_rule[code][verdict] += 1
            harmless = not any(not claim.note for claim in case.expected)
            blamed += harmless and any(not claim.note for claim in said)
            if verdict != "agree":
                disagreements.append(
                    f"{verdict}: {case.id}\n    linter: {_said(said)}\n    Dynamo: {_did(receipt)}"
                )
        print(f"{theme}: done", file=sys.stderr)
    _table("theme", by_theme)
    _table("rule", by_rule)
    print(f"harmless programs with a finding at warning or above: {blamed}\n")
    print("\n".join(disagreements) or "no disagreement")
    return 1 if disagreements else 0


def _table(head: str, rows: dict[str, Counter[str]]) -> None:
    print(f"{head:<12} programs " + " ".join(f"{verdict:>12}" for verdict in VERDICTS) + "  agreement")
    total: Counter[str] = Counter()
    for name, row in sorted(rows.items()):
        print(_row(name, row))
        total += row
    print(_row("all", total) + "\n")


def _row(name: str, row: Counter[str]) -> str:
    count = sum(row.values())
    cells = " ".join(f"{row[verdict]:>12}" for verdict in VERDICTS)
    return f"{name:<12} {count:>8} {cells} {row['agree'] / count:>9.1%}"


def _said(said: list[Claim]) -> str:
    return ", ".join(f"{one.code} {one.effect} {one.entries or ''}".strip() for one in said) or "nothing"


def _did(receipt: Receipt) -> str:
    parts = [f"{receipt.compiles} compiles", f"{receipt.recompiles} recompiles"]
    parts += ["the limit"] * receipt.limit + ["stale"] * receipt.stale
    parts += [f"{receipt.breaks} breaks"] * bool(receipt.breaks)
    return ", ".join([*parts, f"graphs in {receipt.graphs_run} of {receipt.calls} calls"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
