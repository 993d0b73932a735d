"""Findings for people to read in a terminal: in full, a line each, by file, counted by rule, or summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from dynamo_lint.calls.model import Step
from dynamo_lint.findings import SEVERITIES, Finding, Related, Span
from dynamo_lint.lintrules import LINT_RULES
from dynamo_lint.render.formats import View
from dynamo_lint.render.prose import applicable, claim
from dynamo_lint.report import Report, Since
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, char_width, clean, clipped, counted, text_width

COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}
TAB = "    "

WAYS_TO_DECLARE = (
    ("--assume-compiled", "treat every nn.Module.forward as compiled"),
    ("--assume blocks", "treat the elements of every ModuleList as compiled"),
    ("# dynamo-lint: region", "on the line above a class or function"),
    ('regions = ["package.module:Class"]', "in [tool.dynamo-lint] of pyproject.toml"),
)

_MOST_NAMED = 3
"""Files that the summary names."""


def full(report: Report, view: View) -> str:
    """For each finding the line, the way Dynamo gets there, the cost and the fix; nothing is said twice."""
    sources, look = view.sources, view.look
    blocks: list[str] = []
    costs: dict[tuple[str, str], str] = {}
    previous: Finding | None = None
    for finding in report.findings:
        lines = [_header(finding, look), look.wrapped(claim(finding.message))]
        if code := _frame(finding.span, sources, look):
            lines += ["", *code, ""]
        lines += _places(finding, previous, sources, look)
        lines += _advice(finding, costs, look)
        blocks.append("\n".join(lines) + "\n")
        previous = finding
    return "\n".join(blocks)


def concise(report: Report, view: View) -> str:
    """One line a finding, for editors and `grep`: `path:line:column: severity CODE [effect] message`."""
    look = view.look
    lines = []
    for finding in report.findings:
        place = look.place(finding.span.path, finding.span.line, finding.span.column)
        severity = look.paint(finding.severity, fg=COLOURS[finding.severity])
        lines.append(f"{place}: {severity} {_brief(finding, look)}\n")
    return "".join(lines)


def grouped(report: Report, view: View) -> str:
    """A heading for each file, then `line:column CODE [effect] message`: to read one file after the other."""
    look = view.look
    blocks = []
    for path, group in groupby(report.findings, key=lambda finding: finding.span.path):
        findings = list(group)
        places = [look.spot(path, finding.span.line, finding.span.column) for finding in findings]
        width = max(map(len, places))
        lines = [look.paint(f"{look.place(path)}:", bold=True)]
        for place, finding in zip(places, findings, strict=True):
            lines.append(f"  {place:<{width}}  {_brief(finding, look)}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def statistics(report: Report, _: View) -> str:
    """How many findings of each rule there are: one line a rule, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{count:>6}  {code}  {name}\n" for (code, name), count in ranked)


def _brief(finding: Finding, look: Look) -> str:
    effect = f" [{finding.effect}]" if finding.effect else ""
    return f"{look.paint(finding.code, bold=True)}{effect} {clean(finding.message.replace(chr(10), ' '))}"


def _header(finding: Finding, look: Look) -> str:
    place = look.place(finding.span.path, finding.span.line, finding.span.column)
    severity = look.paint(finding.severity, fg=COLOURS[finding.severity], bold=True)
    doubt = "" if finding.confidence == "certain" else f" ({finding.confidence})"
    rule = f"{look.paint(finding.code, bold=True)} {finding.name}"
    return f"{look.paint(place, bold=True)}: {severity} {rule}{doubt}"


def _places(finding: Finding, previous: Finding | None, sources: Sources, look: Look) -> list[str]:
    """A table of the lines that lead here, and of the others that matter."""
    steps = [
        step for step in finding.chain if (step.path, step.line) != (finding.span.path, finding.span.line)
    ]
    known = previous is not None and bool(steps) and _way(previous) == _way(finding)
    rows: list[Step | Related] = [*([] if known else steps), *finding.related]
    lines = ["  compiled and called as in the finding above"] if known else []
    if not rows:
        return lines
    here = finding.span.path
    cells = [
        (
            _beside(row.path, row.line, look) if row.path == here else look.brief(row.path, row.line),
            clean(row.note if isinstance(row, Step) else row.message),
            clean(sources.line(row.path, row.line)),
        )
        for row in rows
    ]
    return [*lines, *places_table(cells, look)]


def places_table(rows: Sequence[tuple[str, str, str]], look: Look, indent: str = "  ") -> list[str]:
    """Places, what happens there, and their lines of source, side by side as far as there is room."""
    # A cell that is longer than this pushes its own row only.
    first = min(max((text_width(place) for place, _, _ in rows), default=0), 36)
    second = min(max((text_width(note) for _, note, _ in rows), default=0), 20)
    lines = []
    for place, note, line in rows:
        source = line.strip().expandtabs(4)
        head = f"{indent}{place:<{first}}  {note:<{second}}  "
        room = look.width - text_width(head)
        if room >= min(20, text_width(source)):
            lines.append(f"{head}{look.paint(clipped(source, room), dim=True)}".rstrip())
        else:
            below = indent + " " * 4
            lines.append(look.beside(f"{indent}{place:<{first}}  ", note))
            lines.append(below + look.paint(clipped(source, look.width - len(below)), dim=True))
    return lines


def _beside(path: str, line: int, look: Look) -> str:
    """A line of the file that is being spoken of."""
    spot = look.spot(path, line)
    return spot if look.cell(path, line) else f"line {spot}"


def _advice(finding: Finding, costs: dict[tuple[str, str], str], look: Look) -> list[str]:
    here = f"as at {look.place(finding.span.path, finding.span.line)}"
    said = costs.setdefault((finding.code, finding.cost), here)
    cost = said if said != here and len(said) < len(finding.cost) else finding.cost
    lines = [_labelled("cost", cost, look)]
    if finding.fix is not None:
        lines.append(_labelled("fix", finding.fix.message + applicable(finding.fix, ""), look))
    return lines


def _labelled(label: str, text: str, look: Look) -> str:
    indent = " " * 8
    paragraph = look.wrapped(text, indent, indent)
    return "  " + look.paint(f"{label + ':':<6}", bold=True) + paragraph[len(indent) :]


def _way(finding: Finding) -> tuple[str, tuple[Step, ...]]:
    here = (finding.span.path, finding.span.line)
    return finding.symbol, tuple(step for step in finding.chain if (step.path, step.line) != here)


def _frame(span: Span, sources: Sources, look: Look) -> list[str]:
    """The first line of `span` and carets under the part that matters; nothing if it cannot be read."""
    source = sources.line(span.path, span.line)
    if not source.strip():
        return []
    cell = look.cell(span.path, span.line)
    gutter = f"{cell[1] if cell else span.line:>6} | "
    cells = [TAB if char == "\t" else char for char in clean(source)]
    widths = [len(TAB) if cell == TAB else char_width(cell) for cell in cells]
    start = min(span.column - 1, len(cells))
    end = min(span.end_column - 1, len(cells)) if span.end_line == span.line else len(source.rstrip())
    end = max(end, start + 1)

    room = look.width - len(gutter)
    left, right = _window(widths, start, end, room)
    shown = "".join(cells[left:right])
    before = sum(widths[left:start])
    if left:
        shown, before = "…" + shown, before + 1
    if right < len(cells):
        shown += "…"
    carets = "^" * max(1, sum(widths[start : min(end, right)]))
    blank = " " * (len(gutter) - 2) + "| "
    return [
        look.paint(gutter, dim=True) + shown.rstrip(),
        look.paint(blank, dim=True) + " " * before + look.paint(carets, fg="red", bold=True),
    ]


def _window(widths: list[int], start: int, end: int, room: int) -> tuple[int, int]:
    """The slice of a line to show: all of it if it fits, else as much as fits around `start`."""
    if sum(widths) <= room:
        return 0, len(widths)
    room -= 2  # the ellipses
    left = 0
    if sum(widths[:end]) > room:
        # A quarter of the room for what stands before, so that the line can still be recognised.
        left = start
        while left and sum(widths[left - 1 : start]) <= room // 4:
            left -= 1
    right = left
    while right < len(widths) and sum(widths[left : right + 1]) <= room:
        right += 1
    return left, right


def summary(report: Report, look: Look, assumed: bool = True) -> str:
    """Return the summary of a report, in a few lines.

    Where nothing was `assumed` to be compiled, a clean run gets a word on what was not judged.
    """
    lines = [look.paint(verdict(report), bold=True)]
    broken = any(
        error.needs is None for error in report.errors
    )  # to be mended first: it may compile the rest
    if report.files and not report.compiled.functions and not broken:
        lines += _nothing_compiled()
    elif not assumed and not report.findings and report.compiled.functions < report.files:
        lines.append(
            "Only compiled code was checked; `--assume blocks` adds blocks that users of a library compile."
        )
    if report.suppressed:
        lines.append(f"{counted(report.suppressed, 'finding')} silenced by comments.")
    if report.accepted:
        lines.append(f"{counted(report.accepted, 'finding')} accepted by the baseline.")
    if report.since is not None:
        hidden = report.change.elsewhere if report.change is not None else 0
        lines.append(_since(report.since, len(report.findings) + hidden))
    if report.change is not None:
        lines.append(
            f"{counted(report.change.elsewhere, 'finding')} not shown: "
            f"not on a line that {clean(report.change.name)} adds."
        )
    lines += [*_compiled_elsewhere(report, look), *_fixable(report)]
    hazards = sorted({finding.code for finding in report.findings if finding.code not in LINT_RULES})
    if hazards:
        lines.append(f"Run `dynamo-lint rule {' '.join(hazards)}` for the reason and examples.")
    return "".join(look.line(line) + "\n" for line in lines)


def _since(since: Since, new: int) -> str:
    """How many findings are new, and how many are not shown because they are not."""
    base = f"{clean(since.revision)} (merge base {since.commit[:7]})"
    return f"{counted(new, 'new finding')} since {base}; {since.older} older not shown."


def verdict(report: Report) -> str:
    """One sentence: how many findings in how much code, and what was given up."""
    files = counted(report.files, "file")
    if not report.files:
        return "No Python files or notebooks found."
    gaps = _gaps(report)
    if not report.findings:
        if not report.compiled.functions:
            return "; ".join([f"Nothing was checked: no compiled code found in {files}", *gaps]) + "."
        none = "No findings" if report.since is None else "No new findings"
        clean = f"{none}, but {', '.join(gaps)}" if gaps else none
        return f"{clean}: {_compiled(report)} in {files}."
    counts = Counter(finding.severity for finding in report.findings)
    severities = ", ".join(counted(counts[word], word) for word in reversed(SEVERITIES) if counts[word])
    places = len({finding.span.path for finding in report.findings})
    of = counted(places, "file") if report.outside else f"{places} of {files}"
    return "; ".join([f"Found {severities} in {of}", _compiled(report), *gaps]) + "."


_COUNTED = ("entry", "choice", "library", "program")
"""The kinds of what is unresolved that have a line of their own."""


def _gaps(report: Report) -> Sequence[str]:
    """The counts of all that was given up without a finding that says so."""
    gaps = []
    kinds = Counter(site.kind for site in report.compiled.unresolved)
    hidden = sorted({site.why for site in report.compiled.unresolved if site.kind == "library"})
    if sites := kinds["entry"]:
        were = counted(sites, "compile site was", "compile sites were")
        gaps.append(f"{were} not understood (see `dynamo-lint regions`)")
    if choices := kinds["choice"]:
        mean = counted(choices, "compile site means", "compile sites mean")
        gaps.append(f"{mean} one of several classes, with notes alone (see `dynamo-lint regions`)")
    if programs := kinds["program"]:
        were = counted(programs, "program was", "programs were")
        gaps.append(f"{were} not followed to the end (see `dynamo-lint regions`)")
    if places := kinds.total() - sum(kinds[one] for one in _COUNTED):
        were = counted(places, "place in compiled code was", "places in compiled code were")
        gaps.append(f"{were} not followed to the end (see `dynamo-lint regions`)")
    gaps += map(clean, hidden)
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
        finding.fix.applicability if finding.fix.kind == "fixable" else "suggested"
        for finding in report.findings
        if finding.fix and finding.fix.edits
    )
    safe, unsafe = kinds["safe"], kinds["unsafe"]
    suggested = counted(kinds["suggested"], "suggested edit")
    they = "it" if kinds["suggested"] == 1 else "them"
    told = f"{suggested} to judge: `--diff --suggestions` shows {they}."
    offers = [told] if kinds["suggested"] else []
    if not safe and not unsafe:
        return offers
    words = [f"{safe} fixable with `--fix`"] if safe else []
    words += [f"{unsafe} {'more' if safe else 'fixable'} with `--fix --unsafe-fixes`"] if unsafe else []
    shows = (
        "`--diff --unsafe-fixes`"
        if not safe
        else "`--diff`, with `--unsafe-fixes`,"
        if unsafe
        else "`--diff`"
    )
    return [f"{', '.join(words)}; {shows} shows what would change.", *offers]


def _compiled(report: Report) -> str:
    functions = counted(report.compiled.functions, "compiled function")
    return f"{functions} from {counted(report.compiled.entries, 'compile entry', 'compile entries')}"


def _compiled_elsewhere(report: Report, look: Look) -> Sequence[str]:
    """Where the functions stand that the entries of the reported files compile in others."""
    paths = report.compiled.elsewhere
    if not paths:
        return []
    names = [look.place(path) for path in paths[:_MOST_NAMED]]
    if len(paths) > _MOST_NAMED:
        names.append(counted(len(paths) - _MOST_NAMED, "more file"))
    *first, last = names
    entries = counted(report.compiled.leading, "compile entry", "compile entries")
    what = "it compiles" if report.compiled.leading == 1 else "they compile"
    where = f"{', '.join(first)} and {last}" if first else last
    there = counted(sum(finding.span.path in report.outside for finding in report.findings), "finding")
    return [f"{entries} here; what {what} is in {where} ({there} there)."]


def _nothing_compiled() -> Sequence[str]:
    width = max(len(way) for way, _ in WAYS_TO_DECLARE)
    return [
        "If other code compiles it, lint that code too, or declare what is compiled:",
        *(f"  {way:<{width}}  {what}" for way, what in WAYS_TO_DECLARE),
    ]
