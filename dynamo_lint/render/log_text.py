"""The account of a job's logs for people: what cost most, the line to change, and what is not known."""

from __future__ import annotations

from dynamo_lint.logs.model import Cause, LogReport
from dynamo_lint.render import log_words as words
from dynamo_lint.render.prose import applicable, sentence
from dynamo_lint.terminal import Look, clean

_MOST_UNSEEN = 8


def render(report: LogReport, look: Look) -> str:
    """All of it, in sections that are left out where they are empty."""
    sections = [
        [look.wrapped(words.counts(report.job), "", "  ")],
        _divergence(report, look),
        *([_cause(one, report, look)] for one in report.causes),
        _rest(report, look),
        _breaks(report, look),
        _unseen(report, look),
        _budgets(report, look),
        _notes(report, look),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _divergence(report: LogReport, look: Look) -> list[str]:
    if "ranks-diverge" not in report.job.notes:
        return []
    title = look.paint("The ranks did not compile alike", fg="red", bold=True)
    return [title, *(look.wrapped(line, "  ", "    ") for line in words.divergence(report, look))]


def _cause(cause: Cause, report: LogReport, look: Look) -> str:
    finding = cause.finding
    colour = "red" if cause.limits or (finding and finding.effect in ("eager", "storm")) else "yellow"
    place = look.paint(look.place(cause.path, cause.line), bold=True)
    rule = look.paint(cause.code, bold=True) + (f" {finding.name}" if finding else "")
    what = look.paint(words.cost(cause, report.job, look), fg=colour)
    lines = [f"{place}: {rule}".rstrip(": "), f"  {clean(what) if not look.colour else what}"]
    if seen := words.values(cause):
        lines.append(look.wrapped(f"compiled for {cause.subject} = {seen}", "  ", "    "))
    lines.append(look.wrapped(_capitalised(finding.message if finding else words.advice(cause))))
    if finding is not None and finding.fix is not None:
        lines.append(
            look.wrapped(f"fix:  {finding.fix.message}{applicable(finding.fix, '')}", "  ", "        ")
        )
    if cause.masked:
        lines.append(
            look.wrapped("Dynamo's first reason named another check, which alone does not explain this.")
        )
    return "\n".join(lines)


def _capitalised(text: str) -> str:
    return sentence(text)[:1].upper() + sentence(text)[1:]


def _rest(report: LogReport, look: Look) -> list[str]:
    if not report.unexplained:
        return []
    lines = [look.wrapped(words.unexplained(one, look), "  ", "    ") for one in report.unexplained]
    return [look.paint("No line of the sources explains", bold=True), *lines]


def _breaks(report: LogReport, look: Look) -> list[str]:
    """The breaks that no cause stands for."""
    told = {words.place(one) for one in report.causes if one.breaks}
    rest = [one for one in report.job.breaks if (one.path, one.line) not in told]
    if not rest:
        return []
    lines = [
        look.wrapped(f"{look.place(one.path, one.line)}: {words.broken(one)}", "  ", "    ") for one in rest
    ]
    return [look.paint("Other graph breaks", bold=True), *lines]


def _unseen(report: LogReport, look: Look) -> list[str]:
    if not report.unseen:
        return []
    shown = [
        f"  {look.place(one.span.path, one.span.line)} {one.code} {clean(one.subject)}"
        for one in report.unseen[:_MOST_UNSEEN]
    ]
    more = len(report.unseen) - len(shown)
    title = "Findings of `check` that this job did not bear out"
    return [look.paint(title, bold=True), *shown, *([f"  and {more} more"] if more else [])]


def _budgets(report: LogReport, look: Look) -> list[str]:
    if not report.budgets:
        return []
    lines = []
    for one in report.budgets:
        word, colour = (
            ("over", "red")
            if one.exceeded
            else ("unproved", "yellow")
            if one.seen is None
            else ("ok", "green")
        )
        lines.append(f"  {look.paint(f'{word:<8}', fg=colour, bold=True)} {clean(words.budget(one))}")
    return [look.paint("Budgets", bold=True), *lines]


def _notes(report: LogReport, look: Look) -> list[str]:
    told = [note for note in report.job.notes if note != "masked"]
    lines = [look.wrapped(words.NOTES[note]) for note in told if note in words.NOTES]
    if not report.linted:
        lines.append(look.wrapped("No sources were read, so no line is named."))
    proof = f"proof: {words.PROOFS[report.job.proof]}"
    if report.job.proof == "text" and report.job.compiles is None:
        proof += "; compiles are not logged"
    return [*lines, look.paint(proof, dim=True)]
