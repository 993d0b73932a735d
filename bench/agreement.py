"""How often the linter and Dynamo agree: `python bench/agreement.py [THEME ...]`, where torch is installed.

Lints every program of tests/truth, runs it under torch and prints, per theme and per rule, how many claims
Dynamo bears out, how many hazards were missed, how many harmless programs were blamed and how many effects
were wrong; then every disagreement.

`python bench/agreement.py --recorded` needs no torch and runs nothing: it holds what the linter says for
each torch against what the programs were measured to do under it (tests/truth/verdicts.json), the programs
of the rule pages among them, and writes the counts by version into bench/agreement.tsv, for
docs/accuracy.md. What was not run under a version as it now stands is left out there. Some minutes of one
core.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests import verdicts
from tests.lints import claims_about
from tests.truths import THEMES, Claim, agreement, cases, claims, hazards_of_pages

if TYPE_CHECKING:
    from tests.proof import Receipt

RECORDED = Path(__file__).parent / "agreement.tsv"
MEASURED_LIMIT = 4
"""The recompile limit that the programs were measured with (bench/versions.py)."""
VERDICTS = ("agree", "missed", "false", "wrong effect")


def main(themes: list[str]) -> int:
    """Print the tables; 1 if anything disagrees."""
    from tests.proof import watch

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


def recorded() -> int:
    """Print and write how often the linter agrees with what was measured, by version of torch."""
    table = verdicts.load(verdicts.PROGRAMS)
    versions = list(table["torch"])
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in [*(case for theme in THEMES for case in cases(theme)), *hazards_of_pages()]:
        measured = verdicts.spread(table["rows"].get(case.id, {}), versions, case.digest)
        for name in versions:
            if (verdict := verdicts.verdict_of(measured[name])) is not None:
                claimed = claims_about(case, MEASURED_LIMIT, verdicts.version(name))
                counts[name][agreement(claimed, verdict, MEASURED_LIMIT)] += 1
    lines = ["\t".join(("torch", "programs", *VERDICTS))]
    for name, row in counts.items():
        print(_row(f"torch {name}", row))
        lines.append("\t".join(map(str, (name, row.total(), *(row[verdict] for verdict in VERDICTS)))))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


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
    sys.exit(recorded() if sys.argv[1:] == ["--recorded"] else main(sys.argv[1:]))
