"""A finding as plain sentences, for formats that have one field for text."""

from __future__ import annotations

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.terminal import clean


def explained(finding: Finding) -> list[str]:
    """Message, cost and fix, each as a sentence."""
    lines = [claim(finding.message)]
    if finding.cost:
        lines.append(f"Cost: {sentence(finding.cost)}")
    if finding.fix is not None:
        lines.append(f"Fix: {sentence(finding.fix.message)}{applicable(finding.fix)}")
    return lines


def sentence(text: str) -> str:
    """Text as one line that can be printed, with one full stop at its end."""
    return clean(text.replace("\n", " ")).rstrip(".") + "."


def claim(text: str) -> str:
    """The same with a capital letter at its beginning."""
    said = sentence(text)
    return said[:1].upper() + said[1:]


def applicable(fix: Fix, command: str = "dynamo-lint check ") -> str:
    """How the fix can be had from the command line; empty where it is only advice."""
    if not fix.edits:
        return ""
    options = "--fix" if fix.applicability == "safe" else "--fix --unsafe-fixes"
    return f" (`{command}{options}` does it)"
