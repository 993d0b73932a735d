"""Receipts for people: per probe what it cost, a verdict for each finding, and what no finding predicted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dynamo_lint.confirm.automatic import MadeProbe
from dynamo_lint.confirm.model import Cause, Receipt, Recompile, Way, relative
from dynamo_lint.confirm.run import Comparison
from dynamo_lint.confirm.shape import Difference
from dynamo_lint.confirm.verdicts import VERDICTS, ProbeReport, Verdict, explaining
from dynamo_lint.logs.model import LogReport
from dynamo_lint.logs.texts import INTENDED
from dynamo_lint.render.receipt_json import costs as numbers
from dynamo_lint.render.receipt_json import summary
from dynamo_lint.terminal import Look, clean, clipped, counted

COLOURS = {"confirmed": "red", "stale": "red", "refuted": "green", "unobserved": "yellow"}
OUTPUTS = {True: "the same", False: "NOT the same", None: "not compared"}
MOST_VALUES = 4


def render(reports: Sequence[ProbeReport], look: Look) -> str:
    """All probes, separated by blank lines."""
    return "\n".join("\n".join(_probe(report, look)) + "\n" for report in reports)


def fixed(comparisons: Sequence[Comparison], applied: int, look: Look) -> str:
    """A table of costs before and after, and what changed in the graphs."""
    title = f"With {counted(applied, 'fix', 'fixes')} applied to a copy"
    lines = [look.paint(title, bold=True)]
    for one in comparisons:
        before, after = numbers(one.before), numbers(one.after)
        lines.append(f"  {look.paint(clean(one.before.name), bold=True)}")
        if one.after.reply.error:
            lines.append(look.wrapped(f"failed after the fixes: {one.after.reply.error}", "    ", "    "))
        lines += [f"    {name:<13} {before[name]:>5} -> {after[name]}" for name in before]
        lines.append(f"    {'outputs':<13} {OUTPUTS[one.same_outputs]}")
        graphs = one.graphs or ("as before",)
        lines += [look.wrapped(f"{text}", f"    {'graphs':<13} ", " " * 18) for text in graphs]
    return "\n".join(lines) + "\n"


def compared(between: Difference, root: Path, look: Look) -> str:
    """Lines on what only one of two probes has, under a title that says whether their graphs differ."""
    first, second = map(clean, between.names)
    verdict = "differ" if between.differs else "are alike"
    lines = [look.paint(f"The graphs of {first} and {second} {verdict}", bold=True)]
    for name, pair in (("graphs", between.graphs), ("graph breaks", between.breaks)):
        lines.append(f"    {name:<13} {pair[0]:>5} -> {pair[1]}")
    for sign, breaks in (("-", between.breaks_removed), ("+", between.breaks_added)):
        for one in breaks:
            place = look.place(relative(one.path, root), one.line)
            lines.append(look.wrapped(f"{sign} {place} {one.id} {one.reason}", " " * 18, " " * 20))
    operators = [
        f"{sign} {name}" + (f" ({count} times)" if count > 1 else "")
        for sign, calls in (("-", between.operators_removed), ("+", between.operators_added))
        for name, count in calls.items()
    ]
    lines.append(look.wrapped(", ".join(operators) or "the same", f"    {'operators':<13} ", " " * 18))
    return "\n".join(lines) + "\n"


def made(built: int, unmade: Sequence[MadeProbe], look: Look) -> str:
    """For how many regions a probe was made and run, and why not for the others."""
    total = built + len(unmade)
    lines = [
        "",
        look.wrapped(f"A probe was made and run for {built} of {counted(total, 'compiled region')}."),
    ]
    for one in unmade:
        place = look.place(one.entry.path, one.entry.line)
        target = clean(one.entry.target.rpartition("::")[2])
        lines.append(look.beside("  not tested  ", f"{place} {target}: {clean('; '.join(one.gaps[:2]))}"))
    return "\n".join(lines) + "\n"


def borne_out(report: LogReport, look: Look) -> str:
    """A verdict for each finding about what a command compiled: confirmed by it, or not tested."""
    confirmed = [one for one in report.causes if one.finding is not None]
    lines = [
        look.beside("  confirmed   ", f"{look.place(one.path, one.line)} {one.code} {clean(one.subject)}")
        for one in confirmed
    ]
    lines += [
        look.beside(
            "  not tested  ",
            f"{look.place(one.span.path, one.span.line)} {one.code} {clean(one.subject)}: "
            "the run did not compile again or break a graph for it",
        )
        for one in report.unseen
    ]
    total = f"{len(confirmed)} confirmed, {len(report.unseen)} not tested by this run"
    return "\n".join([*lines, total]) + "\n"


def conclusion(reports: Sequence[ProbeReport]) -> str:
    """One line that sums up all probes."""
    counts = summary(reports)
    parts = [f"{counts[word]} {word}" for word in VERDICTS if counts[word]]
    if counts["unpredicted"]:
        parts.append(f"{counts['unpredicted']} not predicted by any finding")
    if counts["failed"]:
        parts.append(f"{counts['failed']} of {len(reports)} probes failed")
    what = ", ".join(parts) or "nothing to confirm"
    return f"{counted(len(reports), 'probe')}: {what}.\n"


def _probe(report: ProbeReport, look: Look) -> list[str]:
    place = look.place(report.path, report.line)
    lines = [f"{look.paint(clean(report.name), bold=True)}  {place}"]
    reply, receipt = report.reply, report.reply.receipt
    if reply.error:
        failed = look.paint("failed", fg="red", bold=True)
        lines.append(look.wrapped(f"failed: {reply.error}").replace("failed", failed, 1))
        lines += [f"    {clipped(clean(line), look.width - 4)}" for line in reply.detail.splitlines()]
    if report.way is not None:
        lines += [look.wrapped(text) for text in _made(report.way)]
    if receipt is None:
        return lines
    lines += [look.wrapped(text) for text in costs(report, receipt)]
    told = [one for one in report.verdicts if one.verdict != "unobserved"]
    for one in sorted(told, key=lambda one: VERDICTS.index(one.verdict)):
        lines += ["", *_verdict(one, receipt, look)]
    word = look.paint("not predicted by any finding", fg="magenta", bold=True)
    for where, what, why, hangs in surprises(report, receipt):
        about = f"{word} {_place(*where, look)} {clean(what.replace('`', ''))}"
        lines += ["", look.filled(about, "  ", " " * 14)]
        lines += [look.wrapped(text, " " * 14, " " * (16 if hangs else 14)) for text in why]
    silent = [one for one in report.verdicts if one.verdict == "unobserved"]
    lines += ["", *_unobserved(silent, look)] if silent else []
    intended = [one for one in receipt.breaks if one.id in INTENDED]
    if intended:
        places = ", ".join(_place(one.path, one.line, look) for one in intended)
        lines += ["", look.wrapped(f"The code requests a graph break at {places}.")]
    problems = [*reply.problems, *receipt.problems]
    lines += [look.wrapped(f"not observed: {problem}") for problem in problems[:5]]
    return lines


def _made(way: Way) -> Iterable[str]:
    """How a probe was made: where from, what it varies, and what is not as the program has it."""
    yield way.origin
    yield "varied by the probe: " + (", ".join(way.varied) or "nothing")
    if way.guessed:
        yield "not as seen in the program: " + clean("; ".join(way.guessed[:3]))


def costs(report: ProbeReport, receipt: Receipt) -> Iterable[str]:
    """The cost of a probe, in a few short sentences."""
    reply = report.reply
    compiles = len(receipt.compiles)
    recompiles, breaks = len(receipt.recompiles), len(receipt.breaks)
    if not compiles and not breaks:
        yield f"{counted(receipt.calls, 'call')}, and nothing was compiled in any of them"
        return
    ends = {True: "same results as eager", False: f"WRONG: {receipt.mismatch}", None: ""}
    counts = [counted(receipt.calls, "call"), counted(compiles, "graph"), counted(recompiles, "recompile")]
    counts += [counted(breaks, "graph break")] if breaks else []
    yield ", ".join(counts) + f"; {ends[receipt.matches_eager]}"
    if receipt.failure is not None:
        failure = receipt.failure
        yield (
            f"the compiled program raises {failure.type} in call {failure.call + 1}: "
            + (failure.message.strip().partition("\n")[0])
        )
    since = report.flat_since
    if since is not None:
        quiet = f"the last {since} calls compiled nothing" if since else "still compiling in the last call"
        yield quiet
    if reply.hit_limit:
        eager = (
            f"; {counted(len(reply.eager_calls), 'call')} ran no graph at all" if reply.eager_calls else ""
        )
        yield f"over the recompile limit ({reply.recompile_limit}): runs eagerly after that{eager}"


def _verdict(one: Verdict, receipt: Receipt, look: Look) -> list[str]:
    finding = one.finding
    word = look.paint(f"{one.verdict:<11}", fg=COLOURS[one.verdict], bold=True)
    place = look.place(finding.span.path, finding.span.line)
    about = f"{place} {look.paint(finding.code, bold=True)} {clean(finding.subject)}"
    lines = [look.beside(f"  {word} ", about)]
    cause = ", always together with other state" if one.joint else ""
    lines.append(look.wrapped(one.why + cause, " " * 14, " " * 14))
    found = (explaining(finding, receipt.recompiles[index], look.root) for index in one.recompiles)
    lines += [look.wrapped(text, " " * 14, " " * 16) for text in guards(found)]
    lines += [look.wrapped(receipt.breaks[index].reason, " " * 14, " " * 14) for index in one.breaks[:1]]
    return lines


def _unobserved(silent: Sequence[Verdict], look: Look) -> list[str]:
    """One line for each finding that this probe says nothing about."""
    rows = [(look.place(one.finding.span.path, one.finding.span.line), one) for one in silent]
    return [
        look.beside(
            f"  {look.paint('unobserved', fg='yellow')}  ", f"{place} {one.finding.code}: {clean(one.why)}"
        )
        for place, one in rows
    ]


def guards(causes: Iterable[Cause | None]) -> list[str]:
    """Each guard once, with the values that broke it; of several the first two."""
    known = [cause for cause in causes if cause is not None]
    actual: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cause in known:
        if cause.actual not in actual[cause.attribute, cause.inside]:
            actual[cause.attribute, cause.inside].append(cause.actual)
    first = {(cause.attribute, cause.inside): cause for cause in reversed(known)}
    lines = []
    for key, values in list(actual.items())[:2]:
        shown = ", then ".join(values[:MOST_VALUES]) + (", ..." if len(values) > MOST_VALUES else "")
        lines.append(f"guard `{first[key].guard}` met {shown}")
    return lines


def grouped(recompiles: Sequence[Recompile]) -> list[tuple[int, Recompile, Cause | None]]:
    """Recompiles that were caused alike, as one."""
    groups: dict[tuple[str, ...], list[tuple[Recompile, Cause | None]]] = defaultdict(list)
    for one in recompiles:
        cause = one.causes[0][0] if one.causes and one.causes[0] else None
        key = (one.path, one.function, cause.owner, cause.attribute) if cause else (one.path, one.function)
        groups[key].append((one, cause))
    return [(len(group), *group[0]) for group in groups.values()]


def met(cause: Cause) -> str:
    """The check that failed, and the value that it met."""
    if cause.aspect:
        return f"`{cause.attribute}{cause.inside}` was {cause.expected}, is {cause.actual} ({cause.aspect})"
    return f"guard `{cause.guard}` met {cause.actual}"


def surprises(
    report: ProbeReport, receipt: Receipt
) -> Iterator[tuple[tuple[str, int], str, tuple[str, ...], bool]]:
    """Path and line, event and reasons of what no finding predicted, and whether they are guards that failed.

    Recompiles that were caused alike are one.
    """
    missed = [receipt.recompiles[index] for index in report.unpredicted_recompiles]
    for count, one, cause in grouped(missed):
        where = (cause.path, cause.line) if cause is not None and cause.path else (one.path, one.first_line)
        joint = one.causes[0][:MOST_VALUES] if cause is not None else ()
        what = f"{counted(count, 'recompile')} of `{one.function}`, first in call {one.call + 1}"
        yield where, what, tuple(map(met, joint)) or one.reasons[:1], bool(joint)
    for index in report.unpredicted_breaks:
        broken = receipt.breaks[index]
        what = "the function runs eagerly" if broken.skips_frame else "graph break"
        ident = f" ({broken.id})" if broken.id else ""
        yield (broken.path, broken.line), f"{what} in `{broken.function}`{ident}", (broken.reason,), False


def _place(path: str, line: int, look: Look) -> str:
    return (
        look.place(relative(path, look.root), line) if Path(path).is_absolute() else f"{clean(path)}:{line}"
    )
