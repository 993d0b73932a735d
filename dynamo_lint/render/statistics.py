"""How many findings of each rule there are."""

from __future__ import annotations

from collections import Counter

from dynamo_lint.report import Report


def render(report: Report) -> str:
    """One line a rule, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{count:>6}  {code}  {name}\n" for (code, name), count in ranked)
