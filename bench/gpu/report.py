"""Write what `measure.py` recorded into the documentation: a table of medians with their spread, and a plot.

    python bench/gpu/report.py [--check]

Reads bench/gpu/results.json; replaces what stands between the marks `<!-- gpu table -->` and
`<!-- end of gpu table -->` of README.md and docs/gpu.md, and draws docs/images/gpu.svg. `--check` changes
nothing and fails where a file would change.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OPEN, CLOSE = "<!-- gpu table -->", "<!-- end of gpu table -->"
WORDS = {
    "eager": "not compiled",
    "written": "compiled, as written",
    "fixed": "after `dynamo-lint --fix`",
    "advised": "after its advice as well",
}
COLOURS = {"eager": "#9aa0a6", "written": "#c5221f", "fixed": "#f29900", "advised": "#188038"}


def main() -> None:
    """Rewrite the files, or check that they are what they would be."""
    records = json.loads((HERE / "results.json").read_text("utf-8"))
    texts = {ROOT / "docs" / "images" / "gpu.svg": plot(records)}
    for name, gpus in (("README.md", (1,)), ("docs/gpu.md", (1, 2))):
        page = ROOT / name
        before, opening, rest = page.read_text("utf-8").partition(OPEN)
        _old, closing, after = rest.partition(CLOSE)
        if not (opening and closing):
            sys.exit(f"{name} lacks the marks {OPEN} and {CLOSE}")
        tables = "\n\n".join(table(records, count) for count in gpus)
        texts[page] = f"{before}{OPEN}\n{tables}\n{CLOSE}{after}"
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv:
        told = "\n".join(f"{path.relative_to(ROOT)} is not what the records say" for path in stale)
        sys.exit(told or None)
    for path in stale:
        path.write_text(texts[path], "utf-8")


def table(records: list[dict[str, Any]], gpus: int) -> str:
    """A Markdown table of one number of GPUs: medians, with the lowest and the highest run."""
    cards = sorted({record["card"] for record in records if record["gpus"] == gpus})
    torch = sorted({record["torch"] for record in records if record["gpus"] == gpus})
    heading = f"{gpus} × {', '.join(cards)}, torch {', '.join(torch)}"
    rows = [
        f"| {heading} | graphs | first ten steps, s | tokens/s after that | runs |",
        "|---|---|---|---|---|",
    ]
    for variant, words in WORDS.items():
        runs = [record for record in records if record["gpus"] == gpus and record["variant"] == variant]
        seconds = _spread([record["first_ten"] for record in runs], 1, "")
        rate = _spread([record["tokens_per_second"] / 1000 for record in runs], 0, "k")
        rows.append(f"| {words} | {runs[0]['graphs']} | {seconds} | {rate} | {len(runs)} |")
    return "\n".join(rows)


def _spread(values: list[float], digits: int, unit: str) -> str:
    middle = f"{statistics.median(values):.{digits}f}{unit}"
    return f"**{middle}** ({min(values):.{digits}f}–{max(values):.{digits}f})"


def plot(records: list[dict[str, Any]]) -> str:
    """An SVG of two bar charts of one GPU: seconds of the first ten steps, and the speed afterwards."""
    charts = (
        ("first ten steps, seconds", "first_ten", 1.0),
        ("then, thousand tokens/s", "tokens_per_second", 1e3),
    )
    parts = []
    for column, (title, key, scale) in enumerate(charts):
        left = 170 + column * 330
        values = {
            variant: [
                record[key] / scale
                for record in records
                if record["gpus"] == 1 and record["variant"] == variant
            ]
            for variant in WORDS
        }
        most = max(max(runs) for runs in values.values())
        parts.append(f'<text x="{left}" y="20" font-weight="bold">{title}</text>')
        for row, (variant, runs) in enumerate(values.items()):
            top, width = 34 + row * 32, 220 / most
            middle = statistics.median(runs)
            low, high = left + min(runs) * width, left + max(runs) * width
            parts.append(
                f'<rect x="{left}" y="{top}" width="{middle * width:.1f}" height="20"'
                f' fill="{COLOURS[variant]}"/>'
                f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{top + 10}" y2="{top + 10}" stroke="#202124"/>'
                f'<text x="{max(high, left + middle * width) + 6:.1f}" y="{top + 15}">{middle:.0f}</text>'
            )
    for row, words in enumerate(WORDS.values()):
        parts.append(f'<text x="160" y="{49 + row * 32}" text-anchor="end">{words.replace("`", "")}</text>')
    body = "\n  ".join(parts)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 170" role="img"\n'
        '     aria-label="Compile time and speed of one training job, before and after the fixes"\n'
        '     font-family="sans-serif" font-size="12">\n'
        f'  <rect width="800" height="170" fill="#ffffff"/>\n  {body}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
