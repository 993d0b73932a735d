"""The closing words for people: how many findings, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dynamo_lint.findings import SEVERITIES
from dynamo_lint.lintrules import LINT_RULES
from dynamo_lint.report import Report
from dynamo_lint.terminal import Look, counted

WAYS_TO_DECLARE = (
    ("--assume-compiled", "treat every nn.Module.forward as compiled"),
    ("--assume blocks", "treat the elements of every ModuleList as compiled"),
    ("# dynamo-lint: region", "on the line above a class or function"),
    ('regions = ["package.module:Class"]', "in [tool.dynamo-lint] of pyproject.toml"),
)

GUARD = (
    "A guard is the check that torch makes before it reuses compiled code; if it fails, torch compiles again."
)


def render(report: Report, look: Look, explain: bool = False, assumed: bool = True) -> str:
    """Return the summary of a report, in a few lines.

    `explain` adds the one word that every finding needs; where nothing was `assumed` to be compiled, a
    clean run gets a word on what was not judged.
    """
    lines = [look.paint(verdict(report), bold=True)]
    if report.files and not report.compiled.functions:
        lines += _nothing_compiled()
    elif not assumed and not report.findings and report.compiled.functions < report.files:
        lines.append(
            "Only compiled code was checked; `--assume blocks` adds blocks that users of a library compile."
        )
    if report.suppressed:
        lines.append(f"{counted(report.suppressed, 'finding')} silenced by comments.")
    if report.accepted:
        lines.append(f"{counted(report.accepted, 'finding')} accepted by the baseline.")
    lines += _fixable(report)
    hazards = sorted({finding.code for finding in report.findings if finding.code not in LINT_RULES})
    if explain and any(finding.effect for finding in report.findings):
        lines.append(GUARD)
    if hazards:
        lines.append(f"Run `dynamo-lint rule {' '.join(hazards)}` for the reason and examples.")
    return "\n".join(lines) + "\n"


def verdict(report: Report) -> str:
    """One sentence: how many findings in how much code, and what was given up."""
    files = counted(report.files, "file")
    if not report.files:
        return "No Python files found."
    gaps = _gaps(report)
    if not report.findings:
        if not report.compiled.functions:
            return "; ".join([f"Nothing was checked: no compiled code found in {files}", *gaps]) + "."
        clean = f"No findings, but {', '.join(gaps)}" if gaps else "No findings"
        return f"{clean}: {_compiled(report)} in {files}."
    counts = Counter(finding.severity for finding in report.findings)
    severities = ", ".join(counted(counts[word], word) for word in reversed(SEVERITIES) if counts[word])
    places = len({finding.span.path for finding in report.findings})
    return "; ".join([f"Found {severities} in {places} of {files}", _compiled(report), *gaps]) + "."


def _gaps(report: Report) -> Sequence[str]:
    """The counts of all that was given up without a finding that says so."""
    gaps = []
    if sites := len(report.compiled.unresolved):
        were = counted(sites, "compile site was", "compile sites were")
        gaps.append(f"{were} not understood (see `dynamo-lint regions`)")
    if report.unfinished:
        were = counted(report.unfinished, "function or class was", "functions or classes were")
        gaps.append(f"{were} not analysed to the end (see `--select DYN906`)")
    told = {finding.span.path for finding in report.findings if finding.code == "DYN901"}
    unread = [error for error in report.errors if error.path not in told]
    if newer := [error.needs for error in unread if error.needs]:
        were = counted(len(newer), "file was", "files were")
        they = "it needs" if len(newer) == 1 else "they need"
        gaps.append(f"{were} not read ({they} Python {max(newer)[0]}.{max(newer)[1]})")
    if others := len(unread) - len(newer):
        gaps.append(f"{counted(others, 'file was', 'files were')} not read (see `--select DYN901`)")
    return gaps


def _fixable(report: Report) -> Sequence[str]:
    """How many findings dynamo-lint can end by itself."""
    kinds = Counter(
        finding.fix.applicability for finding in report.findings if finding.fix and finding.fix.edits
    )
    safe, unsafe = kinds["safe"], kinds["unsafe"]
    if not safe and not unsafe:
        return []
    words = [f"{safe} fixable with `--fix`"] if safe else []
    words += [f"{unsafe} {'more' if safe else 'fixable'} with `--fix --unsafe-fixes`"] if unsafe else []
    return [", ".join(words) + "; `--diff` shows what would change."]


def _compiled(report: Report) -> str:
    functions = counted(report.compiled.functions, "compiled function")
    return f"{functions} from {counted(report.compiled.entries, 'compile entry', 'compile entries')}"


def _nothing_compiled() -> Sequence[str]:
    width = max(len(way) for way, _ in WAYS_TO_DECLARE)
    return [
        "If other code compiles it, lint that code too, or declare what is compiled:",
        *(f"  {way:<{width}}  {what}" for way, what in WAYS_TO_DECLARE),
    ]
